//! The parser: atoms, and what follows them (attributes, calls, subscripts).
//!
//! Lists, dicts and comprehensions are in `display`; operators are in `parser`.

use super::ast::{Argument, ComprehensionKind, Constant, Expr, ExprKind, FStringPart};
use super::parser::{Parse, Parser};
use super::token::{StrStyle, Tok, Token};
use super::{fstring, number, string};
use crate::error::SyntaxError;

impl Parser<'_> {
    /// An atom with its attributes, calls and subscripts.
    pub(super) fn primary(&mut self) -> Parse<Expr> {
        let start = self.current().start;
        let mut expr = self.atom()?;
        loop {
            let kind = match self.peek() {
                Tok::Dot => self.attribute(expr)?,
                Tok::LeftParen => self.call(expr)?,
                Tok::LeftBracket => self.subscript(expr)?,
                _ => return Ok(expr),
            };
            self.lean()?;
            expr = self.node(kind, start);
        }
    }

    fn attribute(&mut self, value: Expr) -> Parse<ExprKind> {
        let dot = self.bump();
        if self.peek() != Tok::Name {
            let message = "expected a name after `.`";
            return Err(SyntaxError::new(message, dot.span()));
        }
        let token = self.bump();
        Ok(ExprKind::Attribute {
            value: Box::new(value),
            name: self.ident(token),
        })
    }

    fn call(&mut self, callee: Expr) -> Parse<ExprKind> {
        self.bump();
        let mut args = Vec::new();
        while self.peek() != Tok::RightParen {
            let arg = self.argument(&args)?;
            args.push(arg);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RightParen)?;
        let callee = Box::new(callee);
        Ok(ExprKind::Call { callee, args })
    }

    fn argument(&mut self, before: &[Argument]) -> Parse<Argument> {
        let start = self.current();
        match (start.tok, self.peek_second()) {
            (Tok::Star, _) => {
                self.bump();
                if before
                    .iter()
                    .any(|arg| matches!(arg, Argument::DoubleStar(_)))
                {
                    let message = "`*` argument after `**`";
                    return Err(SyntaxError::new(message, start.span()));
                }
                Ok(Argument::Star(self.expression()?))
            }
            (Tok::DoubleStar, _) => {
                self.bump();
                Ok(Argument::DoubleStar(self.expression()?))
            }
            (Tok::Name, Tok::Assign) => self.keyword_argument(before),
            _ => self.positional_argument(before),
        }
    }

    fn keyword_argument(&mut self, before: &[Argument]) -> Parse<Argument> {
        let token = self.bump();
        let name = self.ident(token);
        let repeated = before.iter().any(
            |arg| matches!(arg, Argument::Keyword { name: other, .. } if other.name == name.name),
        );
        if repeated {
            let message = format!("argument `{}` is given twice", name.name);
            return Err(SyntaxError::new(message, name.span));
        }
        self.bump();
        let value = self.expression()?;
        Ok(Argument::Keyword { name, value })
    }

    fn positional_argument(&mut self, before: &[Argument]) -> Parse<Argument> {
        let start = self.current().start;
        let expr = self.named()?;
        let after_keyword = before
            .iter()
            .any(|arg| matches!(arg, Argument::Keyword { .. } | Argument::DoubleStar(_)));
        if after_keyword {
            let message = "positional argument after a keyword argument";
            // With a `=` behind it, the argument is a keyword argument that is not a name.
            if self.peek() == Tok::Assign {
                return Err(self.unexpected());
            }
            return Err(SyntaxError::new(message, expr.span));
        }
        if self.peek() != Tok::For {
            return Ok(Argument::Positional(expr));
        }
        let expr = self.comprehension(ComprehensionKind::Generator, expr, start)?;
        if !before.is_empty() || self.peek() != Tok::RightParen {
            let message = "generator needs parentheses of its own";
            return Err(SyntaxError::new(message, expr.span));
        }
        Ok(Argument::Positional(expr))
    }

    fn subscript(&mut self, value: Expr) -> Parse<ExprKind> {
        let open = self.bump();
        if self.peek() == Tok::RightBracket {
            let span = open.start..self.current().end;
            return Err(SyntaxError::new("empty subscript", span));
        }
        let start = self.current().start;
        let first = self.index()?;
        let starred = matches!(first.kind, ExprKind::Starred(_));
        let index = if starred || self.peek() == Tok::Comma {
            let mut items = vec![first];
            while self.eat(Tok::Comma) && self.peek() != Tok::RightBracket {
                items.push(self.index()?);
            }
            self.node(ExprKind::Tuple(items), start)
        } else {
            first
        };
        self.expect(Tok::RightBracket)?;
        Ok(ExprKind::Subscript {
            value: Box::new(value),
            index: Box::new(index),
        })
    }

    /// One index: an expression, `*a`, or a slice.
    fn index(&mut self) -> Parse<Expr> {
        let start = self.current().start;
        if self.eat(Tok::Star) {
            let value = Box::new(self.expression()?);
            return Ok(self.node(ExprKind::Starred(value), start));
        }
        let bare_walrus = self.at_walrus();
        let lower = match self.peek() {
            Tok::Colon => None,
            _ => Some(self.named()?),
        };
        match lower {
            Some(lower) if self.peek() != Tok::Colon => return Ok(lower),
            Some(_) if bare_walrus => return Err(self.unexpected()),
            Some(_) | None => {}
        }
        self.bump();
        let upper = self.slice_part()?;
        let mut step = None;
        if self.eat(Tok::Colon) {
            step = self.slice_part()?;
        }
        let kind = ExprKind::Slice {
            start: lower.map(Box::new),
            stop: upper,
            step,
        };
        Ok(self.node(kind, start))
    }

    fn slice_part(&mut self) -> Parse<Option<Box<Expr>>> {
        match self.peek() {
            Tok::Colon | Tok::Comma | Tok::RightBracket => Ok(None),
            _ => Ok(Some(Box::new(self.expression()?))),
        }
    }

    fn atom(&mut self) -> Parse<Expr> {
        let token = self.current();
        let constant = match token.tok {
            Tok::Name => {
                self.bump();
                let name = self.text(token).to_owned();
                return Ok(self.node(ExprKind::Name(name), token.start));
            }
            Tok::Str(_) => return self.strings(),
            Tok::LeftParen => return self.group(),
            Tok::LeftBracket => return self.list(),
            Tok::LeftBrace => return self.dict_or_set(),
            Tok::Int => number::int(self.text(token)),
            Tok::Float => Constant::Float(number::float(self.text(token))),
            Tok::Imaginary => Constant::Imaginary(number::float(self.text(token))),
            Tok::True => Constant::Bool(true),
            Tok::False => Constant::Bool(false),
            Tok::None => Constant::None,
            Tok::Ellipsis => Constant::Ellipsis,
            _ => return Err(self.unexpected()),
        };
        self.bump();
        Ok(self.node(ExprKind::Constant(constant), token.start))
    }

    /// One or more string literals side by side, which make one.
    fn strings(&mut self) -> Parse<Expr> {
        let first = self.current();
        if let Tok::Str(style) = first.tok
            && style.bytes
        {
            return self.byte_strings();
        }
        let mut parts = Vec::new();
        while let Tok::Str(style) = self.peek() {
            let token = self.bump();
            self.string_part(token, style, &mut parts)?;
        }
        let kind = match parts.as_mut_slice() {
            [] => ExprKind::Constant(Constant::Str(String::new())),
            [FStringPart::Literal(text)] => ExprKind::Constant(Constant::Str(std::mem::take(text))),
            _ => ExprKind::FString(parts),
        };
        Ok(self.node(kind, first.start))
    }

    fn string_part(
        &mut self,
        token: Token,
        style: StrStyle,
        parts: &mut Vec<FStringPart>,
    ) -> Parse<()> {
        if style.bytes {
            return Err(mixed(token));
        }
        let contents = token.start + style.prefix + style.quotes..token.end - style.quotes;
        if style.format {
            return fstring::split(self, contents, style.raw, parts);
        }
        let text = &self.source[contents.clone()];
        if style.raw {
            fstring::push_text(parts, text);
            return Ok(());
        }
        let mut decoded = String::with_capacity(text.len());
        string::unescape(text, contents.start, &mut decoded)?;
        fstring::push_text(parts, &decoded);
        Ok(())
    }

    fn byte_strings(&mut self) -> Parse<Expr> {
        let start = self.current().start;
        let mut out = Vec::new();
        while let Tok::Str(style) = self.peek() {
            let token = self.bump();
            if !style.bytes {
                return Err(mixed(token));
            }
            let begin = token.start + style.prefix + style.quotes;
            let text = &self.source[begin..token.end - style.quotes];
            out.extend(string::bytes(text, begin, style.raw)?);
        }
        Ok(self.node(ExprKind::Constant(Constant::Bytes(out)), start))
    }
}

fn mixed(token: Token) -> SyntaxError {
    SyntaxError::new("bytes and text side by side", token.span())
}

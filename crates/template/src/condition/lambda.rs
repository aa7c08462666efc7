//! The parser: lambdas and their parameters.
//!
//! It does not bind the parameters; `names` does.

use super::ast::{Expr, ExprKind, Ident, Param, ParamKind};
use super::parser::{Parse, Parser};
use super::token::{Tok, Token};
use crate::error::SyntaxError;

impl Parser<'_> {
    /// `lambda params: body`; the position is at `lambda`.
    pub(super) fn lambda(&mut self) -> Parse<Expr> {
        let start = self.bump();
        let mut list = Params {
            found: Vec::new(),
            kind: ParamKind::Standard,
            slash: false,
        };
        while self.peek() != Tok::Colon {
            self.param(&mut list)?;
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        if self.peek() != Tok::Colon {
            if self.peek().stops() {
                return Err(SyntaxError::new("`lambda` without `:`", start.span()));
            }
            return Err(self.unexpected());
        }
        self.bump();
        let body = Box::new(self.expression()?);
        let params = list.found;
        Ok(self.node(ExprKind::Lambda { params, body }, start.start))
    }

    /// One parameter, or one of the marks `/` and `*`.
    fn param(&mut self, list: &mut Params) -> Parse<()> {
        let token = self.current();
        match token.tok {
            Tok::Slash => {
                self.bump();
                list.slash(token)
            }
            Tok::Star => {
                self.bump();
                self.star(token, list)
            }
            Tok::DoubleStar => {
                self.bump();
                let name = self.param_name()?;
                list.add(name, ParamKind::VarKeywords, None)?;
                list.kind = ParamKind::VarKeywords;
                Ok(())
            }
            _ => {
                let name = self.param_name()?;
                let mut default = None;
                if self.eat(Tok::Assign) {
                    default = Some(self.expression()?);
                }
                list.add(name, list.kind, default)
            }
        }
    }

    /// What follows `*`: a name for the rest, or nothing but a keyword-only parameter.
    fn star(&mut self, star: Token, list: &mut Params) -> Parse<()> {
        if list.kind != ParamKind::Standard {
            return Err(SyntaxError::new("unexpected `*`", star.span()));
        }
        list.kind = ParamKind::KeywordOnly;
        if self.peek() == Tok::Name {
            let name = self.param_name()?;
            return list.add(name, ParamKind::VarArgs, None);
        }
        if self.peek() == Tok::Comma && self.peek_second() == Tok::Name {
            return Ok(());
        }
        let message = "expected a named parameter after `*`";
        Err(SyntaxError::new(message, star.span()))
    }

    fn param_name(&mut self) -> Parse<Ident> {
        let token = self.expect(Tok::Name)?;
        Ok(self.ident(token))
    }
}

/// The parameters so far, and how the next one takes arguments.
struct Params {
    found: Vec<Param>,
    kind: ParamKind,
    slash: bool,
}

impl Params {
    fn add(&mut self, name: Ident, kind: ParamKind, default: Option<Expr>) -> Parse<()> {
        if self.kind == ParamKind::VarKeywords {
            let message = "parameter after `**`";
            return Err(SyntaxError::new(message, name.span));
        }
        if self.found.iter().any(|param| param.name.name == name.name) {
            let message = format!("parameter `{}` is given twice", name.name);
            return Err(SyntaxError::new(message, name.span));
        }
        let needs_default = self.found.last().is_some_and(|last| last.default.is_some());
        if kind == ParamKind::Standard && default.is_none() && needs_default {
            let message = "parameter without a default after one with a default";
            return Err(SyntaxError::new(message, name.span));
        }
        self.found.push(Param {
            name,
            kind,
            default,
        });
        Ok(())
    }

    /// `/` makes the parameters before it positional-only.
    fn slash(&mut self, token: Token) -> Parse<()> {
        if self.slash || self.found.is_empty() || self.kind != ParamKind::Standard {
            return Err(SyntaxError::new("unexpected `/`", token.span()));
        }
        self.slash = true;
        for param in &mut self.found {
            param.kind = ParamKind::PositionalOnly;
        }
        Ok(())
    }
}

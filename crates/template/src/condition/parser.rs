//! The parser: operators, by precedence.
//!
//! Atoms and calls are in `atom`, lists and dicts in `display`, lambdas in `lambda`, and the words
//! for what cannot be parsed in `complain`. The parser takes what Python's `eval` takes, without
//! `yield` and `await`. It does not resolve names; the rules of Python about `:=` in
//! comprehensions need scopes and are checked in `names`.

use std::ops::Range;

use super::ast::{BinaryOp, BoolOp, CompareOp, Expr, ExprKind, Ident, UnaryOp};
use super::lexer;
use super::token::{Tok, Token};
use crate::error::SyntaxError;

/// How deep expressions may nest, so that recursion never meets the end of the stack.
const MAX_DEPTH: usize = 60;

/// How many operators may lean to the left, as each makes the tree higher without nesting.
const MAX_CHAIN: usize = 200;

pub(super) type Parse<T> = Result<T, SyntaxError>;

pub(super) struct Parser<'s> {
    pub(super) source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    chain: usize,
}

/// Parses `source[range]` as a whole.
pub(super) fn parse(source: &str, range: Range<usize>) -> Parse<Expr> {
    let tokens = lexer::tokenize(source, range)?;
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        depth: 0,
        chain: 0,
    };
    let expr = parser.top()?;
    parser.end()?;
    Ok(expr)
}

impl Parser<'_> {
    /// Parses an expression inside an f-string, which stands in parentheses so to say.
    pub(super) fn nested(&mut self, range: Range<usize>) -> Parse<Expr> {
        let mut inner = Parser {
            source: self.source,
            tokens: lexer::tokenize(self.source, range)?,
            at: 0,
            depth: self.depth,
            chain: self.chain,
        };
        let expr = inner.deeper(Parser::group_contents)?;
        inner.end()?;
        self.chain = inner.chain;
        Ok(expr)
    }

    pub(super) fn peek(&self) -> Tok {
        self.tokens[self.at].tok
    }

    pub(super) fn peek_second(&self) -> Tok {
        self.tokens.get(self.at + 1).map_or(Tok::End, |t| t.tok)
    }

    pub(super) fn current(&self) -> Token {
        self.tokens[self.at]
    }

    /// Takes the current token; `End` is never left behind.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.tok != Tok::End {
            self.at += 1;
        }
        token
    }

    pub(super) fn eat(&mut self, tok: Tok) -> bool {
        let found = self.peek() == tok;
        if found {
            self.at += 1;
        }
        found
    }

    pub(super) fn expect(&mut self, tok: Tok) -> Parse<Token> {
        if self.peek() == tok {
            Ok(self.bump())
        } else {
            Err(self.unexpected())
        }
    }

    pub(super) fn text(&self, token: Token) -> &str {
        &self.source[token.span()]
    }

    pub(super) fn ident(&self, token: Token) -> Ident {
        Ident {
            name: self.text(token).to_owned(),
            span: token.span(),
        }
    }

    /// The token before the current one.
    pub(super) fn before(&self) -> Option<Token> {
        self.at.checked_sub(1).map(|last| self.tokens[last])
    }

    /// The end of the last token that was taken.
    pub(super) fn last_end(&self) -> usize {
        match self.before() {
            Some(last) => last.end,
            None => self.tokens[0].start,
        }
    }

    pub(super) fn node(&self, kind: ExprKind, start: usize) -> Expr {
        let span = start..self.last_end();
        Expr { kind, span }
    }

    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(SyntaxError::new(message, self.current().span()));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator that puts the expression so far one level down.
    pub(super) fn lean(&mut self) -> Parse<()> {
        self.chain += 1;
        if self.chain > MAX_CHAIN {
            let message = format!("more than {MAX_CHAIN} operators");
            return Err(SyntaxError::new(message, self.current().span()));
        }
        Ok(())
    }

    /// One expression, or several with commas between them, which make a tuple.
    fn top(&mut self) -> Parse<Expr> {
        let start = self.current().start;
        let first = self.expression()?;
        if self.peek() != Tok::Comma {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.eat(Tok::Comma) && self.peek() != Tok::End {
            items.push(self.expression()?);
        }
        Ok(self.node(ExprKind::Tuple(items), start))
    }

    fn end(&self) -> Parse<()> {
        match self.peek() {
            Tok::End => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    /// `a if b else c`, a lambda, or anything that binds tighter.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.deeper(Self::conditional)
    }

    fn conditional(&mut self) -> Parse<Expr> {
        if self.peek() == Tok::Lambda {
            return self.lambda();
        }
        let start = self.current().start;
        let then = self.disjunction()?;
        let keyword = self.current();
        if !self.eat(Tok::If) {
            return Ok(then);
        }
        let test = self.disjunction()?;
        if self.peek().stops() {
            let error = SyntaxError::new("`if` without `else`", keyword.span());
            return Err(error.with_hint("write `a if test else b`"));
        }
        self.expect(Tok::Else)?;
        let otherwise = self.expression()?;
        let kind = ExprKind::Conditional {
            test: Box::new(test),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        Ok(self.node(kind, start))
    }

    pub(super) fn disjunction(&mut self) -> Parse<Expr> {
        self.bool_chain(Tok::Or, BoolOp::Or, Self::conjunction)
    }

    fn conjunction(&mut self) -> Parse<Expr> {
        self.bool_chain(Tok::And, BoolOp::And, Self::inversion)
    }

    fn bool_chain(
        &mut self,
        tok: Tok,
        op: BoolOp,
        next: fn(&mut Self) -> Parse<Expr>,
    ) -> Parse<Expr> {
        let start = self.current().start;
        let first = next(self)?;
        if self.peek() != tok {
            return Ok(first);
        }
        let mut values = vec![first];
        while self.eat(tok) {
            values.push(next(self)?);
        }
        Ok(self.node(ExprKind::Bool { op, values }, start))
    }

    fn inversion(&mut self) -> Parse<Expr> {
        if self.peek() != Tok::Not {
            return self.comparison();
        }
        let start = self.bump().start;
        let operand = self.deeper(Self::inversion)?;
        Ok(self.unary(UnaryOp::Not, operand, start))
    }

    fn unary(&self, op: UnaryOp, operand: Expr, start: usize) -> Expr {
        let operand = Box::new(operand);
        self.node(ExprKind::Unary { op, operand }, start)
    }

    fn comparison(&mut self) -> Parse<Expr> {
        let start = self.current().start;
        let left = self.bit_or()?;
        let mut rest = Vec::new();
        while let Some(op) = self.compare_op() {
            rest.push((op, self.bit_or()?));
        }
        if rest.is_empty() {
            return Ok(left);
        }
        let left = Box::new(left);
        Ok(self.node(ExprKind::Compare { left, rest }, start))
    }

    fn compare_op(&mut self) -> Option<CompareOp> {
        let (op, width) = match self.peek() {
            Tok::Equal => (CompareOp::Equal, 1),
            Tok::NotEqual => (CompareOp::NotEqual, 1),
            Tok::Less => (CompareOp::Less, 1),
            Tok::LessEqual => (CompareOp::LessEqual, 1),
            Tok::Greater => (CompareOp::Greater, 1),
            Tok::GreaterEqual => (CompareOp::GreaterEqual, 1),
            Tok::In => (CompareOp::In, 1),
            Tok::Is if self.peek_second() == Tok::Not => (CompareOp::IsNot, 2),
            Tok::Is => (CompareOp::Is, 1),
            Tok::Not if self.peek_second() == Tok::In => (CompareOp::NotIn, 2),
            _ => return None,
        };
        self.at += width;
        Some(op)
    }

    /// What may stand beside a comparison operator, or behind a star.
    pub(super) fn bit_or(&mut self) -> Parse<Expr> {
        self.binary(0)
    }

    /// Binary operators that bind at least as tight as `floor`.
    fn binary(&mut self, floor: u8) -> Parse<Expr> {
        let start = self.current().start;
        let mut left = self.factor()?;
        while let Some((op, strength)) = binary_op(self.peek())
            && strength >= floor
        {
            self.bump();
            self.lean()?;
            let right = Box::new(self.binary(strength + 1)?);
            let kind = ExprKind::Binary {
                op,
                left: Box::new(left),
                right,
            };
            left = self.node(kind, start);
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parse<Expr> {
        let op = match self.peek() {
            Tok::Minus => UnaryOp::Negate,
            Tok::Plus => UnaryOp::Plus,
            Tok::Tilde => UnaryOp::Invert,
            _ => return self.power(),
        };
        let start = self.bump().start;
        let operand = self.deeper(Self::factor)?;
        Ok(self.unary(op, operand, start))
    }

    /// `a ** b`, which binds tighter than a sign on its left but not on its right.
    fn power(&mut self) -> Parse<Expr> {
        let start = self.current().start;
        let left = self.primary()?;
        if !self.eat(Tok::DoubleStar) {
            return Ok(left);
        }
        let right = self.deeper(Self::factor)?;
        let kind = ExprKind::Binary {
            op: BinaryOp::Power,
            left: Box::new(left),
            right: Box::new(right),
        };
        Ok(self.node(kind, start))
    }
}

/// The operator of a token, and how tight it binds.
fn binary_op(tok: Tok) -> Option<(BinaryOp, u8)> {
    Some(match tok {
        Tok::Pipe => (BinaryOp::BitOr, 0),
        Tok::Caret => (BinaryOp::BitXor, 1),
        Tok::Ampersand => (BinaryOp::BitAnd, 2),
        Tok::ShiftLeft => (BinaryOp::ShiftLeft, 3),
        Tok::ShiftRight => (BinaryOp::ShiftRight, 3),
        Tok::Plus => (BinaryOp::Add, 4),
        Tok::Minus => (BinaryOp::Subtract, 4),
        Tok::Star => (BinaryOp::Multiply, 5),
        Tok::Slash => (BinaryOp::Divide, 5),
        Tok::DoubleSlash => (BinaryOp::FloorDivide, 5),
        Tok::Percent => (BinaryOp::Modulo, 5),
        Tok::At => (BinaryOp::MatrixMultiply, 5),
        _ => return None,
    })
}

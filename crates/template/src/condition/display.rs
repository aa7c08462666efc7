//! The parser: parentheses, lists, sets, dicts and comprehensions.
//!
//! Targets of comprehensions are names and tuples of names; Python also takes `for x.y in z`,
//! which makes no sense in a condition and is refused.

use super::ast::{Clause, ComprehensionKind, DictItem, Expr, ExprKind, Ident, Target};
use super::parser::{Parse, Parser};
use super::token::Tok;
use crate::error::SyntaxError;

impl Parser<'_> {
    /// True before `name :=`; in parentheses it is an expression like any other.
    pub(super) fn at_walrus(&self) -> bool {
        self.peek() == Tok::Name && self.peek_second() == Tok::Walrus
    }

    /// `name := value`, or an expression.
    pub(super) fn named(&mut self) -> Parse<Expr> {
        if !self.at_walrus() {
            return self.expression();
        }
        let token = self.bump();
        self.bump();
        let target = self.ident(token);
        let value = Box::new(self.expression()?);
        Ok(self.node(ExprKind::Walrus { target, value }, token.start))
    }

    /// An element of a list, tuple or set.
    fn element(&mut self) -> Parse<Expr> {
        let star = self.current();
        if !self.eat(Tok::Star) {
            return self.named();
        }
        let value = Box::new(self.bit_or()?);
        Ok(self.node(ExprKind::Starred(value), star.start))
    }

    pub(super) fn group(&mut self) -> Parse<Expr> {
        let open = self.bump();
        if self.eat(Tok::RightParen) {
            return Ok(self.node(ExprKind::Tuple(Vec::new()), open.start));
        }
        let mut expr = self.group_contents()?;
        self.expect(Tok::RightParen)?;
        let whole = matches!(
            expr.kind,
            ExprKind::Tuple(_) | ExprKind::Comprehension { .. }
        );
        // The parentheses of a tuple or generator belong to it, if they are not a second pair.
        if whole && expr.span.start >= open.end {
            expr.span = open.start..self.last_end();
        }
        Ok(expr)
    }

    /// What stands in parentheses: an expression, a tuple or a generator.
    pub(super) fn group_contents(&mut self) -> Parse<Expr> {
        let start = self.current().start;
        let first = self.element()?;
        match self.peek() {
            Tok::For => self.comprehension(ComprehensionKind::Generator, first, start),
            Tok::Comma => {
                let items = self.elements_after(first)?;
                Ok(self.node(ExprKind::Tuple(items), start))
            }
            _ if matches!(first.kind, ExprKind::Starred(_)) => Err(misplaced_star(&first)),
            _ => Ok(first),
        }
    }

    /// The elements behind the first one, up to the end of the brackets.
    fn elements_after(&mut self, first: Expr) -> Parse<Vec<Expr>> {
        let mut items = vec![first];
        while self.eat(Tok::Comma) && !self.peek().stops() {
            items.push(self.element()?);
        }
        Ok(items)
    }

    pub(super) fn list(&mut self) -> Parse<Expr> {
        let open = self.bump().start;
        if self.eat(Tok::RightBracket) {
            return Ok(self.node(ExprKind::List(Vec::new()), open));
        }
        let first = self.element()?;
        if self.peek() == Tok::For {
            let mut expr = self.comprehension(ComprehensionKind::List, first, open)?;
            self.expect(Tok::RightBracket)?;
            expr.span.end = self.last_end();
            return Ok(expr);
        }
        let items = self.elements_after(first)?;
        self.expect(Tok::RightBracket)?;
        Ok(self.node(ExprKind::List(items), open))
    }

    pub(super) fn dict_or_set(&mut self) -> Parse<Expr> {
        let open = self.bump().start;
        let inner = self.current();
        // Python would build a set that holds a set or dict, and then fail, as neither can be
        // in one. Who writes `{{ x }} == 1` means a template.
        if inner.tok == Tok::LeftBrace && inner.start == open + 1 {
            let message = "`{{` is template syntax";
            return Err(SyntaxError::new(message, open..inner.end));
        }
        if self.eat(Tok::RightBrace) {
            return Ok(self.node(ExprKind::Dict(Vec::new()), open));
        }
        if self.peek() == Tok::DoubleStar {
            let first = self.dict_item()?;
            return self.dict(first, open);
        }
        let bare_walrus = self.at_walrus();
        let first = self.element()?;
        let is_key = !bare_walrus && !matches!(first.kind, ExprKind::Starred(_));
        if is_key && self.peek() == Tok::Colon {
            self.bump();
            let value = self.expression()?;
            return self.dict_after(first, value, open);
        }
        if self.peek() == Tok::For {
            let mut expr = self.comprehension(ComprehensionKind::Set, first, open)?;
            self.expect(Tok::RightBrace)?;
            expr.span.end = self.last_end();
            return Ok(expr);
        }
        let items = self.elements_after(first)?;
        self.expect(Tok::RightBrace)?;
        Ok(self.node(ExprKind::Set(items), open))
    }

    fn dict_item(&mut self) -> Parse<DictItem> {
        if self.eat(Tok::DoubleStar) {
            return Ok(DictItem::Spread(self.bit_or()?));
        }
        let key = self.expression()?;
        self.expect(Tok::Colon)?;
        Ok(DictItem::Pair(key, self.expression()?))
    }

    fn dict_after(&mut self, key: Expr, value: Expr, open: usize) -> Parse<Expr> {
        if self.peek() != Tok::For {
            return self.dict(DictItem::Pair(key, value), open);
        }
        let clauses = self.clauses()?;
        self.expect(Tok::RightBrace)?;
        let kind = ExprKind::DictComprehension {
            key: Box::new(key),
            value: Box::new(value),
            clauses,
        };
        Ok(self.node(kind, open))
    }

    fn dict(&mut self, first: DictItem, open: usize) -> Parse<Expr> {
        let mut items = vec![first];
        while self.eat(Tok::Comma) && self.peek() != Tok::RightBrace {
            items.push(self.dict_item()?);
        }
        self.expect(Tok::RightBrace)?;
        Ok(self.node(ExprKind::Dict(items), open))
    }

    /// The `for` clauses behind an element; the position is at the first `for`.
    pub(super) fn comprehension(
        &mut self,
        kind: ComprehensionKind,
        element: Expr,
        start: usize,
    ) -> Parse<Expr> {
        if matches!(element.kind, ExprKind::Starred(_)) {
            return Err(misplaced_star(&element));
        }
        let clauses = self.clauses()?;
        let kind = ExprKind::Comprehension {
            kind,
            element: Box::new(element),
            clauses,
        };
        Ok(self.node(kind, start))
    }

    fn clauses(&mut self) -> Parse<Vec<Clause>> {
        let mut clauses = Vec::with_capacity(1);
        while self.eat(Tok::For) {
            let target = self.targets()?;
            self.expect(Tok::In)?;
            // A conditional is not taken here, as its `if` is the filter of the clause.
            let iter = self.deeper(Self::disjunction)?;
            let mut conditions = Vec::new();
            while self.eat(Tok::If) {
                conditions.push(self.deeper(Self::disjunction)?);
            }
            clauses.push(Clause {
                target,
                iter,
                conditions,
            });
        }
        Ok(clauses)
    }

    /// The targets between `for` and `in`.
    fn targets(&mut self) -> Parse<Target> {
        let start = self.current();
        let first = self.target_element()?;
        if self.peek() != Tok::Comma {
            if matches!(first.kind, ExprKind::Starred(_)) {
                return Err(misplaced_star(&first));
            }
            return to_target(first);
        }
        let mut items = vec![first];
        while self.eat(Tok::Comma) && self.peek() != Tok::In {
            items.push(self.target_element()?);
        }
        to_target(self.node(ExprKind::Tuple(items), start.start))
    }

    fn target_element(&mut self) -> Parse<Expr> {
        let star = self.current();
        if !self.eat(Tok::Star) {
            return self.deeper(Self::primary);
        }
        let value = Box::new(self.deeper(Self::primary)?);
        Ok(self.node(ExprKind::Starred(value), star.start))
    }
}

/// Turns an expression into what it binds when it is assigned to.
fn to_target(expr: Expr) -> Parse<Target> {
    match expr.kind {
        ExprKind::Name(name) => Ok(Target::Name(Ident {
            name,
            span: expr.span,
        })),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            let stars = items
                .iter()
                .filter(|item| matches!(item.kind, ExprKind::Starred(_)));
            if stars.count() > 1 {
                let message = "more than one starred name";
                return Err(SyntaxError::new(message, expr.span));
            }
            let targets = items.into_iter().map(to_target);
            Ok(Target::Tuple(targets.collect::<Parse<_>>()?))
        }
        ExprKind::Starred(value) => Ok(Target::Starred(Box::new(to_target(*value)?))),
        _ => {
            let message = "only names can stand between `for` and `in`";
            Err(SyntaxError::new(message, expr.span))
        }
    }
}

fn misplaced_star(expr: &Expr) -> SyntaxError {
    let message = "`*` outside a list, tuple, set or call";
    SyntaxError::new(message, expr.span.clone())
}

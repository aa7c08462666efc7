//! Free names of a template, and whether each use is guarded.
//!
//! The walk follows the order of evaluation, because the test of an `if` guards its branches. It models the
//! scopes of minijinja: `for` and `with` have their own, other blocks do not. It ignores values, so `{% if x
//! %}` guards `x` in both branches.

use std::ops::Range;

use minijinja::machinery::{Span, ast};

use super::builtins;
use crate::error::SyntaxError;
use crate::names::{NameUse, in_text_order};

/// Returns the free names of a template in text order, and checks its filters and tests.
pub(super) fn names(text: &str, root: &ast::Stmt<'_>) -> Result<Vec<NameUse>, SyntaxError> {
    let mut walk = Walk {
        text,
        uses: Vec::new(),
        bound: Vec::new(),
        safe: Vec::new(),
        error: None,
    };
    walk.stmt(root);
    match walk.error {
        Some(error) => Err(error),
        None => Ok(in_text_order(walk.uses)),
    }
}

type Attribute = Option<(String, Range<usize>)>;

/// How the value of an expression is used; decides whether a missing value matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The value itself is used.
    Value,
    /// The value is written into the text.
    Printed,
    /// Only its truth counts, or a default exists.
    Guarded,
}

struct Walk<'t> {
    text: &'t str,
    uses: Vec<NameUse>,
    /// Names that the template binds itself.
    bound: Vec<&'t str>,
    /// Names mentioned in an enclosing test.
    safe: Vec<&'t str>,
    /// The first error. The walk continues after it, which keeps the stack frames small.
    error: Option<SyntaxError>,
}

impl<'t> Walk<'t> {
    fn stmt(&mut self, stmt: &ast::Stmt<'t>) {
        match stmt {
            ast::Stmt::Template(template) => self.body(&template.children),
            ast::Stmt::EmitExpr(emit) => self.expr(&emit.expr, Use::Printed),
            ast::Stmt::EmitRaw(_) => {}
            ast::Stmt::ForLoop(stmt) => self.for_loop(stmt),
            ast::Stmt::IfCond(stmt) => self.if_cond(stmt),
            ast::Stmt::WithBlock(stmt) => self.with(stmt),
            ast::Stmt::Set(stmt) => {
                self.value(&stmt.expr);
                self.bind(&stmt.target);
            }
            ast::Stmt::SetBlock(stmt) => {
                self.values(&stmt.filter);
                self.body(&stmt.body);
                self.bind(&stmt.target);
            }
            ast::Stmt::AutoEscape(stmt) => {
                self.value(&stmt.enabled);
                self.body(&stmt.body);
            }
            ast::Stmt::FilterBlock(stmt) => {
                self.value(&stmt.filter);
                self.body(&stmt.body);
            }
            ast::Stmt::Do(stmt) => self.call(&stmt.call),
            ast::Stmt::Macro(stmt) => self.macro_definition(stmt),
            ast::Stmt::CallBlock(stmt) => {
                let span = stmt.call.span();
                let error = SyntaxError::new("Jinja's `{% call %}` is not supported", range(span));
                self.check(Err(
                    error.with_hint("pass the text to the macro as an argument")
                ));
            }
        }
    }

    fn body(&mut self, body: &[ast::Stmt<'t>]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn for_loop(&mut self, stmt: &ast::ForLoop<'t>) {
        self.value(&stmt.iter);
        let outer = self.bound.len();
        self.bind(&stmt.target);
        self.bound.push("loop");
        if let Some(filter) = &stmt.filter_expr {
            self.expr(filter, Use::Guarded);
        }
        self.body(&stmt.body);
        self.bound.truncate(outer);
        self.body(&stmt.else_body);
    }

    /// A name that one branch sets is unknown in the other, and counts as set after both.
    fn if_cond(&mut self, stmt: &ast::IfCond<'t>) {
        let safe = self.test(&stmt.expr);
        let outer = self.bound.len();
        self.body(&stmt.true_body);
        let set = self.bound.split_off(outer);
        self.body(&stmt.false_body);
        self.bound.extend(set);
        self.safe.truncate(safe);
    }

    /// A macro can use its own name (for recursion) and its parameters.
    fn macro_definition(&mut self, stmt: &ast::Macro<'t>) {
        self.bound.push(stmt.name);
        let outer = self.bound.len();
        self.values(&stmt.defaults);
        stmt.args.iter().for_each(|arg| self.bind(arg));
        self.bound.extend(["varargs", "kwargs"]);
        self.body(&stmt.body);
        self.bound.truncate(outer);
    }

    fn with(&mut self, stmt: &ast::WithBlock<'t>) {
        let outer = self.bound.len();
        for (target, expr) in &stmt.assignments {
            self.value(expr);
            self.bind(target);
        }
        self.body(&stmt.body);
        self.bound.truncate(outer);
    }

    /// Binds the target of an assignment; for `{% set ns.x = 1 %}`, checks that the template has bound `ns`.
    fn bind(&mut self, target: &ast::Expr<'t>) {
        match target {
            ast::Expr::Var(var) => self.bound.push(var.id),
            ast::Expr::List(list) => list.items.iter().for_each(|item| self.bind(item)),
            ast::Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.bind(item)),
            ast::Expr::GetAttr(attr) => match &attr.expr {
                ast::Expr::Var(var) if self.bound.contains(&var.id) => {}
                _ => {
                    let message = "only an attribute of a `namespace()` can be set";
                    let error = SyntaxError::new(message, range(attr.span()));
                    let hint =
                        "write `{% set ns = namespace(x=0) %}` first, then `{% set ns.x = 1 %}`";
                    self.check(Err(error.with_hint(hint)));
                }
            },
            other => self.value(other),
        }
    }

    /// Walks a test and marks the names in it as safe; returns the length to truncate `safe` to afterwards.
    fn test(&mut self, test: &ast::Expr<'t>) -> usize {
        let safe = self.safe.len();
        let first = self.uses.len();
        self.expr(test, Use::Guarded);
        let source = self.text;
        let mentioned = self.uses[first..]
            .iter()
            .map(|name| &source[name.span.clone()]);
        self.safe.extend(mentioned);
        safe
    }

    fn value(&mut self, expr: &ast::Expr<'t>) {
        self.expr(expr, Use::Value);
    }

    fn values<'a>(&mut self, exprs: impl IntoIterator<Item = &'a ast::Expr<'t>>)
    where
        't: 'a,
    {
        for expr in exprs {
            self.value(expr);
        }
    }

    fn expr(&mut self, expr: &ast::Expr<'t>, usage: Use) {
        match expr {
            ast::Expr::Var(var) => self.read(var.id, var.span(), usage, None),
            ast::Expr::Const(_) => {}
            ast::Expr::Slice(slice) => {
                self.expr(&slice.expr, usage);
                self.values(
                    [&slice.start, &slice.stop, &slice.step]
                        .into_iter()
                        .flatten(),
                );
            }
            ast::Expr::UnaryOp(op) => match op.op {
                ast::UnaryOpKind::Not => self.expr(&op.expr, Use::Guarded),
                ast::UnaryOpKind::Neg => self.value(&op.expr),
            },
            ast::Expr::BinOp(op) => self.binary(op, usage),
            ast::Expr::Compare(compare) => {
                self.value(&compare.expr);
                self.values(compare.ops.iter().map(|op| &op.expr));
            }
            ast::Expr::IfExpr(conditional) => {
                let safe = self.test(&conditional.test_expr);
                self.expr(&conditional.true_expr, usage);
                if let Some(otherwise) = &conditional.false_expr {
                    self.expr(otherwise, usage);
                }
                self.safe.truncate(safe);
            }
            ast::Expr::Filter(filter) => self.filter(filter, usage),
            ast::Expr::Test(test) => self.is_test(test),
            ast::Expr::GetAttr(attr) => {
                self.member(&attr.expr, usage, || Some(attribute(attr)));
            }
            ast::Expr::GetItem(item) => {
                self.member(&item.expr, usage, || literal_key(&item.subscript_expr));
                self.value(&item.subscript_expr);
            }
            ast::Expr::Call(call) => self.call(call),
            ast::Expr::List(list) => self.values(&list.items),
            ast::Expr::Tuple(tuple) => self.values(&tuple.items),
            ast::Expr::Map(map) => {
                self.values(&map.keys);
                self.values(&map.values);
            }
        }
    }

    fn read(&mut self, name: &str, span: Span, usage: Use, attribute: Attribute) {
        if self.bound.contains(&name) {
            return;
        }
        self.uses.push(NameUse {
            name: name.to_owned(),
            span: span.start_offset as usize..span.end_offset as usize,
            guarded: usage == Use::Guarded || self.safe.contains(&name),
            printed: usage == Use::Printed,
            attribute,
        });
    }

    /// Walks the owner of an attribute or key; a default after the path covers the owner too.
    fn member(&mut self, expr: &ast::Expr<'t>, usage: Use, attribute: impl FnOnce() -> Attribute) {
        match expr {
            ast::Expr::Var(var) => self.read(var.id, var.span(), usage, attribute()),
            _ => self.expr(expr, usage),
        }
    }

    /// In `a and b`, only the truth of `a` counts, and `a` has been tested before `b` is read.
    fn binary(&mut self, op: &ast::BinOp<'t>, usage: Use) {
        if matches!(op.op, ast::BinOpKind::Concat) {
            self.expr(&op.left, usage);
            return self.expr(&op.right, usage);
        }
        if !matches!(op.op, ast::BinOpKind::ScAnd | ast::BinOpKind::ScOr) {
            return self.values([&op.left, &op.right]);
        }
        let safe = self.test(&op.left);
        self.expr(&op.right, usage);
        self.safe.truncate(safe);
    }

    fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'t>>, usage: Use) {
        if let Some(expr) = &filter.expr {
            let usage = match (filter.name, usage) {
                ("default" | "d", _) => Use::Guarded,
                ("tojson" | "pprint", _) | (_, Use::Value | Use::Guarded) => Use::Value,
                (_, Use::Printed) => Use::Printed,
            };
            self.expr(expr, usage);
        }
        let start = filter.span().start_offset as usize;
        self.check(builtins::check_filter(filter.name, start));
        self.args(&filter.args);
    }

    fn is_test(&mut self, test: &ast::Spanned<ast::Test<'t>>) {
        let usage = match test.name {
            "defined" | "undefined" => Use::Guarded,
            _ => Use::Value,
        };
        self.expr(&test.expr, usage);
        let start = test.span().start_offset as usize;
        self.check(builtins::check_test(test.name, start));
        self.args(&test.args);
    }

    fn call(&mut self, call: &ast::Call<'t>) {
        match &call.expr {
            ast::Expr::Var(var) if builtins::is_function(var.id) => {}
            // A method name is not an attribute of the data.
            ast::Expr::GetAttr(attr) => self.value(&attr.expr),
            callee => self.value(callee),
        }
        self.args(&call.args);
    }

    /// Records the error of a check, if it is the first.
    fn check(&mut self, outcome: Result<(), SyntaxError>) {
        if let Err(error) = outcome {
            self.error.get_or_insert(error);
        }
    }

    fn args(&mut self, args: &[ast::CallArg<'t>]) {
        self.values(args.iter().map(|arg| match arg {
            ast::CallArg::Pos(expr)
            | ast::CallArg::Kwarg(_, expr)
            | ast::CallArg::PosSplat(expr)
            | ast::CallArg::KwargSplat(expr) => expr,
        }));
    }
}

fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

/// Returns the attribute of `x.key`, whose name ends where the whole expression ends.
fn attribute(attr: &ast::Spanned<ast::GetAttr<'_>>) -> (String, Range<usize>) {
    let end = attr.span().end_offset as usize;
    let span = end.saturating_sub(attr.name.len())..end;
    (attr.name.to_owned(), span)
}

/// Returns the key of `x["key"]`, with the span of the key without its quotes if possible.
fn literal_key(index: &ast::Expr<'_>) -> Attribute {
    let ast::Expr::Const(constant) = index else {
        return None;
    };
    let key = constant.value.as_str()?;
    let span = constant.span();
    let mut range = span.start_offset as usize..span.end_offset as usize;
    if range.len() == key.len() + 2 {
        range = range.start + 1..range.end - 1;
    }
    Some((key.to_owned(), range))
}

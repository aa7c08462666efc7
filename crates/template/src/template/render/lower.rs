//! Conversion of minijinja's tree, which borrows from the text, to the tree that is rendered.
//!
//! The walk has already checked the names of filters and tests. Nothing is simplified here.

use std::ops::Range;

use deft_values::ast::{BinaryOp, CompareOp};
use minijinja::machinery::{Span, ast};
use minijinja::value::ValueKind;

use super::node::{Apply, Arg, Branches, Const, For, Macro, Node, NodeKind, Program, Slice, Stmt};

/// Converts a template to a program.
pub(crate) fn lower(root: &ast::Stmt<'_>) -> Program {
    let mut lowering = Lowering::default();
    let body = match root {
        ast::Stmt::Template(template) => lowering.body(&template.children),
        other => vec![lowering.stmt(other)],
    };
    Program {
        body,
        read: lowering.read.into_boxed_slice(),
    }
}

#[derive(Default)]
struct Lowering {
    read: Vec<String>,
    /// The number of uses of `loop` so far.
    loops: usize,
}

fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

impl Lowering {
    fn body(&mut self, body: &[ast::Stmt<'_>]) -> Vec<Stmt> {
        body.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'_>) -> Stmt {
        match stmt {
            ast::Stmt::Template(template) => Stmt::Body(self.body(&template.children)),
            ast::Stmt::EmitExpr(emit) => Stmt::Emit(self.node(&emit.expr)),
            ast::Stmt::EmitRaw(raw) => Stmt::Text(raw.raw.to_owned()),
            ast::Stmt::ForLoop(stmt) => self.for_loop(stmt),
            ast::Stmt::IfCond(stmt) => Stmt::If {
                test: self.node(&stmt.expr),
                then: self.body(&stmt.true_body),
                otherwise: self.body(&stmt.false_body),
            },
            ast::Stmt::WithBlock(stmt) => {
                let pairs = stmt.assignments.iter();
                Stmt::With {
                    assignments: pairs
                        .map(|(target, value)| (self.node(target), self.node(value)))
                        .collect(),
                    body: self.body(&stmt.body),
                }
            }
            ast::Stmt::Set(stmt) => Stmt::Set {
                target: self.node(&stmt.target),
                value: self.node(&stmt.expr),
            },
            ast::Stmt::SetBlock(stmt) => Stmt::Capture {
                target: Some(self.node(&stmt.target)),
                filter: stmt.filter.as_ref().map(|filter| self.node(filter)),
                body: self.body(&stmt.body),
            },
            ast::Stmt::FilterBlock(stmt) => Stmt::Capture {
                target: None,
                filter: Some(self.node(&stmt.filter)),
                body: self.body(&stmt.body),
            },
            // Nothing is escaped, whatever the block requests.
            ast::Stmt::AutoEscape(stmt) => Stmt::Body(self.body(&stmt.body)),
            ast::Stmt::Do(stmt) => {
                let callee = self.node(&stmt.call.expr);
                let span = callee.span.clone();
                let args = self.args(&stmt.call.args);
                Stmt::Do(Node {
                    kind: NodeKind::Call(Box::new(callee), args),
                    span,
                })
            }
            ast::Stmt::Macro(stmt) => self.macro_definition(stmt),
            // Refused by the walk before.
            ast::Stmt::CallBlock(_) => Stmt::Body(Vec::new()),
        }
    }

    fn macro_definition(&mut self, stmt: &ast::Macro<'_>) -> Stmt {
        let params = stmt.args.iter().filter_map(|arg| match arg {
            ast::Expr::Var(var) => Some(var.id.to_owned()),
            _ => None,
        });
        Stmt::Macro(Box::new(Macro {
            name: stmt.name.to_owned(),
            params: params.collect(),
            defaults: self.nodes(&stmt.defaults),
            body: self.body(&stmt.body),
        }))
    }

    fn for_loop(&mut self, stmt: &ast::ForLoop<'_>) -> Stmt {
        let iter = self.node(&stmt.iter);
        let before = self.loops;
        let target = self.node(&stmt.target);
        let condition = stmt
            .filter_expr
            .as_ref()
            .map(|condition| self.node(condition));
        let body = self.body(&stmt.body);
        let uses_loop = self.loops > before;
        Stmt::For(Box::new(For {
            target,
            iter,
            condition,
            body,
            otherwise: self.body(&stmt.else_body),
            uses_loop,
            recursive: stmt.recursive,
        }))
    }

    fn lower_boxed(&mut self, expr: &ast::Expr<'_>) -> Box<Node> {
        Box::new(self.node(expr))
    }

    fn pair(&mut self, left: &ast::Expr<'_>, right: &ast::Expr<'_>) -> (Node, Node) {
        (self.node(left), self.node(right))
    }

    fn nodes(&mut self, exprs: &[ast::Expr<'_>]) -> Vec<Node> {
        exprs.iter().map(|expr| self.node(expr)).collect()
    }

    fn optional(&mut self, expr: Option<&ast::Expr<'_>>) -> Option<Node> {
        expr.map(|expr| self.node(expr))
    }

    fn node(&mut self, expr: &ast::Expr<'_>) -> Node {
        let kind = self.kind(expr);
        let mut span = range(expr.span());
        // The spans of some operators begin at the operator or before the left operand.
        match &kind {
            NodeKind::Compare(first, rest) => {
                let end = rest.last().map_or(span.end, |(_, last)| last.span.end);
                span = first.span.start..end;
            }
            NodeKind::Attr(first, _) | NodeKind::Item(first, _) | NodeKind::Call(first, _) => {
                span.start = first.span.start;
            }
            NodeKind::Slice(slice) => span.start = slice.value.span.start,
            _ => {}
        }
        Node { kind, span }
    }

    fn kind(&mut self, expr: &ast::Expr<'_>) -> NodeKind {
        match expr {
            ast::Expr::Var(var) => self.name(var.id),
            ast::Expr::Const(constant) => NodeKind::Const(constant_of(&constant.value)),
            ast::Expr::Slice(slice) => NodeKind::Slice(Box::new(Slice {
                value: self.node(&slice.expr),
                start: self.optional(slice.start.as_ref()),
                stop: self.optional(slice.stop.as_ref()),
                step: self.optional(slice.step.as_ref()),
            })),
            ast::Expr::UnaryOp(op) => match op.op {
                ast::UnaryOpKind::Not => NodeKind::Not(self.lower_boxed(&op.expr)),
                ast::UnaryOpKind::Neg => NodeKind::Negate(self.lower_boxed(&op.expr)),
            },
            ast::Expr::BinOp(op) => self.binary(op),
            ast::Expr::Compare(compare) => {
                let first = self.lower_boxed(&compare.expr);
                let rest = compare.ops.iter();
                let rest = rest
                    .map(|op| (compare_op(op.op), self.node(&op.expr)))
                    .collect();
                NodeKind::Compare(first, rest)
            }
            ast::Expr::IfExpr(branches) => NodeKind::If(Box::new(Branches {
                test: self.node(&branches.test_expr),
                then: self.node(&branches.true_expr),
                otherwise: self.optional(branches.false_expr.as_ref()),
            })),
            ast::Expr::Filter(filter) => NodeKind::Filter(Box::new(Apply {
                input: self.optional(filter.expr.as_ref()),
                name: filter.name.to_owned(),
                args: self.args(&filter.args),
            })),
            ast::Expr::Test(test) => NodeKind::Test(Box::new(Apply {
                input: Some(self.node(&test.expr)),
                name: test.name.to_owned(),
                args: self.args(&test.args),
            })),
            ast::Expr::GetAttr(attr) => {
                NodeKind::Attr(self.lower_boxed(&attr.expr), attr.name.to_owned())
            }
            ast::Expr::GetItem(item) => NodeKind::Item(
                self.lower_boxed(&item.expr),
                self.lower_boxed(&item.subscript_expr),
            ),
            ast::Expr::Call(call) => {
                NodeKind::Call(self.lower_boxed(&call.expr), self.args(&call.args))
            }
            ast::Expr::List(list) => NodeKind::List(self.nodes(&list.items)),
            ast::Expr::Tuple(tuple) => NodeKind::Tuple(self.nodes(&tuple.items)),
            ast::Expr::Map(map) => {
                let pairs = map.keys.iter().zip(&map.values);
                NodeKind::Map(
                    pairs
                        .map(|(key, value)| (self.node(key), self.node(value)))
                        .collect(),
                )
            }
        }
    }

    fn name(&mut self, name: &str) -> NodeKind {
        self.loops += usize::from(name == "loop");
        if !self.read.iter().any(|known| known == name) {
            self.read.push(name.to_owned());
        }
        NodeKind::Name(name.to_owned())
    }

    fn binary(&mut self, op: &ast::BinOp<'_>) -> NodeKind {
        let compare = |op| NodeKindOrOp::Compare(op);
        let found = match op.op {
            ast::BinOpKind::ScAnd => {
                return NodeKind::And(Box::new(self.pair(&op.left, &op.right)));
            }
            ast::BinOpKind::ScOr => return NodeKind::Or(Box::new(self.pair(&op.left, &op.right))),
            ast::BinOpKind::Concat => {
                return NodeKind::Concat(Box::new(self.pair(&op.left, &op.right)));
            }
            ast::BinOpKind::Eq => compare(CompareOp::Equal),
            ast::BinOpKind::Ne => compare(CompareOp::NotEqual),
            ast::BinOpKind::Lt => compare(CompareOp::Less),
            ast::BinOpKind::Lte => compare(CompareOp::LessEqual),
            ast::BinOpKind::Gt => compare(CompareOp::Greater),
            ast::BinOpKind::Gte => compare(CompareOp::GreaterEqual),
            ast::BinOpKind::In => compare(CompareOp::In),
            ast::BinOpKind::Add => NodeKindOrOp::Binary(BinaryOp::Add),
            ast::BinOpKind::Sub => NodeKindOrOp::Binary(BinaryOp::Subtract),
            ast::BinOpKind::Mul => NodeKindOrOp::Binary(BinaryOp::Multiply),
            ast::BinOpKind::Div => NodeKindOrOp::Binary(BinaryOp::Divide),
            ast::BinOpKind::FloorDiv => NodeKindOrOp::Binary(BinaryOp::FloorDivide),
            ast::BinOpKind::Rem => NodeKindOrOp::Binary(BinaryOp::Modulo),
            ast::BinOpKind::Pow => NodeKindOrOp::Binary(BinaryOp::Power),
        };
        match found {
            NodeKindOrOp::Compare(compare) => NodeKind::Compare(
                self.lower_boxed(&op.left),
                vec![(compare, self.node(&op.right))],
            ),
            NodeKindOrOp::Binary(binary) => {
                NodeKind::Binary(binary, Box::new(self.pair(&op.left, &op.right)))
            }
        }
    }

    fn args(&mut self, args: &[ast::CallArg<'_>]) -> Vec<Arg> {
        let one = |arg: &ast::CallArg<'_>| match arg {
            ast::CallArg::Pos(expr) => Arg::Positional(self.node(expr)),
            ast::CallArg::Kwarg(name, expr) => Arg::Named((*name).to_owned(), self.node(expr)),
            ast::CallArg::PosSplat(expr) => Arg::Star(self.node(expr)),
            ast::CallArg::KwargSplat(expr) => Arg::DoubleStar(self.node(expr)),
        };
        args.iter().map(one).collect()
    }
}

enum NodeKindOrOp {
    Compare(CompareOp),
    Binary(BinaryOp),
}

fn compare_op(op: ast::CompareOpKind) -> CompareOp {
    match op {
        ast::CompareOpKind::Eq => CompareOp::Equal,
        ast::CompareOpKind::Ne => CompareOp::NotEqual,
        ast::CompareOpKind::Lt => CompareOp::Less,
        ast::CompareOpKind::Lte => CompareOp::LessEqual,
        ast::CompareOpKind::Gt => CompareOp::Greater,
        ast::CompareOpKind::Gte => CompareOp::GreaterEqual,
        ast::CompareOpKind::In => CompareOp::In,
        ast::CompareOpKind::NotIn => CompareOp::NotIn,
    }
}

/// Converts a literal; the parser creates no other kinds.
fn constant_of(value: &minijinja::Value) -> Const {
    match value.kind() {
        ValueKind::Bool => Const::Bool(value.is_true()),
        ValueKind::Number if value.is_integer() => {
            i128::try_from(value.clone()).map_or(Const::None, Const::Int)
        }
        ValueKind::Number => f64::try_from(value.clone()).map_or(Const::None, Const::Float),
        ValueKind::String => Const::Str(value.as_str().unwrap_or_default().to_owned()),
        _ => Const::None,
    }
}

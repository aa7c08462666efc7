//! Conversion of the parser's tree to ours.
//!
//! Literals are converted in `literal`. Python syntax that conditions do not support (`await`, `yield`,
//! assignments to attributes and items) is refused here.

use std::ops::Range;

use deft_values::ast::{
    Argument, BinaryOp, BoolOp, Clause, CompareOp, ComprehensionKind, DictItem, Expr, ExprKind,
    Ident, Param, ParamKind, Target, UnaryOp,
};
use ruff_python_ast::{self as python, Expr as Python};
use ruff_text_size::Ranged;

use super::explain::misplaced_star;
use super::literal;
use crate::error::SyntaxError;

pub(super) type LowerResult<T> = Result<T, SyntaxError>;

pub(super) fn lower(text: &str, expr: &Python) -> LowerResult<Expr> {
    let span = span(expr);
    let kind = Lower { text }.kind(expr)?;
    Ok(Expr { kind, span })
}

pub(super) fn span(node: &impl Ranged) -> Range<usize> {
    node.range().into()
}

struct Lower<'t> {
    text: &'t str,
}

impl Lower<'_> {
    fn expr(&self, expr: &Python) -> LowerResult<Expr> {
        lower(self.text, expr)
    }

    fn lower_boxed(&self, expr: &Python) -> LowerResult<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    fn maybe(&self, expr: Option<&Python>) -> LowerResult<Option<Box<Expr>>> {
        expr.map(|expr| self.lower_boxed(expr)).transpose()
    }

    fn exprs(&self, exprs: &[Python]) -> LowerResult<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn kind(&self, expr: &Python) -> LowerResult<ExprKind> {
        Ok(match expr {
            Python::Name(name) => ExprKind::Name(name.id.to_string()),
            Python::NoneLiteral(_)
            | Python::BooleanLiteral(_)
            | Python::EllipsisLiteral(_)
            | Python::NumberLiteral(_)
            | Python::BytesLiteral(_)
            | Python::StringLiteral(_)
            | Python::FString(_) => return literal::lower(self.text, expr),
            Python::BoolOp(node) => ExprKind::Bool {
                op: bool_op(node.op),
                values: self.exprs(&node.values)?,
            },
            Python::UnaryOp(node) => ExprKind::Unary {
                op: unary_op(node.op),
                operand: self.lower_boxed(&node.operand)?,
            },
            Python::BinOp(node) => ExprKind::Binary {
                op: binary_op(node.op),
                left: self.lower_boxed(&node.left)?,
                right: self.lower_boxed(&node.right)?,
            },
            Python::Compare(node) => self.compare(node)?,
            Python::If(node) => ExprKind::Conditional {
                test: self.lower_boxed(&node.test)?,
                then: self.lower_boxed(&node.body)?,
                otherwise: self.lower_boxed(&node.orelse)?,
            },
            Python::Lambda(node) => ExprKind::Lambda {
                params: self.params(node.parameters.as_deref())?,
                body: self.lower_boxed(&node.body)?,
            },
            Python::Named(node) => self.walrus(node)?,
            Python::Call(node) => ExprKind::Call {
                callee: self.lower_boxed(&node.func)?,
                args: self.arguments(&node.arguments)?,
            },
            Python::Attribute(node) => ExprKind::Attribute {
                value: self.lower_boxed(&node.value)?,
                name: ident(&node.attr),
            },
            Python::Subscript(node) => ExprKind::Subscript {
                value: self.lower_boxed(&node.value)?,
                index: self.lower_boxed(&node.slice)?,
            },
            Python::Slice(node) => ExprKind::Slice {
                start: self.maybe(node.lower.as_deref())?,
                stop: self.maybe(node.upper.as_deref())?,
                step: self.maybe(node.step.as_deref())?,
            },
            other => return self.collection(other),
        })
    }

    fn collection(&self, expr: &Python) -> LowerResult<ExprKind> {
        Ok(match expr {
            Python::List(node) => ExprKind::List(self.exprs(&node.elts)?),
            Python::Tuple(node) => ExprKind::Tuple(self.exprs(&node.elts)?),
            Python::Set(node) => ExprKind::Set(self.exprs(&node.elts)?),
            Python::Starred(node) => ExprKind::Starred(self.lower_boxed(&node.value)?),
            Python::Dict(node) => ExprKind::Dict(self.dict_items(&node.items)?),
            Python::ListComp(node) => {
                self.comprehension(ComprehensionKind::List, &node.elt, &node.generators)?
            }
            Python::SetComp(node) => {
                self.comprehension(ComprehensionKind::Set, &node.elt, &node.generators)?
            }
            Python::Generator(node) => {
                self.comprehension(ComprehensionKind::Generator, &node.elt, &node.generators)?
            }
            Python::DictComp(node) => self.dict_comprehension(node)?,
            other => return Err(refused_error(self.text, other)),
        })
    }

    fn compare(&self, node: &python::ExprCompare) -> LowerResult<ExprKind> {
        let (operands, ops) = (&node.comparators, &node.ops);
        let rest = ops.iter().zip(operands);
        let rest = rest.map(|(op, operand)| Ok((compare_op(*op), self.expr(operand)?)));
        Ok(ExprKind::Compare {
            left: self.lower_boxed(&node.left)?,
            rest: rest.collect::<LowerResult<_>>()?,
        })
    }

    fn walrus(&self, node: &python::ExprNamed) -> LowerResult<ExprKind> {
        let Python::Name(name) = node.target.as_ref() else {
            let message = "only a name is allowed before `:=`";
            return Err(SyntaxError::new(message, span(node.target.as_ref())));
        };
        Ok(ExprKind::Walrus {
            target: Ident {
                name: name.id.to_string(),
                span: span(name),
            },
            value: self.lower_boxed(&node.value)?,
        })
    }

    fn arguments(&self, arguments: &python::Arguments) -> LowerResult<Vec<Argument>> {
        let mut lowered: Vec<Argument> = Vec::new();
        for argument in arguments.iter_source_order() {
            let argument = self.argument(argument)?;
            if let Argument::Keyword { name, .. } = &argument
                && lowered.iter().any(|before| is_keyword(before, &name.name))
            {
                let message = format!("argument `{}` is given twice", name.name);
                return Err(SyntaxError::new(message, name.span.clone()));
            }
            lowered.push(argument);
        }
        Ok(lowered)
    }

    fn argument(&self, argument: python::ArgOrKeyword<'_>) -> LowerResult<Argument> {
        Ok(match argument {
            python::ArgOrKeyword::Arg(Python::Starred(star)) => {
                Argument::Star(self.expr(&star.value)?)
            }
            python::ArgOrKeyword::Arg(value) => Argument::Positional(self.expr(value)?),
            python::ArgOrKeyword::Keyword(keyword) => {
                let value = self.expr(&keyword.value)?;
                match &keyword.arg {
                    Some(name) => Argument::Keyword {
                        name: ident(name),
                        value,
                    },
                    None => Argument::DoubleStar(value),
                }
            }
        })
    }

    fn dict_items(&self, items: &[python::DictItem]) -> LowerResult<Vec<DictItem>> {
        let item = |item: &python::DictItem| {
            let value = self.expr(&item.value)?;
            Ok(match &item.key {
                Some(key) => DictItem::Pair(self.expr(key)?, value),
                None => DictItem::Spread(value),
            })
        };
        items.iter().map(item).collect()
    }

    fn comprehension(
        &self,
        kind: ComprehensionKind,
        element: &Python,
        clauses: &[python::Comprehension],
    ) -> LowerResult<ExprKind> {
        Ok(ExprKind::Comprehension {
            kind,
            element: self.lower_boxed(element)?,
            clauses: self.clauses(clauses)?,
        })
    }

    fn dict_comprehension(&self, node: &python::ExprDictComp) -> LowerResult<ExprKind> {
        let Some(key) = &node.key else {
            return Err(SyntaxError::new("`**` in a comprehension", span(node)));
        };
        Ok(ExprKind::DictComprehension {
            key: self.lower_boxed(key)?,
            value: self.lower_boxed(&node.value)?,
            clauses: self.clauses(&node.generators)?,
        })
    }

    fn clauses(&self, clauses: &[python::Comprehension]) -> LowerResult<Vec<Clause>> {
        clauses.iter().map(|clause| self.clause(clause)).collect()
    }

    fn clause(&self, clause: &python::Comprehension) -> LowerResult<Clause> {
        if clause.is_async {
            return Err(keyword("async", span(clause).start));
        }
        Ok(Clause {
            target: loop_target(&clause.target)?,
            iter: self.expr(&clause.iter)?,
            conditions: self.exprs(&clause.ifs)?,
        })
    }

    fn params(&self, parameters: Option<&python::Parameters>) -> LowerResult<Vec<Param>> {
        let Some(parameters) = parameters else {
            return Ok(Vec::new());
        };
        let mut params: Vec<Param> = Vec::new();
        for (kind, found) in [
            (ParamKind::PositionalOnly, &parameters.posonlyargs),
            (ParamKind::Standard, &parameters.args),
        ] {
            for param in found {
                params.push(self.param(kind, &param.parameter, param.default.as_deref())?);
            }
        }
        if let Some(rest) = &parameters.vararg {
            params.push(self.param(ParamKind::VarArgs, rest, None)?);
        }
        for param in &parameters.kwonlyargs {
            let default = param.default.as_deref();
            params.push(self.param(ParamKind::KeywordOnly, &param.parameter, default)?);
        }
        if let Some(rest) = &parameters.kwarg {
            params.push(self.param(ParamKind::VarKeywords, rest, None)?);
        }
        for (at, param) in params.iter().enumerate() {
            if params[..at]
                .iter()
                .any(|before| before.name.name == param.name.name)
            {
                let message = format!("parameter `{}` is given twice", param.name.name);
                return Err(SyntaxError::new(message, param.name.span.clone()));
            }
        }
        Ok(params)
    }

    fn param(
        &self,
        kind: ParamKind,
        parameter: &python::Parameter,
        default: Option<&Python>,
    ) -> LowerResult<Param> {
        Ok(Param {
            name: ident(&parameter.name),
            kind,
            default: default.map(|default| self.expr(default)).transpose()?,
        })
    }
}

fn is_keyword(argument: &Argument, name: &str) -> bool {
    matches!(argument, Argument::Keyword { name: known, .. } if known.name == name)
}

fn ident(name: &python::Identifier) -> Ident {
    Ident {
        name: name.id.to_string(),
        span: span(name),
    }
}

fn loop_target(expr: &Python) -> LowerResult<Target> {
    match expr {
        Python::Starred(_) => Err(misplaced_star(span(expr))),
        _ => target(expr),
    }
}

/// Converts an expression to an assignment target.
fn target(expr: &Python) -> LowerResult<Target> {
    match expr {
        Python::Name(name) => Ok(Target::Name(Ident {
            name: name.id.to_string(),
            span: span(name),
        })),
        Python::Tuple(python::ExprTuple { elts, .. })
        | Python::List(python::ExprList { elts, .. }) => {
            if elts.iter().filter(|item| item.is_starred_expr()).count() > 1 {
                return Err(SyntaxError::new("more than one starred name", span(expr)));
            }
            let targets = elts.iter().map(target);
            Ok(Target::Tuple(targets.collect::<LowerResult<_>>()?))
        }
        Python::Starred(node) => Ok(Target::Starred(Box::new(target(&node.value)?))),
        _ => {
            let message = "only names are allowed between `for` and `in`";
            Err(SyntaxError::new(message, span(expr)))
        }
    }
}

/// Returns the error for an expression that Python allows but conditions do not.
fn refused_error(text: &str, expr: &Python) -> SyntaxError {
    let span = span(expr);
    let word = text[span.clone()]
        .split(|c: char| !c.is_alphabetic())
        .next();
    keyword(word.unwrap_or_default(), span.start)
}

fn keyword(word: &str, start: usize) -> SyntaxError {
    let error = SyntaxError::new(format!("unexpected `{word}`"), start..start + word.len());
    error.with_hint(format!("`{word}` is a keyword of Python"))
}

fn bool_op(op: python::BoolOp) -> BoolOp {
    match op {
        python::BoolOp::And => BoolOp::And,
        python::BoolOp::Or => BoolOp::Or,
    }
}

fn unary_op(op: python::UnaryOp) -> UnaryOp {
    match op {
        python::UnaryOp::Not => UnaryOp::Not,
        python::UnaryOp::USub => UnaryOp::Negate,
        python::UnaryOp::UAdd => UnaryOp::Plus,
        python::UnaryOp::Invert => UnaryOp::Invert,
    }
}

fn binary_op(op: python::Operator) -> BinaryOp {
    match op {
        python::Operator::Add => BinaryOp::Add,
        python::Operator::Sub => BinaryOp::Subtract,
        python::Operator::Mult => BinaryOp::Multiply,
        python::Operator::MatMult => BinaryOp::MatrixMultiply,
        python::Operator::Div => BinaryOp::Divide,
        python::Operator::Mod => BinaryOp::Modulo,
        python::Operator::Pow => BinaryOp::Power,
        python::Operator::LShift => BinaryOp::ShiftLeft,
        python::Operator::RShift => BinaryOp::ShiftRight,
        python::Operator::BitOr => BinaryOp::BitOr,
        python::Operator::BitXor => BinaryOp::BitXor,
        python::Operator::BitAnd => BinaryOp::BitAnd,
        python::Operator::FloorDiv => BinaryOp::FloorDivide,
    }
}

fn compare_op(op: python::CmpOp) -> CompareOp {
    match op {
        python::CmpOp::Eq => CompareOp::Equal,
        python::CmpOp::NotEq => CompareOp::NotEqual,
        python::CmpOp::Lt => CompareOp::Less,
        python::CmpOp::LtE => CompareOp::LessEqual,
        python::CmpOp::Gt => CompareOp::Greater,
        python::CmpOp::GtE => CompareOp::GreaterEqual,
        python::CmpOp::Is => CompareOp::Is,
        python::CmpOp::IsNot => CompareOp::IsNot,
        python::CmpOp::In => CompareOp::In,
        python::CmpOp::NotIn => CompareOp::NotIn,
    }
}

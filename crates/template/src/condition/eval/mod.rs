//! Evaluator of conditions: interprets the syntax tree with Python's semantics.
//!
//! A name that the scope does not define, or has no value for, evaluates to `None`. `:=` is the only side
//! effect. Every operation consumes budget, so that no condition can run for long or use much memory.

mod build;
mod builtins;
mod call;
mod frame;
mod reduce;
mod stream;

use crate::scope::{Scope, Slots};
use deft_values::ast::{
    BoolOp, CompareOp, Constant, Conversion, DictItem, Expr, ExprKind, FStringPart, UnaryOp,
};
use deft_values::budget::Budget;
use deft_values::compare::{self, Order};
use deft_values::index::Bounds;
use deft_values::table::{Set, Table};
use deft_values::{Fault, Outcome};
use deft_values::{Text, Value, format, index, number, operate, spec};
use frame::Frame;

/// Evaluates an expression to JSON.
pub(super) fn json(
    expr: &Expr,
    scope: &dyn Scope,
    slots: &Slots<'_>,
) -> Outcome<serde_json::Value> {
    Machine::new(scope, slots).eval(expr)?.to_json()
}

/// Evaluates an expression to its truth value.
pub(super) fn truth(expr: &Expr, scope: &dyn Scope, slots: &Slots<'_>) -> Outcome<bool> {
    Machine::new(scope, slots).eval(expr)?.truth()
}

pub(super) struct Machine<'a> {
    scope: &'a dyn Scope,
    slots: &'a Slots<'a>,
    budget: Budget,
    frames: Vec<Frame<'a>>,
    /// The innermost frame, where name lookup starts.
    frame: usize,
    /// The number of functions and generators created so far; these may outlive their frame.
    captures: usize,
}

impl<'a> Machine<'a> {
    fn new(scope: &'a dyn Scope, slots: &'a Slots<'a>) -> Self {
        Machine {
            scope,
            slots,
            budget: Budget::default(),
            frames: vec![Frame::root()],
            frame: 0,
            captures: 0,
        }
    }

    fn eval(&mut self, expr: &'a Expr) -> Outcome<Value<'a>> {
        let outcome = match self.budget.enter() {
            Ok(()) => {
                let outcome = self.kind(expr);
                self.budget.leave();
                outcome
            }
            Err(fault) => Err(fault),
        };
        outcome.map_err(|fault| fault.with_span(&expr.span))
    }

    fn kind(&mut self, expr: &'a Expr) -> Outcome<Value<'a>> {
        match &expr.kind {
            ExprKind::Name(name) => Ok(self.name(name)),
            ExprKind::Constant(constant) => literal(constant),
            ExprKind::FString(parts) => self.fstring(parts).map(Value::str),
            ExprKind::Bool { op, values } => self.bool_chain(*op, values),
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Binary { op, left, right } => {
                let left = self.eval(left)?;
                let right = self.eval(right)?;
                operate::binary(*op, &left, &right, &self.budget)
            }
            ExprKind::Compare { left, rest } => self.compare(left, rest),
            ExprKind::Conditional {
                test,
                then,
                otherwise,
            } => {
                let chosen = if self.eval(test)?.truth()? {
                    then
                } else {
                    otherwise
                };
                self.eval(chosen)
            }
            ExprKind::Lambda { .. } => Err(Fault::unsupported_python("a lambda")),
            ExprKind::Walrus { target, value } => {
                let value = self.eval(value)?;
                self.assign(&target.name, value.clone());
                Ok(value)
            }
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Attribute { value, name } => {
                let owner = self.eval(value)?;
                match &owner {
                    _ if self.is_absent(expr) => Ok(Value::None),
                    _ if self.is_itself(value, &owner, &name.name) => Ok(owner),
                    _ => self.attribute(&owner, &name.name),
                }
            }
            ExprKind::Subscript { .. } if self.is_absent(expr) => Ok(Value::None),
            ExprKind::Subscript { value, index } => self.subscript(value, index),
            ExprKind::List(items) => Value::list(self.items(items)?),
            ExprKind::Tuple(items) => Value::tuple(self.items(items)?),
            ExprKind::Set(items) => {
                let items = self.items(items)?;
                Ok(Set::collect(items)?.finish())
            }
            ExprKind::Dict(items) => self.dict(items),
            ExprKind::Comprehension {
                kind,
                element,
                clauses,
            } => self.comprehension(*kind, element, clauses),
            ExprKind::DictComprehension {
                key,
                value,
                clauses,
            } => self.dict_comprehension(key, value, clauses),
            ExprKind::Starred(_) => Err(Fault::type_error("can't use starred expression here")),
            ExprKind::Slice { .. } => Err(Fault::unsupported_python("a slice in this place")),
        }
    }

    /// Returns the operand that decides the result, as Python does, not just its truth.
    fn bool_chain(&mut self, op: BoolOp, values: &'a [Expr]) -> Outcome<Value<'a>> {
        let mut last = Value::None;
        for value in values {
            last = self.eval(value)?;
            let truth = last.truth().map_err(|fault| fault.with_span(&value.span))?;
            if truth == (op == BoolOp::Or) {
                break;
            }
        }
        Ok(last)
    }

    fn unary(&mut self, op: UnaryOp, operand: &'a Expr) -> Outcome<Value<'a>> {
        let value = self.eval(operand)?;
        match op {
            UnaryOp::Not => value.truth().map(|truth| Value::Bool(!truth)),
            UnaryOp::Negate => operate::negate(&value),
            UnaryOp::Plus => operate::plus(&value),
            UnaryOp::Invert => operate::invert(&value),
        }
    }

    fn compare(&mut self, left: &'a Expr, rest: &'a [(CompareOp, Expr)]) -> Outcome<Value<'a>> {
        let mut left = self.eval(left)?;
        for (op, right) in rest {
            let right = self.eval(right)?;
            if !self.holds(*op, &left, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn holds(&mut self, op: CompareOp, a: &Value<'a>, b: &Value<'a>) -> Outcome<bool> {
        let budget = &self.budget;
        match op {
            CompareOp::Equal => compare::equal(a, b, budget),
            CompareOp::NotEqual => compare::equal(a, b, budget).map(|equal| !equal),
            CompareOp::Less => compare::compare_order(Order::Less, a, b, budget),
            CompareOp::LessEqual => compare::compare_order(Order::LessEqual, a, b, budget),
            CompareOp::Greater => compare::compare_order(Order::Greater, a, b, budget),
            CompareOp::GreaterEqual => compare::compare_order(Order::GreaterEqual, a, b, budget),
            CompareOp::Is => compare::identical(a, b, budget),
            CompareOp::IsNot => compare::identical(a, b, budget).map(|same| !same),
            CompareOp::In => self.contains(b, a),
            CompareOp::NotIn => self.contains(b, a).map(|found| !found),
        }
    }

    fn contains(&mut self, container: &Value<'a>, item: &Value<'a>) -> Outcome<bool> {
        let Value::Iter(stream) = container else {
            return compare::contains(container, item, &self.budget);
        };
        while let Some(found) = self.next(stream)? {
            if compare::equal(&found, item, &self.budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn subscript(&mut self, value: &'a Expr, at: &'a Expr) -> Outcome<Value<'a>> {
        let value = self.eval(value)?;
        if let ExprKind::Slice { start, stop, step } = &at.kind {
            let bounds = Bounds {
                start: self.optional(start.as_deref())?,
                end: self.optional(stop.as_deref())?,
                step: self.optional(step.as_deref())?,
            };
            return index::slice(&value, &bounds, &self.budget);
        }
        let at = self.eval(at)?;
        match (&value, &at) {
            (Value::Type(_), _) => Err(Fault::unsupported_python("a type with parameters")),
            (Value::Secrets, Value::Str(name)) => self.secret(name),
            _ => index::item(&value, &at, &self.budget),
        }
    }

    fn optional(&mut self, expr: Option<&'a Expr>) -> Outcome<Option<Value<'a>>> {
        expr.map(|expr| self.eval(expr)).transpose()
    }

    /// Evaluates the items of a display and expands starred ones in place.
    fn items(&mut self, exprs: &'a [Expr]) -> Outcome<Vec<Value<'a>>> {
        self.budget.items(exprs.len())?;
        let mut items = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match &expr.kind {
                ExprKind::Starred(inner) => {
                    let inner = self.eval(inner)?;
                    items.extend(self.drain(&inner)?);
                }
                _ => items.push(self.eval(expr)?),
            }
        }
        Ok(items)
    }

    fn dict(&mut self, items: &'a [DictItem]) -> Outcome<Value<'a>> {
        let mut table = Table::default();
        for item in items {
            self.budget.items(2)?;
            match item {
                DictItem::Pair(key, value) => {
                    let key = self.eval(key)?;
                    table.insert(key, self.eval(value)?)?;
                }
                DictItem::Spread(mapping) => {
                    let Value::Dict(dict) = self.eval(mapping)? else {
                        return Err(Fault::type_error("the value after `**` is not a mapping"));
                    };
                    self.budget.items(dict.len())?;
                    for (key, value) in dict.iter() {
                        table.insert(key, value)?;
                    }
                }
            }
        }
        Ok(table.finish())
    }

    fn fstring(&mut self, parts: &'a [FStringPart]) -> Outcome<String> {
        let mut out = String::new();
        for part in parts {
            match part {
                FStringPart::Literal(text) => out.push_str(text),
                FStringPart::Value {
                    expr,
                    conversion,
                    format,
                } => {
                    let shown = self.fstring_value(expr, *conversion, format.as_deref())?;
                    out.push_str(&shown);
                }
            }
            self.budget.make(out.len())?;
        }
        Ok(out)
    }

    fn fstring_value(
        &mut self,
        expr: &'a Expr,
        conversion: Option<Conversion>,
        format: Option<&'a [FStringPart]>,
    ) -> Outcome<String> {
        let value = self.eval(expr)?;
        let letter = conversion.map(|conversion| match conversion {
            Conversion::Str => "s",
            Conversion::Repr => "r",
            Conversion::Ascii => "a",
        });
        let spec = match format {
            Some(parts) => self.fstring(parts)?,
            None => String::new(),
        };
        let shown = format::convert(value, letter, &self.budget)
            .and_then(|value| spec::apply(&value, &spec, &self.budget));
        shown.map_err(|fault| fault.with_span(&expr.span))
    }
}

fn literal(constant: &Constant) -> Outcome<Value<'_>> {
    Ok(match constant {
        Constant::None => Value::None,
        Constant::Bool(value) => Value::Bool(*value),
        Constant::Ellipsis => Value::Ellipsis,
        Constant::Int(value) => Value::Int(i128::from(*value)),
        Constant::BigInt { digits, radix } => match i128::from_str_radix(digits, *radix) {
            Ok(value) => Value::Int(value),
            Err(_) => return Err(number::too_big()),
        },
        Constant::Float(value) => Value::Float(*value),
        Constant::Str(text) => Value::Str(Text::Ref(text)),
        Constant::Imaginary(_) => return Err(Fault::unsupported_python("a complex number")),
        Constant::Bytes(_) => return Err(Fault::unsupported_python("a value of bytes")),
    })
}

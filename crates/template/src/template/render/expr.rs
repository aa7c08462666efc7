//! Evaluation of expressions in templates.

use deft_values::args::{self, Args};
use deft_values::ast::CompareOp;
use deft_values::budget::Budget;
use deft_values::compare::{self, Order};
use deft_values::index::{self, Bounds};
use deft_values::table::Table;
use deft_values::{Fault, Outcome};
use deft_values::{MissingReason, Text, Value, iterate, methods, operate, show};

use super::Renderer;
use super::define::Callable;
use super::filters;
use super::node::{Arg, Const, Node, NodeKind, Slice};
use super::tests;

impl<'a> Renderer<'a> {
    /// Evaluates an expression; a step without a value is `None`.
    pub(super) fn eval(&mut self, node: &'a Node) -> Outcome<Value<'a>> {
        Ok(match self.eval_raw(node)? {
            Value::Undefined(missing) if missing.why == MissingReason::Absent => Value::None,
            value => value,
        })
    }

    /// Evaluates an expression and distinguishes a step without a value from one whose value is `None`; for
    /// `default`, `is defined` and paths.
    pub(super) fn eval_raw(&mut self, node: &'a Node) -> Outcome<Value<'a>> {
        let outcome = match self.budget.enter() {
            Ok(()) => {
                let outcome = self.kind(node);
                self.budget.leave();
                outcome
            }
            Err(fault) => Err(fault),
        };
        outcome.map_err(|fault| fault.with_span(&node.span))
    }

    fn kind(&mut self, node: &'a Node) -> Outcome<Value<'a>> {
        match &node.kind {
            NodeKind::Name(name) => Ok(self.name(name, &node.span)),
            NodeKind::Const(constant) => Ok(literal(constant)),
            NodeKind::Attr(value, name) => {
                let value = self.owner(value, Some(name))?;
                self.attribute(&value, name, node)
            }
            NodeKind::Item(value, at) => {
                let value = self.owner(value, literal_key(at))?;
                let at = self.eval(at)?;
                self.item(&value, &at, node)
            }
            NodeKind::Slice(slice) => self.slice(slice),
            NodeKind::Not(value) => self.truth(value).map(|truth| Value::Bool(!truth)),
            NodeKind::Negate(value) => operate::negate(&self.eval(value)?),
            NodeKind::And(pair) => self.short_circuit(&pair.0, &pair.1, false),
            NodeKind::Or(pair) => self.short_circuit(&pair.0, &pair.1, true),
            NodeKind::Binary(op, pair) => {
                let left = self.eval(&pair.0)?;
                let right = self.eval(&pair.1)?;
                operate::binary(*op, &left, &right, &self.budget)
            }
            NodeKind::Concat(pair) => self.concat(&pair.0, &pair.1),
            NodeKind::Compare(first, rest) => self.compare(first, rest),
            NodeKind::If(branches) => {
                if self.truth(&branches.test)? {
                    return self.eval_raw(&branches.then);
                }
                match &branches.otherwise {
                    Some(otherwise) => self.eval_raw(otherwise),
                    None => Ok(Value::Str(Text::Ref(""))),
                }
            }
            NodeKind::Filter(apply) => {
                let Some(input) = &apply.input else {
                    return Err(Fault::unsupported_python("a filter without a value"));
                };
                let input = match apply.name.as_str() {
                    "default" | "d" => self.eval_raw(input)?,
                    _ => self.eval(input)?,
                };
                let args = self.args(&apply.args)?;
                filters::apply(&apply.name, input, args, &self.budget)
            }
            NodeKind::Test(apply) => {
                let Some(input) = &apply.input else {
                    return Err(Fault::unsupported_python("a test without a value"));
                };
                let input = match apply.name.as_str() {
                    "defined" | "undefined" => self.eval_raw(input)?,
                    _ => self.eval(input)?,
                };
                let args = self.args(&apply.args)?;
                tests::apply(&apply.name, &input, args, &self.budget).map(Value::Bool)
            }
            NodeKind::Call(callee, args) => self.call(callee, args),
            NodeKind::List(items) => Value::list(self.all(items)?),
            NodeKind::Tuple(items) => Value::tuple(self.all(items)?),
            NodeKind::Map(pairs) => self.map(pairs),
        }
    }

    fn short_circuit(
        &mut self,
        left: &'a Node,
        right: &'a Node,
        deciding: bool,
    ) -> Outcome<Value<'a>> {
        let value = self.eval_raw(left)?;
        let truth = value.truth().map_err(|fault| fault.with_span(&left.span))?;
        if truth == deciding {
            return Ok(value);
        }
        self.eval_raw(right)
    }

    fn concat(&mut self, left: &'a Node, right: &'a Node) -> Outcome<Value<'a>> {
        let (left, right) = (self.eval(left)?, self.eval(right)?);
        let mut out = show::to_str(&left, &self.budget)?;
        show::write_str(&mut out, &right, &self.budget)?;
        self.budget.make(out.len())?;
        Ok(Value::str(out))
    }

    fn compare(&mut self, first: &'a Node, rest: &'a [(CompareOp, Node)]) -> Outcome<Value<'a>> {
        let mut left = self.eval(first)?;
        for (op, right) in rest {
            let right = self.eval(right)?;
            if !holds(*op, &left, &right, &self.budget)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn slice(&mut self, slice: &'a Slice) -> Outcome<Value<'a>> {
        let value = self.eval(&slice.value)?;
        let mut bound =
            |node: &'a Option<Node>| node.as_ref().map(|node| self.eval(node)).transpose();
        let bounds = Bounds {
            start: bound(&slice.start)?,
            end: bound(&slice.stop)?,
            step: bound(&slice.step)?,
        };
        index::slice(&value, &bounds, &self.budget)
    }

    fn all(&mut self, nodes: &'a [Node]) -> Outcome<Vec<Value<'a>>> {
        self.budget.items(nodes.len())?;
        nodes.iter().map(|node| self.eval(node)).collect()
    }

    fn map(&mut self, pairs: &'a [(Node, Node)]) -> Outcome<Value<'a>> {
        let mut table = Table::default();
        for (key, value) in pairs {
            self.budget.items(2)?;
            let key = self.eval(key)?;
            table.insert(key, self.eval(value)?)?;
        }
        Ok(table.finish())
    }

    pub(super) fn args(&mut self, args: &'a [Arg]) -> Outcome<Args<'a>> {
        let mut out = Args::default();
        for arg in args {
            match arg {
                Arg::Positional(node) => out.positional.push(self.eval(node)?),
                Arg::Named(name, node) => out.named.push((Text::Ref(name), self.eval(node)?)),
                Arg::Star(node) => {
                    let value = self.eval(node)?;
                    out.positional.extend(iterate::items(&value, &self.budget)?);
                }
                Arg::DoubleStar(node) => {
                    let value = self.eval(node)?;
                    let Value::Dict(dict) = &value else {
                        value.usable()?;
                        return Err(Fault::type_error("argument after ** must be a mapping"));
                    };
                    for (key, value) in dict.iter() {
                        out.named
                            .push((args::text(&key, "a keyword")?.clone(), value));
                    }
                }
            }
        }
        Ok(out)
    }

    /// Calls a method, a macro, a recursive loop or a built-in function.
    fn call(&mut self, callee: &'a Node, args: &'a [Arg]) -> Outcome<Value<'a>> {
        match &callee.kind {
            NodeKind::Attr(value, name) => {
                let receiver = self.eval(value)?;
                receiver.usable()?;
                let args = self.args(args)?;
                if let (NodeKind::Name(owner), "cycle") = (&value.kind, name.as_str())
                    && owner == "loop"
                {
                    return cycle(&receiver, &args);
                }
                match methods::find(receiver.kind(), name) {
                    Some(method) => methods::call(&receiver, method, args, &self.budget),
                    None => Err(no_method(&receiver, name)),
                }
            }
            NodeKind::Name(name) if self.find_callable(name).is_some() => {
                let args = self.args(args)?;
                match self.find_callable(name) {
                    Some(Callable::Macro(definition)) => self.call_macro(definition, args),
                    Some(Callable::Loop(around)) => self.call_loop(around, args),
                    None => Ok(Value::None),
                }
            }
            NodeKind::Name(name) if self.is_free(name) => {
                let args = self.args(args)?;
                match name.as_str() {
                    "range" => filters::range(args),
                    "dict" | "namespace" => filters::dict(args),
                    _ => Err(Fault::undefined_name(
                        name.clone(),
                        format!("`{name}` is undefined"),
                    )),
                }
            }
            _ => {
                let value = self.eval(callee)?;
                value.usable()?;
                let name = value.type_name();
                Err(Fault::type_error(format!(
                    "'{name}' object is not callable"
                )))
            }
        }
    }
}

fn literal_key(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Const(Const::Str(key)) => Some(key),
        _ => None,
    }
}

fn no_method(receiver: &Value<'_>, name: &str) -> Fault {
    let kind = receiver.type_name();
    Fault::type_error(format!("'{kind}' object has no method '{name}'"))
}

/// Evaluates `loop.cycle("odd", "even")`.
fn cycle<'a>(state: &Value<'a>, args: &Args<'a>) -> Outcome<Value<'a>> {
    let at = match state {
        Value::Dict(dict) => dict.field("index0"),
        _ => None,
    };
    let at = at.map_or(Ok(0), |at| args::size(&at))?;
    let len = args.positional.len().max(1);
    let found = args.positional.get(usize::try_from(at).unwrap_or(0) % len);
    found
        .cloned()
        .ok_or_else(|| Fault::type_error("no items for cycling given"))
}

pub(super) fn holds<'a>(
    op: CompareOp,
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &Budget,
) -> Outcome<bool> {
    match op {
        CompareOp::Equal => compare::equal(a, b, budget),
        CompareOp::NotEqual => compare::equal(a, b, budget).map(|equal| !equal),
        CompareOp::Less => compare::compare_order(Order::Less, a, b, budget),
        CompareOp::LessEqual => compare::compare_order(Order::LessEqual, a, b, budget),
        CompareOp::Greater => compare::compare_order(Order::Greater, a, b, budget),
        CompareOp::GreaterEqual => compare::compare_order(Order::GreaterEqual, a, b, budget),
        CompareOp::In => compare::contains(b, a, budget),
        CompareOp::NotIn => compare::contains(b, a, budget).map(|found| !found),
        CompareOp::Is => compare::identical(a, b, budget),
        CompareOp::IsNot => compare::identical(a, b, budget).map(|same| !same),
    }
}

fn literal(constant: &Const) -> Value<'_> {
    match constant {
        Const::None => Value::None,
        Const::Bool(value) => Value::Bool(*value),
        Const::Int(value) => Value::Int(*value),
        Const::Float(value) => Value::Float(*value),
        Const::Str(text) => Value::Str(Text::Ref(text)),
    }
}

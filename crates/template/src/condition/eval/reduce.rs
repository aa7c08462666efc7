//! Builtins that iterate over values: `any`, `sum`, `max`, `sort_values`, `next`.

use deft_values::args::Args;
use deft_values::ast::BinaryOp;
use deft_values::compare::{Order, compare_order};
use deft_values::iterate;
use deft_values::sort::sort;
use deft_values::{Fault, Outcome};
use deft_values::{Kind, Value, operate};

use super::Machine;

impl<'a> Machine<'a> {
    /// Implements `any` and `all`; stops at the first item that decides.
    pub(super) fn any_all(&mut self, name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
        let source = iterate::open(&args.one(name)?)?;
        let deciding = name == "any";
        while let Some(item) = self.next(&source)? {
            item.usable()?;
            if item.truth()? == deciding {
                return Ok(Value::Bool(deciding));
            }
        }
        Ok(Value::Bool(!deciding))
    }

    pub(super) fn sum(&mut self, args: Args<'a>) -> Outcome<Value<'a>> {
        let [source, start] = args.bind("sum", ["/", "start"], 1)?;
        let source = iterate::open(&source.unwrap_or(Value::None))?;
        let mut total = start.unwrap_or(Value::Int(0));
        if let Value::Str(_) = total {
            return Err(Fault::type_error(
                "sum() can't sum strings [use ''.join(seq) instead]",
            ));
        }
        while let Some(item) = self.next(&source)? {
            total = operate::binary(BinaryOp::Add, &total, &item, &self.budget)?;
        }
        Ok(total)
    }

    /// Implements `max` and `min`; of equal items, returns the first.
    pub(super) fn extreme(&mut self, name: &str, mut args: Args<'a>) -> Outcome<Value<'a>> {
        let (key, default) = (args.take("key"), args.take("default"));
        let mut values = args.take_positional(name)?;
        if values.len() == 1 {
            let only = values.remove(0);
            values = self.drain(&only)?;
        } else if values.is_empty() {
            return Err(Fault::type_error(format!(
                "{name} expected at least 1 argument, got 0"
            )));
        } else if default.is_some() {
            let message =
                format!("Cannot specify a default for {name}() with multiple positional arguments");
            return Err(Fault::type_error(message));
        }
        let order = if name == "min" {
            Order::Less
        } else {
            Order::Greater
        };
        let mut best: Option<(Value<'a>, Value<'a>)> = None;
        for value in values {
            let rank = self.key(key.as_ref(), &value)?;
            self.budget.spend(1)?;
            let better = match &best {
                Some((leader, _)) => compare_order(order, &rank, leader, &self.budget)?,
                None => {
                    rank.usable()?;
                    true
                }
            };
            if better {
                best = Some((rank, value));
            }
        }
        match best.map(|(_, value)| value).or(default) {
            Some(value) => Ok(value),
            None => Err(Fault::other(format!("{name}() arg is an empty sequence"))),
        }
    }

    fn key(&mut self, key: Option<&Value<'a>>, value: &Value<'a>) -> Outcome<Value<'a>> {
        match key {
            None | Some(Value::None) => Ok(value.clone()),
            Some(function) => self.call_value(function, Args::from_positional(vec![value.clone()])),
        }
    }

    pub(super) fn sort_values(&mut self, mut args: Args<'a>) -> Outcome<Value<'a>> {
        let key = args.take("key");
        let reverse = args
            .take("reverse")
            .map_or(Ok(false), |reverse| reverse.truth())?;
        let items = self.drain(&args.one("sorted")?)?;
        let mut keyed = Vec::with_capacity(items.len());
        for item in items {
            keyed.push((self.key(key.as_ref(), &item)?, item));
        }
        let sorted = sort(keyed, reverse, &self.budget)?;
        Value::list(sorted.into_iter().map(|(_, item)| item).collect())
    }

    pub(super) fn next_of(&mut self, args: Args<'a>) -> Outcome<Value<'a>> {
        let [source, default] = args.bind("next", ["/", "/"], 1)?;
        let source = source.unwrap_or(Value::None);
        let Value::Iter(stream) = &source else {
            source.usable()?;
            let kind: Kind = source.kind();
            return Err(Fault::type_error(format!(
                "'{}' object is not an iterator",
                kind.name()
            )));
        };
        match self.next(stream)?.or(default) {
            Some(item) => Ok(item),
            None => Err(Fault::other("`next` was called on an exhausted iterator")
                .with_hint("give `next` a default")),
        }
    }
}

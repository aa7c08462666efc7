//! Filters on whole lists and mappings.

use deft_values::args::{self, Args};
use deft_values::budget::Budget;
use deft_values::{Fault, Outcome};
use deft_values::{MissingReason, Text, Value, index, iterate, methods, operate, show};

use super::{all, bind, number};
use crate::template::render::member;

pub(super) fn apply<'a>(
    name: &str,
    value: &Value<'a>,
    args: &Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    Ok(Some(match name {
        "length" | "count" => {
            args.clone().none(name)?;
            Value::int(iterate::length(value)?)
        }
        "list" => Value::list(all(value, budget)?)?,
        "first" => edge(name, all(value, budget)?.into_iter().next()),
        "last" => edge(name, all(value, budget)?.pop()),
        "join" => join(value, args, budget)?,
        "reverse" => reverse(value, budget)?,
        "items" => match value {
            Value::Dict(_) => {
                let view = methods::call(value, "items", Args::default(), budget)?;
                Value::list(all(&view, budget)?)?
            }
            _ => return Err(Fault::type_error("can only get item pairs from a mapping")),
        },
        "attr" => {
            let [attribute] = bind(name, args, ["name"], 1)?;
            let attribute = attribute.unwrap_or(Value::None);
            let attribute = args::text(&attribute, "the name")?;
            let found = member::field(value, attribute);
            found.unwrap_or_else(|| {
                member::missing_member(attribute.to_string(), MissingReason::Member, None)
            })
        }
        "batch" => batch(value, args, budget)?,
        "slice" => slice(value, args, budget)?,
        "chain" => {
            let mut items = all(value, budget)?;
            for more in &args.positional {
                items.extend(all(more, budget)?);
            }
            Value::list(items)?
        }
        "zip" => zip(value, args, budget)?,
        _ => return Ok(None),
    }))
}

fn edge<'a>(name: &str, item: Option<Value<'a>>) -> Value<'a> {
    item.unwrap_or_else(|| {
        member::missing_member(format!("{name} item"), MissingReason::Empty, None)
    })
}

fn join<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [separator, attribute] = bind("join", args, ["d", "attribute"], 0)?;
    let separator = match &separator {
        Some(separator) => show::to_str(separator, budget)?,
        None => String::new(),
    };
    let mut parts = Vec::new();
    for item in all(value, budget)? {
        let item = match &attribute {
            Some(attribute) => super::pick::lookup(&item, attribute)?,
            None => item,
        };
        parts.push(match item {
            Value::Str(text) => text,
            other => Text::Own(show::to_str(&other, budget)?.into()),
        });
    }
    Ok(Value::str(operate::join(&separator, &parts, budget)?))
}

fn reverse<'a>(value: &Value<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    if let Value::Str(_) = value {
        let bounds = index::Bounds {
            step: Some(Value::Int(-1)),
            ..index::Bounds::default()
        };
        return index::slice(value, &bounds, budget);
    }
    let mut items = all(value, budget)?;
    items.reverse();
    Value::list(items)
}

/// Splits items into rows of `linecount`; fills up the last one if `fill_with` is given.
fn batch<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [count, fill] = bind("batch", args, ["linecount", "fill_with"], 1)?;
    let count = usize::try_from(number(count, 1)?).unwrap_or(0);
    if count == 0 {
        return Err(Fault::other("a row needs at least one item"));
    }
    let items = all(value, budget)?;
    let mut rows = Vec::new();
    for row in items.chunks(count) {
        let mut row = row.to_vec();
        if let Some(fill) = &fill
            && !matches!(fill, Value::None)
        {
            budget.items(count - row.len())?;
            row.resize(count, fill.clone());
        }
        rows.push(Value::list(row)?);
    }
    Value::list(rows)
}

/// Splits items into `slices` columns; the first ones are longer by one.
fn slice<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [count, fill] = bind("slice", args, ["slices", "fill_with"], 1)?;
    let count = usize::try_from(number(count, 1)?).unwrap_or(0);
    if count == 0 {
        return Err(Fault::other("integer division or modulo by zero"));
    }
    budget.items(count)?;
    let items = all(value, budget)?;
    let (each, longer) = (items.len() / count, items.len() % count);
    let mut columns = Vec::with_capacity(count);
    let mut rest = items.as_slice();
    for at in 0..count {
        let (column, tail) = rest.split_at(each + usize::from(at < longer));
        let mut column = column.to_vec();
        if let Some(fill) = &fill
            && !matches!(fill, Value::None)
            && at >= longer
        {
            column.push(fill.clone());
        }
        columns.push(Value::list(column)?);
        rest = tail;
    }
    Value::list(columns)
}

fn zip<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let mut lists = vec![all(value, budget)?];
    for more in &args.positional {
        lists.push(all(more, budget)?);
    }
    let len = lists.iter().map(Vec::len).min().unwrap_or(0);
    budget.items(len.saturating_mul(lists.len()))?;
    let row = |at: usize| Value::tuple(lists.iter().map(|list| list[at].clone()).collect());
    Value::list((0..len).map(row).collect::<Outcome<_>>()?)
}

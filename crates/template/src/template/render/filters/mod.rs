//! The filters of Jinja2, and a few more from minijinja.
//!
//! Filters that depend on a locale, on randomness or on HTML beyond escaping are not supported. A filter
//! never changes a value; it returns a new one.

mod convert;
mod items;
mod markup;
mod pick;
mod text;

use deft_values::args::{self, Args};
use deft_values::budget::Budget;
use deft_values::table::Table;
use deft_values::{Fault, Outcome};
use deft_values::{Value, iterate};

/// Applies a filter.
pub(in crate::template) fn apply<'a>(
    name: &str,
    value: Value<'a>,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    budget.spend(1)?;
    if let "default" | "d" = name {
        return default(value, args);
    }
    value.usable()?;
    for arg in args
        .positional
        .iter()
        .chain(args.named.iter().map(|(_, value)| value))
    {
        arg.usable()?;
    }
    let found = match text::apply(name, &value, &args, budget)? {
        Some(found) => Some(found),
        None => match convert::apply(name, &value, &args, budget)? {
            Some(found) => Some(found),
            None => match items::apply(name, &value, &args, budget)? {
                Some(found) => Some(found),
                None => pick::apply(name, &value, &args, budget)?,
            },
        },
    };
    found.ok_or_else(|| Fault::unsupported_python(format!("the filter `{name}`")))
}

/// `default(fallback, boolean)`: the only filter that accepts missing values.
fn default<'a>(value: Value<'a>, args: Args<'a>) -> Outcome<Value<'a>> {
    if let Value::Secret(_) | Value::Secrets = value {
        return Err(Fault::secret());
    }
    let [fallback, boolean] = args.bind("default", ["default_value", "boolean"], 0)?;
    let boolean = boolean.map_or(Ok(false), |boolean| boolean.truth())?;
    let gone = matches!(value, Value::Undefined(_)) || (boolean && !value.truth()?);
    Ok(if gone {
        fallback.unwrap_or(Value::str(""))
    } else {
        value
    })
}

/// The function `range`.
pub(super) fn range(args: Args<'_>) -> Outcome<Value<'_>> {
    let values = args.take_positional("range")?;
    let bounds: Vec<i64> = values.iter().map(args::size).collect::<Outcome<_>>()?;
    match bounds[..] {
        [end] => Ok(Value::Range(0, end, 1)),
        [start, end] => Ok(Value::Range(start, end, 1)),
        [_, _, 0] => Err(Fault::other("range() arg 3 must not be zero")),
        [start, end, step] => Ok(Value::Range(start, end, step)),
        _ => Err(Fault::type_error("range expected 1 to 3 arguments")),
    }
}

/// The function `dict`.
pub(super) fn dict(mut args: Args<'_>) -> Outcome<Value<'_>> {
    let named = std::mem::take(&mut args.named);
    let [source] = args.bind("dict", ["/"], 0)?;
    let mut table = Table::default();
    match source {
        None => {}
        Some(Value::Dict(dict)) => {
            for (key, value) in dict.iter() {
                table.insert(key, value)?;
            }
        }
        Some(other) => {
            other.usable()?;
            return Err(Fault::unsupported_python(
                "`dict` on anything but a mapping",
            ));
        }
    }
    for (name, value) in named {
        table.insert(Value::Str(name), value)?;
    }
    Ok(table.finish())
}

/// Binds the arguments after the input.
fn bind<'a, const N: usize>(
    name: &str,
    args: &Args<'a>,
    params: [&str; N],
    required: usize,
) -> Outcome<[Option<Value<'a>>; N]> {
    args.clone().bind(name, params, required)
}

fn flag(value: Option<Value<'_>>) -> Outcome<bool> {
    value.map_or(Ok(false), |value| value.truth())
}

fn number(value: Option<Value<'_>>, otherwise: i64) -> Outcome<i64> {
    value.map_or(Ok(otherwise), |value| args::size(&value))
}

fn all<'a>(value: &Value<'a>, budget: &Budget) -> Outcome<Vec<Value<'a>>> {
    iterate::items(value, budget)
}

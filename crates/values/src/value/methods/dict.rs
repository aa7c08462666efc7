//! Methods of dicts.
//!
//! `pop`, `update` and the like are not supported, because values are immutable.

use crate::fault::Outcome;
use crate::value::args::Args;
use crate::value::budget::Budget;
use crate::value::{Dict, Kind, Seq, Value};

pub(super) fn call<'a>(
    dict: &Dict<'a>,
    name: &str,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    Ok(Some(match name {
        "get" => {
            let [key, otherwise] = args.bind(name, ["/", "/"], 1)?;
            let found = match key {
                Some(key) => dict.get(&key)?,
                None => None,
            };
            found.or(otherwise).unwrap_or(Value::None)
        }
        "keys" | "values" | "items" => {
            args.none(name)?;
            budget.items(dict.len())?;
            view(dict, name)?
        }
        "copy" => {
            args.none(name)?;
            Value::Dict(dict.clone())
        }
        _ => return Ok(None),
    }))
}

fn view<'a>(dict: &Dict<'a>, name: &str) -> Outcome<Value<'a>> {
    let (kind, items) = match name {
        "keys" => (Kind::DictKeys, dict.keys().collect()),
        "values" => (Kind::DictValues, dict.values().collect()),
        _ => {
            let pairs: Outcome<Vec<_>> = dict
                .iter()
                .map(|(key, value)| Value::tuple(vec![key, value]))
                .collect();
            (Kind::DictItems, pairs?)
        }
    };
    Ok(Value::View(kind, Seq::own(items)?))
}

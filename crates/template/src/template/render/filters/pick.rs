//! Filters that process every item: `map`, `select`, `sort`, `groupby`, `sum`, …

use deft_values::args::{self, Args};
use deft_values::ast::BinaryOp;
use deft_values::budget::Budget;
use deft_values::compare::{self, Order, compare_order};
use deft_values::sort::sort;
use deft_values::table::Set;
use deft_values::{Fault, Outcome};
use deft_values::{MissingReason, Value, methods, operate};

use super::super::tests;
use super::{all, bind, flag};
use crate::template::render::member;

pub(super) fn apply<'a>(
    name: &str,
    value: &Value<'a>,
    args: &Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    let per_item = matches!(
        name,
        "map" | "select" | "reject" | "selectattr" | "rejectattr"
    );
    if per_item && !value.truth()? {
        // As in Jinja2, none and false count as an empty list here.
        return Value::list(Vec::new()).map(Some);
    }
    Ok(Some(match name {
        "map" => map(value, args.clone(), budget)?,
        "select" | "reject" => choose(name, value, args.clone(), None, budget)?,
        "selectattr" | "rejectattr" => {
            let mut args = args.clone();
            if args.positional.is_empty() {
                return Err(Fault::type_error(format!("`{name}` needs an attribute")));
            }
            let attribute = args.positional.remove(0);
            choose(name, value, args, Some(&attribute), budget)?
        }
        "sort" => sort_values(value, args, budget)?,
        "dictsort" => dictsort(value, args, budget)?,
        "unique" => unique(value, args, budget)?,
        "min" | "max" => extreme(name, value, args, budget)?,
        "sum" => sum(value, args, budget)?,
        "groupby" => groupby(value, args, budget)?,
        _ => return Ok(None),
    }))
}

/// Looks up `attribute="a.b"` or `attribute=0` in an item.
pub(super) fn lookup<'a>(item: &Value<'a>, attribute: &Value<'a>) -> Outcome<Value<'a>> {
    match attribute {
        Value::Str(path) => member::path(item, path),
        Value::Int(at) => member::path(item, &at.to_string()),
        _ => Err(Fault::type_error("an attribute must be text or an integer")),
    }
}

fn optional<'a>(item: &Value<'a>, attribute: Option<&Value<'a>>) -> Outcome<Value<'a>> {
    match attribute {
        None | Some(Value::None) => Ok(item.clone()),
        Some(attribute) => lookup(item, attribute),
    }
}

fn map<'a>(value: &Value<'a>, mut args: Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let items = all(value, budget)?;
    if let Some(attribute) = args.take("attribute") {
        let default = args.take("default");
        let one = |item: &Value<'a>| match (lookup(item, &attribute)?, &default) {
            (Value::Undefined(_), Some(default)) => Ok(default.clone()),
            (found, _) => Ok(found),
        };
        return Value::list(items.iter().map(one).collect::<Outcome<_>>()?);
    }
    if args.positional.is_empty() {
        return Err(Fault::type_error("`map` needs a filter or an attribute"));
    }
    let filter = args.positional.remove(0);
    let filter = args::text(&filter, "the filter")?;
    // A nested filter counts as a level, because it may be `map` again.
    budget.enter_call()?;
    let mapped = items
        .into_iter()
        .map(|item| super::apply(filter, item, args.clone(), budget));
    let mapped = mapped.collect::<Outcome<_>>();
    budget.leave_call();
    Value::list(mapped?)
}

fn choose<'a>(
    name: &str,
    value: &Value<'a>,
    mut args: Args<'a>,
    attribute: Option<&Value<'a>>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    let keep = name.starts_with("select");
    let named = !args.positional.is_empty();
    let test = named.then(|| args.positional.remove(0));
    let mut kept = Vec::new();
    for item in all(value, budget)? {
        budget.spend(1)?;
        let looked = optional(&item, attribute)?;
        let passes = match &test {
            Some(test) => {
                let test = args::text(test, "the test")?;
                tests::apply(test, &looked, args.clone(), budget)?
            }
            None => looked.truth()?,
        };
        if passes == keep {
            kept.push(item);
        }
    }
    Value::list(kept)
}

/// Folds text to lower case unless the comparison is case-sensitive.
fn fold<'a>(value: Value<'a>, case_sensitive: bool, budget: &Budget) -> Outcome<Value<'a>> {
    match value {
        Value::Str(_) if !case_sensitive => methods::call(&value, "lower", Args::default(), budget),
        other => Ok(other),
    }
}

fn sort_values<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let params = ["reverse", "case_sensitive", "attribute"];
    let [reverse, case, attribute] = bind("sort", args, params, 0)?;
    let (reverse, case) = (flag(reverse)?, flag(case)?);
    let mut keyed = Vec::new();
    for item in all(value, budget)? {
        keyed.push((sort_key(&item, attribute.as_ref(), case, budget)?, item));
    }
    let sorted = sort(keyed, reverse, budget)?;
    Value::list(sorted.into_iter().map(|(_, item)| item).collect())
}

/// Returns the key of an item. Several attributes, given as `"a,b"`, are compared in order.
fn sort_key<'a>(
    item: &Value<'a>,
    attribute: Option<&Value<'a>>,
    case: bool,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    let Some(Value::Str(paths)) = attribute else {
        return fold(optional(item, attribute)?, case, budget);
    };
    let mut keys = Vec::new();
    for path in paths.split(',') {
        let found = member::path(item, path)?;
        found.usable()?;
        keys.push(fold(found, case, budget)?);
    }
    Value::list(keys)
}

fn dictsort<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [case, by, reverse] = bind("dictsort", args, ["case_sensitive", "by", "reverse"], 0)?;
    let (case, reverse) = (flag(case)?, flag(reverse)?);
    let by_value = match &by {
        None => false,
        Some(by) => match &**args::text(by, "`by`")? {
            "key" => false,
            "value" => true,
            _ => {
                return Err(Fault::other(
                    "you can only sort by either \"key\" or \"value\"",
                ));
            }
        },
    };
    let Value::Dict(dict) = value else {
        return Err(Fault::type_error("`dictsort` needs a mapping"));
    };
    budget.items(3 * dict.len())?;
    let mut keyed = Vec::new();
    for (key, value) in dict.iter() {
        let rank = if by_value { value.clone() } else { key.clone() };
        keyed.push((fold(rank, case, budget)?, Value::tuple(vec![key, value])?));
    }
    let sorted = sort(keyed, reverse, budget)?;
    Value::list(sorted.into_iter().map(|(_, pair)| pair).collect())
}

fn unique<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [case, attribute] = bind("unique", args, ["case_sensitive", "attribute"], 0)?;
    let case = flag(case)?;
    let mut seen = Set::default();
    let mut kept = Vec::new();
    for item in all(value, budget)? {
        let key = fold(optional(&item, attribute.as_ref())?, case, budget)?;
        if !seen.contains(&key)? {
            seen.insert(key)?;
            kept.push(item);
        }
    }
    Value::list(kept)
}

fn extreme<'a>(
    name: &str,
    value: &Value<'a>,
    args: &Args<'a>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    let [case, attribute] = bind(name, args, ["case_sensitive", "attribute"], 0)?;
    let case = flag(case)?;
    let order = if name == "min" {
        Order::Less
    } else {
        Order::Greater
    };
    let mut best: Option<(Value<'a>, Value<'a>)> = None;
    for item in all(value, budget)? {
        let rank = fold(optional(&item, attribute.as_ref())?, case, budget)?;
        let better = match &best {
            Some((leader, _)) => compare_order(order, &rank, leader, budget)?,
            None => true,
        };
        if better {
            best = Some((rank, item));
        }
    }
    match best {
        Some((_, item)) => Ok(item),
        None => Ok(member::missing_member(
            format!("{name}imum"),
            MissingReason::Empty,
            None,
        )),
    }
}

fn sum<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [attribute, start] = bind("sum", args, ["attribute", "start"], 0)?;
    let mut total = start.unwrap_or(Value::Int(0));
    for item in all(value, budget)? {
        let item = optional(&item, attribute.as_ref())?;
        total = operate::binary(BinaryOp::Add, &total, &item, budget)?;
    }
    Ok(total)
}

/// Returns pairs of a value and the items that have it, sorted by value.
fn groupby<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let params = ["attribute", "default", "case_sensitive"];
    let [attribute, default, case] = bind("groupby", args, params, 1)?;
    let attribute = attribute.unwrap_or(Value::None);
    let case = flag(case)?;
    let mut keyed = Vec::new();
    for item in all(value, budget)? {
        let found = match (lookup(&item, &attribute)?, &default) {
            (Value::Undefined(_), Some(default)) => default.clone(),
            (found, _) => found,
        };
        found.usable()?;
        keyed.push((fold(found, case, budget)?, item));
    }
    let mut groups: Vec<(Value<'a>, Vec<Value<'a>>)> = Vec::new();
    for (key, item) in sort(keyed, false, budget)? {
        match groups.last_mut() {
            Some((last, items)) if compare::equal(last, &key, budget)? => items.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    let mut pairs = Vec::new();
    for (key, items) in groups {
        // The group is named after its first item, in the original case.
        let shown = match items.first() {
            Some(first) if !case => match lookup(first, &attribute)? {
                Value::Undefined(_) => key,
                own => own,
            },
            _ => key,
        };
        pairs.push(Value::tuple(vec![shown, Value::list(items)?])?);
    }
    Value::list(pairs)
}

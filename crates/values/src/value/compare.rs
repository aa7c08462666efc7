//! Equality, order, membership and identity of values.
//!
//! Comparing a secret or a missing value is an error.

use std::cmp::Ordering;
use std::rc::Rc;

use super::budget::Budget;
use super::number::{self, Number};
use super::{Dict, Kind, Seq, Set, Value, iterate};
use crate::fault::{Fault, Outcome};

/// Maximum depth of comparisons; deeper JSON is an error.
const MAX_DEPTH: usize = 250;

/// `a == b`.
pub fn equal<'a>(a: &Value<'a>, b: &Value<'a>, budget: &Budget) -> Outcome<bool> {
    equal_at(a, b, budget, 0)
}

fn equal_at<'a>(a: &Value<'a>, b: &Value<'a>, budget: &Budget, depth: usize) -> Outcome<bool> {
    if let (Some(a), Some(b)) = (Number::from_value(a), Number::from_value(b)) {
        return Ok(number::compare(a, b) == Some(Ordering::Equal));
    }
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => {
            budget.scan(a.len().min(b.len()))?;
            Ok(a == b)
        }
        (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => Ok(true),
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
            equal_items(a, b, budget, depth)
        }
        (Value::Dict(a), Value::Dict(b)) => equal_dicts(a, b, budget, depth),
        (Value::Set(a), Value::Set(b)) => {
            Ok(a.items.len() == b.items.len() && subset(&a.items, b, budget)?)
        }
        (Value::Range(..), Value::Range(..)) => {
            let (a, b) = (iterate::items(a, budget)?, iterate::items(b, budget)?);
            equal_items(&Seq::own(a)?, &Seq::own(b)?, budget, depth)
        }
        (Value::Type(a), Value::Type(b)) => Ok(a == b),
        (Value::Func(a), Value::Func(b)) if Rc::ptr_eq(a, b) => Ok(true),
        (Value::Iter(a), Value::Iter(b)) => Ok(Rc::ptr_eq(a, b)),
        _ => equal_rest(a, b, budget),
    }
}

fn equal_rest<'a>(a: &Value<'a>, b: &Value<'a>, budget: &Budget) -> Outcome<bool> {
    a.usable()?;
    b.usable()?;
    match (a, b) {
        (Value::Func(_), Value::Func(_)) => Err(Fault::unsupported_python("comparing functions")),
        (Value::View(Kind::DictValues, _), _) | (_, Value::View(Kind::DictValues, _)) => Ok(false),
        (Value::View(_, items), Value::View(..) | Value::Set(_)) => {
            let other = Set::collect(iterate::items(b, budget)?)?;
            Ok(items.len() == other.items.len() && subset(&items.to_vec(), &other, budget)?)
        }
        (Value::Set(_), Value::View(..)) => equal_rest(b, a, budget),
        _ => Ok(false),
    }
}

fn down(depth: usize, budget: &Budget) -> Outcome<usize> {
    budget.spend(1)?;
    if depth > MAX_DEPTH {
        return Err(Fault::limit("values are nested too deeply to be compared"));
    }
    Ok(depth + 1)
}

fn equal_items<'a>(a: &Seq<'a>, b: &Seq<'a>, budget: &Budget, depth: usize) -> Outcome<bool> {
    let depth = down(depth, budget)?;
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b.iter()) {
        budget.spend(1)?;
        if !equal_at(&a, &b, budget, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_dicts<'a>(a: &Dict<'a>, b: &Dict<'a>, budget: &Budget, depth: usize) -> Outcome<bool> {
    let depth = down(depth, budget)?;
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a.iter() {
        budget.spend(1)?;
        match b.get(&key)? {
            Some(other) if equal_at(&value, &other, budget, depth)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Whether every item is in the set.
pub(crate) fn subset<'a>(items: &[Value<'a>], set: &Set<'a>, budget: &Budget) -> Outcome<bool> {
    budget.spend(items.len())?;
    for item in items {
        if !set.contains(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The four ordering operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
}

impl Order {
    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Order::Less => ordering.is_lt(),
            Order::LessEqual => ordering.is_le(),
            Order::Greater => ordering.is_gt(),
            Order::GreaterEqual => ordering.is_ge(),
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Order::Less => "<",
            Order::LessEqual => "<=",
            Order::Greater => ">",
            Order::GreaterEqual => ">=",
        }
    }
}

/// `a < b`, `a <= b`, `a > b`, `a >= b`.
pub fn compare_order<'a>(
    order: Order,
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &Budget,
) -> Outcome<bool> {
    ordered_at(order, a, b, budget, 0)
}

fn ordered_at<'a>(
    order: Order,
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &Budget,
    depth: usize,
) -> Outcome<bool> {
    if let (Some(a), Some(b)) = (Number::from_value(a), Number::from_value(b)) {
        return Ok(number::compare(a, b).is_some_and(|ordering| order.holds(ordering)));
    }
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => {
            budget.scan(a.len().min(b.len()))?;
            Ok(order.holds((**a).cmp(&**b)))
        }
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
            ordered_items(order, a, b, budget, depth)
        }
        (Value::Set(a), Value::Set(b)) => ordered_sets(order, a, b, budget),
        (Value::View(..), Value::View(..) | Value::Set(_)) | (Value::Set(_), Value::View(..)) => {
            Err(Fault::unsupported_python("comparing views of a dict"))
        }
        _ => {
            a.usable()?;
            b.usable()?;
            Err(Fault::type_error(format!(
                "'{}' not supported between instances of '{}' and '{}'",
                order.sign(),
                a.type_name(),
                b.type_name()
            )))
        }
    }
}

/// Compares sequences; the first items that differ decide.
fn ordered_items<'a>(
    order: Order,
    a: &Seq<'a>,
    b: &Seq<'a>,
    budget: &Budget,
    depth: usize,
) -> Outcome<bool> {
    let depth = down(depth, budget)?;
    for (left, right) in a.iter().zip(b.iter()) {
        budget.spend(1)?;
        if !equal_at(&left, &right, budget, depth)? {
            return ordered_at(order, &left, &right, budget, depth);
        }
    }
    Ok(order.holds(a.len().cmp(&b.len())))
}

fn ordered_sets<'a>(order: Order, a: &Set<'a>, b: &Set<'a>, budget: &Budget) -> Outcome<bool> {
    let proper = a.items.len() != b.items.len();
    match order {
        Order::LessEqual => subset(&a.items, b, budget),
        Order::Less => Ok(proper && subset(&a.items, b, budget)?),
        Order::GreaterEqual => subset(&b.items, a, budget),
        Order::Greater => Ok(proper && subset(&b.items, a, budget)?),
    }
}

/// `item in container`, for containers other than iterators.
pub fn contains<'a>(container: &Value<'a>, item: &Value<'a>, budget: &Budget) -> Outcome<bool> {
    match container {
        Value::Str(text) => {
            let Value::Str(part) = item else {
                item.usable()?;
                let name = item.type_name();
                return Err(Fault::type_error(format!(
                    "'in <string>' requires string as left operand, not {name}"
                )));
            };
            budget.scan(text.len())?;
            Ok(text.contains(&**part))
        }
        Value::Dict(dict) => Ok(dict.get(item)?.is_some()),
        Value::Set(set) => set.contains(item),
        Value::Range(start, end, step) => Ok(in_range(item, (*start, *end, *step))),
        Value::List(seq) | Value::Tuple(seq) | Value::View(_, seq) => {
            item.usable()?;
            for found in seq.iter() {
                budget.spend(1)?;
                if same(&found, item) || equal(&found, item, budget)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => {
            container.usable()?;
            let name = container.type_name();
            Err(Fault::type_error(format!(
                "argument of type '{name}' is not iterable"
            )))
        }
    }
}

fn in_range(item: &Value<'_>, (start, end, step): (i64, i64, i64)) -> bool {
    let int = match Number::from_value(item) {
        Some(Number::Int(int)) => Some(int),
        Some(Number::Float(float)) => number::integral(float),
        None => None,
    };
    let (start, end, step) = (i128::from(start), i128::from(end), i128::from(step));
    int.is_some_and(|int| {
        let inside = if step > 0 {
            (start..end).contains(&int)
        } else {
            int <= start && int > end
        };
        inside && (int - start) % step == 0
    })
}

/// Whether both are certainly the same object.
fn same<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    match (a, b) {
        (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => a.same(b),
        (Value::Dict(a), Value::Dict(b)) => a.same(b),
        (Value::Set(a), Value::Set(b)) => Rc::ptr_eq(a, b),
        (Value::Func(a), Value::Func(b)) => Rc::ptr_eq(a, b),
        (Value::Iter(a), Value::Iter(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// `a is b`. Fails where Python's answer depends on how it shares objects.
pub fn identical<'a>(a: &Value<'a>, b: &Value<'a>, budget: &Budget) -> Outcome<bool> {
    a.usable()?;
    b.usable()?;
    if same(a, b) {
        return Ok(true);
    }
    let unique = |kind| {
        matches!(
            kind,
            Kind::None | Kind::Bool | Kind::Ellipsis | Kind::Type | Kind::Iterator
        )
    };
    if a.kind() != b.kind() || unique(a.kind()) || !equal(a, b, budget)? {
        return Ok(false);
    }
    Err(Fault::unsupported_python("`is` between equal values")
        .with_hint("use `==` to compare values"))
}

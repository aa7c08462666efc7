//! Arithmetic and bit operators on all kinds of values.
//!
//! Large results consume budget before they are created. Not here: short-circuit operators and comparisons.

use super::budget::Budget;
use super::number::{self, Number};
use super::{Dict, Kind, Seq, Set, Text, Value, args, iterate, percent, table::Table};
use crate::ast::BinaryOp;
use crate::fault::{Fault, Outcome};

/// `a op b`.
pub fn binary<'a>(
    op: BinaryOp,
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    if let (Some(x), Some(y)) = (Number::from_value(a), Number::from_value(b)) {
        return numbers(op, x, y, (a, b));
    }
    a.usable()?;
    b.usable()?;
    let result = match op {
        BinaryOp::Add => concat(a, b, budget)?,
        BinaryOp::Multiply => repeat(a, b, budget)?,
        BinaryOp::Modulo => match a {
            Value::Str(text) => Some(Value::str(percent::format(text, b, budget)?)),
            _ => None,
        },
        BinaryOp::BitOr | BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::Subtract => {
            tables(op, a, b, budget)?
        }
        _ => None,
    };
    result.ok_or_else(|| mismatch(op, a, b))
}

fn numbers<'a>(
    op: BinaryOp,
    x: Number,
    y: Number,
    (a, b): (&Value<'a>, &Value<'a>),
) -> Outcome<Value<'a>> {
    match op {
        BinaryOp::Add => number::add(x, y),
        BinaryOp::Subtract => number::subtract(x, y),
        BinaryOp::Multiply => number::multiply(x, y),
        BinaryOp::Divide => number::divide(x, y),
        BinaryOp::FloorDivide => number::floor_divide(x, y),
        BinaryOp::Modulo => number::modulo(x, y),
        BinaryOp::Power => number::power(x, y),
        BinaryOp::MatrixMultiply => Err(mismatch(op, a, b)),
        BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::BitAnd
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => match (x, y) {
            (Number::Int(x), Number::Int(y)) => bits(op, x, y, (a, b)),
            _ => Err(mismatch(op, a, b)),
        },
    }
}

fn bits<'a>(
    op: BinaryOp,
    x: i128,
    y: i128,
    (a, b): (&Value<'a>, &Value<'a>),
) -> Outcome<Value<'a>> {
    let both = matches!((a, b), (Value::Bool(_), Value::Bool(_)));
    let int = match op {
        BinaryOp::BitOr => x | y,
        BinaryOp::BitXor => x ^ y,
        BinaryOp::BitAnd => x & y,
        _ => return shift(op, x, y),
    };
    Ok(if both {
        Value::Bool(int != 0)
    } else {
        Value::Int(int)
    })
}

fn shift<'a>(op: BinaryOp, x: i128, y: i128) -> Outcome<Value<'a>> {
    if y < 0 {
        return Err(Fault::other("negative shift count"));
    }
    if op == BinaryOp::ShiftRight {
        let by = u32::try_from(y).unwrap_or(u32::MAX).min(127);
        return Ok(Value::Int(x >> by));
    }
    if x == 0 {
        return Ok(Value::Int(0));
    }
    let factor = u32::try_from(y)
        .ok()
        .filter(|by| *by < 127)
        .map(|by| 1_i128 << by);
    let shifted = factor.and_then(|factor| x.checked_mul(factor));
    shifted.map(Value::Int).ok_or_else(number::too_big)
}

fn concat<'a>(a: &Value<'a>, b: &Value<'a>, budget: &Budget) -> Outcome<Option<Value<'a>>> {
    Ok(Some(match (a, b) {
        (Value::Str(a), Value::Str(b)) => {
            budget.make(a.len() + b.len())?;
            Value::str(format!("{}{}", &**a, &**b))
        }
        (Value::Str(_), _) => {
            let name = b.type_name();
            return Err(Fault::type_error(format!(
                "can only concatenate str (not \"{name}\") to str"
            )));
        }
        (Value::List(a), Value::List(b)) => Value::list(join_sequences(a, b, budget)?)?,
        (Value::Tuple(a), Value::Tuple(b)) => Value::tuple(join_sequences(a, b, budget)?)?,
        (Value::List(_) | Value::Tuple(_), _) => {
            let (a, b) = (a.type_name(), b.type_name());
            return Err(Fault::type_error(format!(
                "can only concatenate {a} (not \"{b}\") to {a}"
            )));
        }
        _ => return Ok(None),
    }))
}

fn join_sequences<'a>(a: &Seq<'a>, b: &Seq<'a>, budget: &Budget) -> Outcome<Vec<Value<'a>>> {
    budget.items(a.len() + b.len())?;
    Ok(a.iter().chain(b.iter()).collect())
}

fn repeat<'a>(a: &Value<'a>, b: &Value<'a>, budget: &Budget) -> Outcome<Option<Value<'a>>> {
    let (value, times) = match (a, b) {
        (Value::Int(_) | Value::Bool(_), _) => (b, a),
        (_, Value::Int(_) | Value::Bool(_)) => (a, b),
        _ => return Ok(None),
    };
    let times = usize::try_from(args::size(times)?).unwrap_or(0);
    Ok(Some(match value {
        Value::Str(text) => {
            budget.make(text.len().saturating_mul(times))?;
            Value::str(text.repeat(times))
        }
        Value::List(seq) => Value::list(repeat_sequence(seq, times, budget)?)?,
        Value::Tuple(seq) => Value::tuple(repeat_sequence(seq, times, budget)?)?,
        _ => return Ok(None),
    }))
}

fn repeat_sequence<'a>(seq: &Seq<'a>, times: usize, budget: &Budget) -> Outcome<Vec<Value<'a>>> {
    let len = seq.len();
    budget.items(len.saturating_mul(times))?;
    // Repeating an empty sequence must not loop, however large `times` is.
    let rounds = if len == 0 { 0 } else { times };
    Ok((0..rounds).flat_map(|_| seq.iter()).collect())
}

/// `|` on dicts, and all four operators on sets.
fn tables<'a>(
    op: BinaryOp,
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    let setlike = |value: &Value<'a>| {
        matches!(
            value,
            Value::Set(_) | Value::View(Kind::DictKeys | Kind::DictItems, _)
        )
    };
    match (a, b) {
        (Value::Dict(a), Value::Dict(b)) if op == BinaryOp::BitOr => merge(a, b, budget).map(Some),
        _ if setlike(a) && setlike(b) => sets(op, a, b, budget).map(Some),
        (Value::View(..), _) | (_, Value::View(..)) => {
            Err(Fault::unsupported_python("a view of a dict in this place"))
        }
        _ => Ok(None),
    }
}

fn merge<'a>(a: &Dict<'a>, b: &Dict<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    budget.items(2 * (a.len() + b.len()))?;
    let mut table = Table::default();
    for (key, value) in a.iter().chain(b.iter()) {
        table.insert(key, value)?;
    }
    Ok(table.finish())
}

/// Union, intersection, difference and symmetric difference.
pub(crate) fn sets<'a>(
    op: BinaryOp,
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    let left = Set::collect(iterate::items(a, budget)?)?;
    let right = Set::collect(iterate::items(b, budget)?)?;
    let mut result = Set::collect([])?;
    for item in &left.items {
        let keep = match op {
            BinaryOp::BitOr => true,
            BinaryOp::BitAnd => right.contains(item)?,
            _ => !right.contains(item)?,
        };
        if keep {
            result.insert(item.clone())?;
        }
    }
    if matches!(op, BinaryOp::BitOr | BinaryOp::BitXor) {
        for item in &right.items {
            if !left.contains(item)? {
                result.insert(item.clone())?;
            }
        }
    }
    Ok(result.finish())
}

#[cold]
fn mismatch<'a>(op: BinaryOp, a: &Value<'a>, b: &Value<'a>) -> Fault {
    if let (Value::Type(_), BinaryOp::BitOr, _) | (_, BinaryOp::BitOr, Value::Type(_)) = (a, op, b)
    {
        return Fault::unsupported_python("a union of types");
    }
    let times = matches!(op, BinaryOp::Multiply);
    let sequence =
        |value: &Value<'_>| matches!(value, Value::Str(_) | Value::List(_) | Value::Tuple(_));
    if times && (sequence(a) || sequence(b)) {
        let other = if sequence(a) { b } else { a };
        return Fault::type_error(format!(
            "can't multiply sequence by non-int of type '{}'",
            other.type_name()
        ));
    }
    Fault::type_error(format!(
        "unsupported operand type(s) for {}: '{}' and '{}'",
        sign(op),
        a.type_name(),
        b.type_name()
    ))
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::BitAnd => "&",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::FloorDivide => "//",
        BinaryOp::Modulo => "%",
        BinaryOp::MatrixMultiply => "@",
        BinaryOp::Power => "** or pow()",
    }
}

/// `-a`.
pub fn negate<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    match Number::from_value(value) {
        Some(Number::Int(int)) => int
            .checked_neg()
            .map(Value::Int)
            .ok_or_else(number::too_big),
        Some(Number::Float(float)) => Ok(Value::Float(-float)),
        None => Err(bad_operand("-", value)),
    }
}

/// `+a`.
pub fn plus<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    match Number::from_value(value) {
        Some(Number::Int(int)) => Ok(Value::Int(int)),
        Some(Number::Float(float)) => Ok(Value::Float(float)),
        None => Err(bad_operand("+", value)),
    }
}

/// `~a`.
pub fn invert<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    match Number::from_value(value) {
        Some(Number::Int(int)) => Ok(Value::Int(!int)),
        _ => Err(bad_operand("~", value)),
    }
}

#[cold]
fn bad_operand(sign: &str, value: &Value<'_>) -> Fault {
    if let Err(fault) = value.usable() {
        return fault;
    }
    let name = value.type_name();
    Fault::type_error(format!("bad operand type for unary {sign}: '{name}'"))
}

/// Joins texts with a separator.
pub fn join(separator: &str, parts: &[Text<'_>], budget: &Budget) -> Outcome<String> {
    let texts: usize = parts.iter().map(|part| part.len()).sum();
    let gaps = separator
        .len()
        .saturating_mul(parts.len().saturating_sub(1));
    budget.make(texts.saturating_add(gaps))?;
    let mut out = String::with_capacity(texts + gaps);
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        out.push_str(part);
    }
    Ok(out)
}

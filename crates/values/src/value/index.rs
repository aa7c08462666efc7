//! Items and slices of values.
//!
//! Not here: attributes, whose meaning differs between conditions and templates.

use super::args;
use super::budget::Budget;
use super::text::{byte_of, char_len};
use super::{Seq, Text, Value};
use crate::fault::{Fault, Outcome};

/// Returns the length of a range.
pub(crate) fn range_len(start: i64, end: i64, step: i64) -> usize {
    let (start, end, step) = (i128::from(start), i128::from(end), i128::from(step));
    let span = if step > 0 { end - start } else { start - end };
    if span <= 0 {
        return 0;
    }
    let step = step.abs().max(1);
    usize::try_from((span + step - 1) / step).unwrap_or(usize::MAX)
}

pub(crate) fn range_at<'a>(start: i64, step: i64, at: usize) -> Value<'a> {
    Value::Int(i128::from(start) + i128::from(step) * at as i128)
}

/// `value[index]`.
pub fn item<'a>(value: &Value<'a>, index: &Value<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    value.usable()?;
    index.usable()?;
    match value {
        Value::Dict(dict) => match dict.get(index)? {
            Some(found) => Ok(found),
            None => Err(no_key(index, budget)?),
        },
        Value::List(seq) => {
            resolve_index(seq.len(), index, "list").and_then(|at| present(seq.get(at), "list"))
        }
        Value::Tuple(seq) => {
            resolve_index(seq.len(), index, "tuple").and_then(|at| present(seq.get(at), "tuple"))
        }
        Value::Str(text) => character(text, index, budget),
        Value::Range(start, end, step) => {
            let len = range_len(*start, *end, *step);
            resolve_index(len, index, "range").map(|at| range_at(*start, *step, at))
        }
        _ => Err(Fault::type_error(format!(
            "'{}' object is not subscriptable",
            value.type_name()
        ))),
    }
}

#[cold]
fn no_key(index: &Value<'_>, budget: &Budget) -> Outcome<Fault> {
    let key = super::show::to_repr(index, budget)?;
    Ok(Fault::other(format!("the key `{key}` does not exist"))
        .with_hint("use `.get(…)` where a key may be missing"))
}

fn present<'a>(found: Option<Value<'a>>, what: &str) -> Outcome<Value<'a>> {
    found.ok_or_else(|| out_of_range(what))
}

#[cold]
fn out_of_range(what: &str) -> Fault {
    let what = if what == "str" { "string" } else { what };
    Fault::other(format!("{what} index out of range"))
}

/// Converts an index, which may count from the end, to a position.
fn resolve_index(len: usize, index: &Value<'_>, what: &str) -> Outcome<usize> {
    let (Value::Int(_) | Value::Bool(_)) = index else {
        let found = index.type_name();
        let wanted = match what {
            "str" => "string indices must be integers".to_owned(),
            _ => format!("{what} indices must be integers or slices"),
        };
        return Err(Fault::type_error(format!("{wanted}, not '{found}'")));
    };
    let index = args::int(index)?;
    let from = if index < 0 {
        index + len as i128
    } else {
        index
    };
    match usize::try_from(from) {
        Ok(at) if at < len => Ok(at),
        _ => Err(out_of_range(what)),
    }
}

fn character<'a>(text: &Text<'a>, index: &Value<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    budget.scan(text.len())?;
    let at = resolve_index(char_len(text), index, "str")?;
    let byte = byte_of(text, at);
    let width = text[byte..].chars().next().map_or(0, char::len_utf8);
    Ok(Value::Str(text.cut(byte..byte + width)))
}

/// The bounds of a slice as written.
#[derive(Clone, Default)]
pub struct Bounds<'a> {
    /// The first place; the beginning if it is missing.
    pub start: Option<Value<'a>>,
    /// The place behind the last; the end if it is missing.
    pub end: Option<Value<'a>>,
    /// The distance between places; 1 if it is missing.
    pub step: Option<Value<'a>>,
}

/// `value[start:end:step]`.
pub fn slice<'a>(value: &Value<'a>, bounds: &Bounds<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    value.usable()?;
    let bound = |value: &Option<Value<'a>>| match value {
        None | Some(Value::None) => Ok(None),
        Some(value @ (Value::Int(_) | Value::Bool(_))) => args::size(value).map(Some),
        Some(value) => {
            value.usable()?;
            Err(Fault::type_error(
                "slice indices must be integers or None or have an __index__ method",
            ))
        }
    };
    let (start, end) = (bound(&bounds.start)?, bound(&bounds.end)?);
    let step = bound(&bounds.step)?.unwrap_or(1);
    if step == 0 {
        return Err(Fault::other("slice step cannot be zero"));
    }
    match value {
        Value::Str(text) => text_slice(text, (start, end, step), budget),
        Value::List(seq) => Value::list(seq_slice(seq, (start, end, step), budget)?),
        Value::Tuple(seq) => Value::tuple(seq_slice(seq, (start, end, step), budget)?),
        Value::Range(..) => Err(Fault::unsupported_python("a slice of a range")),
        Value::Dict(_) => Err(Fault::type_error("unhashable type: 'slice'")),
        _ => Err(Fault::type_error(format!(
            "'{}' object is not subscriptable",
            value.type_name()
        ))),
    }
}

type RawBounds = (Option<i64>, Option<i64>, i64);

/// Yields the positions that a slice selects, in order.
fn places(len: usize, (start, end, step): RawBounds) -> impl Iterator<Item = usize> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clip = |bound: Option<i64>, otherwise: i64| match bound {
        None => otherwise,
        Some(bound) if bound < 0 => (bound + len).clamp(low, high),
        Some(bound) => bound.clamp(low, high),
    };
    let (from, to) = if step > 0 { (low, high) } else { (high, low) };
    let (start, end) = (clip(start, from), clip(end, to));
    let count = range_len(start, end, step);
    (0..count).filter_map(move |at| {
        let at = i64::try_from(at).ok()?;
        usize::try_from(start.checked_add(step.checked_mul(at)?)?).ok()
    })
}

fn seq_slice<'a>(seq: &Seq<'a>, bounds: RawBounds, budget: &Budget) -> Outcome<Vec<Value<'a>>> {
    let picked: Vec<_> = places(seq.len(), bounds).collect();
    budget.items(picked.len())?;
    Ok(picked.into_iter().filter_map(|at| seq.get(at)).collect())
}

fn text_slice<'a>(text: &Text<'a>, bounds: RawBounds, budget: &Budget) -> Outcome<Value<'a>> {
    budget.make(text.len())?;
    // Fast path for `[:n]` and `[m:n]`, which need not count all characters.
    if let (start, Some(end @ 0..), 1) = bounds
        && let Ok(start) = usize::try_from(start.unwrap_or(0))
    {
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        let (from, to) = (byte_of(text, start), byte_of(text, end));
        return Ok(Value::Str(text.cut(from..to.max(from))));
    }
    if bounds.2 == 1 {
        let mut picked = places(char_len(text), bounds);
        let Some(first) = picked.next() else {
            return Ok(Value::Str(Text::Ref("")));
        };
        let last = picked.last().unwrap_or(first);
        let (from, to) = (byte_of(text, first), byte_of(text, last + 1));
        return Ok(Value::Str(text.cut(from..to)));
    }
    let chars: Vec<char> = text.chars().collect();
    let picked: String = places(chars.len(), bounds).map(|at| chars[at]).collect();
    Ok(Value::str(picked))
}

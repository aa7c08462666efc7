//! Tables of methods and their dispatch.
//!
//! Only methods that do not change their object can be called. Those that do are in the tables too, so that
//! the error is "not supported" and not "no such method".

mod dict;
mod list;
mod number;
mod set;
mod text;
mod text_case;
mod text_split;

use super::args::Args;
use super::budget::Budget;
use super::{Kind, Value};
use crate::fault::{Fault, Outcome};

#[rustfmt::skip]
const STR: [&str; 47] = [
    "capitalize", "casefold", "center", "count", "encode", "endswith", "expandtabs", "find",
    "format", "format_map", "index", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit",
    "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "join",
    "ljust", "lower", "lstrip", "maketrans", "partition", "removeprefix", "removesuffix",
    "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split",
    "splitlines", "startswith", "strip", "swapcase", "title", "translate", "upper", "zfill",
];
#[rustfmt::skip]
const LIST: [&str; 11] = [
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
    "sort",
];
const TUPLE: [&str; 2] = ["count", "index"];
#[rustfmt::skip]
const DICT: [&str; 11] = [
    "clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update",
    "values",
];
#[rustfmt::skip]
const SET: [&str; 17] = [
    "add", "clear", "copy", "difference", "difference_update", "discard", "intersection",
    "intersection_update", "isdisjoint", "issubset", "issuperset", "pop", "remove",
    "symmetric_difference", "symmetric_difference_update", "union", "update",
];
#[rustfmt::skip]
const INT: [&str; 7] = [
    "as_integer_ratio", "bit_count", "bit_length", "conjugate", "from_bytes", "is_integer", "to_bytes",
];
const FLOAT: [&str; 5] = [
    "as_integer_ratio",
    "conjugate",
    "fromhex",
    "hex",
    "is_integer",
];
const RANGE: [&str; 2] = ["count", "index"];
const VIEW: [&str; 1] = ["isdisjoint"];

/// Returns the methods of a type, sorted.
fn methods_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Str => &STR,
        Kind::List => &LIST,
        Kind::Tuple => &TUPLE,
        Kind::Dict => &DICT,
        Kind::Set => &SET,
        Kind::Int | Kind::Bool => &INT,
        Kind::Float => &FLOAT,
        Kind::Range => &RANGE,
        Kind::DictKeys | Kind::DictItems => &VIEW,
        _ => &[],
    }
}

/// Looks up a method of a type; `int` got `is_integer` only after Python 3.11.
pub fn find(kind: Kind, name: &str) -> Option<&'static str> {
    let methods = methods_of(kind);
    let found = methods.iter().find(|method| **method == name)?;
    let later = matches!(kind, Kind::Int | Kind::Bool) && name == "is_integer";
    (!later).then_some(*found)
}

/// Calls a method that [`find`] has returned.
pub fn call<'a>(
    receiver: &Value<'a>,
    name: &str,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    budget.spend(1)?;
    let result = match receiver {
        Value::Str(text) => text::call(text, name, args, budget),
        Value::List(seq) | Value::Tuple(seq) => list::call(receiver, seq, name, args, budget),
        Value::Dict(dict) => dict::call(dict, name, args, budget),
        Value::Set(_) | Value::View(..) => set::call(receiver, name, args, budget),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => number::call(receiver, name, args),
        _ => Ok(None),
    };
    match result? {
        Some(value) => Ok(value),
        None => Err(unsupported_method(receiver, name)),
    }
}

#[cold]
fn unsupported_method(receiver: &Value<'_>, name: &str) -> Fault {
    Fault::unsupported_python(format!("the method `{name}` of '{}'", receiver.type_name()))
}

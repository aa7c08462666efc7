//! Python's values: what conditions and templates compute with.
//!
//! A [`Value`] borrows from JSON where it can. Operators, methods, formats and conversions are
//! functions over values, each of which pays from a [`budget`](budget::Budget); what goes wrong is a
//! [`Fault`] with Python's own words. The syntax tree ([`ast`]) is here because a generator is a
//! value, and holds the expression that it has yet to evaluate.
//!
//! This crate evaluates no expression, calls no function and knows no names: `deft-template` does.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "as in Python, an operation names the kinds it accepts and refuses all others, also new ones"
)]

pub mod ast;
mod fault;
mod value;

pub use fault::{EvalError, EvalKind, Fault, Outcome, clamp};
pub use value::{
    Dict, Func, Kind, MissingReason, MissingValue, Seq, Text, Value, args, budget, compare,
    convert, deeper, float, format, index, iterate, methods, number, operate, percent, show, sort,
    spec, table, text,
};

//! Python's values, for conditions and templates.
//!
//! Values from a scope are borrowed, so that reading a field of a large result copies nothing. All values
//! are immutable: methods that change their object are not supported. Not here: syntax trees and the origin
//! of values.

pub mod args;
pub mod budget;
pub mod compare;
pub mod convert;
pub mod float;
pub mod format;
mod func;
pub mod index;
pub mod iterate;
mod json;
mod kind;
pub mod methods;
pub mod number;
pub mod operate;
pub mod percent;
mod seq;
pub mod show;
pub mod sort;
pub mod spec;
pub mod table;
pub mod text;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use crate::fault::{Fault, Outcome};
pub use func::Func;
use iterate::Stream;
pub use kind::Kind;
pub use seq::Seq;
pub use table::Dict;
use table::Set;
pub use text::Text;

/// A value during evaluation.
#[derive(Clone)]
pub enum Value<'a> {
    /// A missing value; only in templates.
    Undefined(Rc<MissingValue>),
    /// `None`.
    None,
    /// `...`.
    Ellipsis,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Str(Text<'a>),
    /// A list.
    List(Seq<'a>),
    /// A tuple.
    Tuple(Seq<'a>),
    /// A mapping.
    Dict(Dict<'a>),
    /// A set.
    Set(Rc<Set<'a>>),
    /// `range(start, stop, step)`; the step is never zero.
    Range(i64, i64, i64),
    /// The result of `.keys()`, `.values()` or `.items()`, by kind.
    View(Kind, Seq<'a>),
    /// A type, such as `str`.
    Type(Kind),
    /// A function or method.
    Func(Rc<Func<'a>>),
    /// An iterator.
    Iter(Rc<RefCell<Stream<'a>>>),
    /// The name `secrets`.
    Secrets,
    /// A secret: its name and its placeholder.
    Secret(Rc<(String, String)>),
}

/// Why a value is missing, and where it was read.
#[derive(Debug)]
pub struct MissingValue {
    /// The name or path.
    pub path: String,
    /// Why it is missing.
    pub why: MissingReason,
    /// Where it was read; `None` for lookups of a filter.
    pub span: Option<Range<usize>>,
}

/// Why a value is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingReason {
    /// The scope does not define the name.
    Unknown,
    /// The scope defines the name, but has no value for it.
    Absent,
    /// The object has no such attribute or item.
    Member,
    /// No secret has the name.
    Secret,
    /// The list is empty.
    Empty,
}

impl MissingValue {
    /// Returns the error for using the missing value.
    pub(crate) fn fault(&self) -> Fault {
        let path = &self.path;
        let (message, hint) = match self.why {
            MissingReason::Unknown => (
                format!("`{path}` is undefined"),
                "give a fallback with `default(…)`".to_owned(),
            ),
            MissingReason::Absent => (
                format!("`{path}` has no value"),
                "the step was skipped or has not run; give a fallback with `default(…)`".to_owned(),
            ),
            MissingReason::Member => (
                format!("`{path}` does not exist"),
                "give a fallback with `default(…)`".to_owned(),
            ),
            MissingReason::Empty => (
                format!("the list is empty: no {path} item"),
                "give a fallback with `default(…)`".to_owned(),
            ),
            MissingReason::Secret => (
                format!("unknown secret `{path}`"),
                "declare it under `secrets:`".to_owned(),
            ),
        };
        let fault = Fault::undefined_name(path, message).with_hint(hint);
        match &self.span {
            Some(span) => fault.with_span(span),
            None => fault,
        }
    }
}

impl<'a> Value<'a> {
    /// Returns a text of its own.
    pub fn str(text: impl Into<Rc<str>>) -> Self {
        Value::Str(Text::Own(text.into()))
    }

    /// Returns a list; an error if it nests too deep.
    pub fn list(items: Vec<Value<'a>>) -> Outcome<Self> {
        Seq::own(items).map(Value::List)
    }

    /// Returns a tuple; an error if it nests too deep.
    pub fn tuple(items: Vec<Value<'a>>) -> Outcome<Self> {
        Seq::own(items).map(Value::Tuple)
    }

    /// Returns a count as an integer.
    pub fn int(number: usize) -> Self {
        Value::Int(i128::try_from(number).unwrap_or(i128::MAX))
    }

    /// Returns the type.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Undefined(_) => Kind::Undefined,
            Value::None => Kind::None,
            Value::Ellipsis => Kind::Ellipsis,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::Str(_) => Kind::Str,
            Value::List(_) => Kind::List,
            Value::Tuple(_) => Kind::Tuple,
            Value::Dict(_) => Kind::Dict,
            Value::Set(_) => Kind::Set,
            Value::Range(..) => Kind::Range,
            Value::View(kind, _) => *kind,
            Value::Type(_) => Kind::Type,
            Value::Func(func) => func.kind(),
            Value::Iter(stream) => stream.try_borrow().map_or(Kind::Generator, |s| s.kind()),
            Value::Secrets | Value::Secret(_) => Kind::Secret,
        }
    }

    /// Returns the name of its type, as in Python's messages.
    pub fn type_name(&self) -> &'static str {
        self.kind().name()
    }

    /// Fails for values that no operator, filter or function may use: missing values and secrets.
    #[inline]
    pub fn usable(&self) -> Outcome<()> {
        match self {
            Value::Undefined(missing) => Err(missing.fault()),
            Value::Secret(_) | Value::Secrets => Err(Fault::secret()),
            _ => Ok(()),
        }
    }

    /// Returns the truth by Python's rules; a missing value is false.
    pub fn truth(&self) -> Outcome<bool> {
        Ok(match self {
            Value::Undefined(_) | Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::List(seq) | Value::Tuple(seq) | Value::View(_, seq) => !seq.is_empty(),
            Value::Dict(dict) => !dict.is_empty(),
            Value::Set(set) => !set.items.is_empty(),
            Value::Range(start, end, step) => index::range_len(*start, *end, *step) > 0,
            Value::Ellipsis | Value::Type(_) | Value::Func(_) | Value::Iter(_) => true,
            Value::Secrets | Value::Secret(_) => return Err(Fault::secret()),
        })
    }

    /// Returns the nesting depth of our own containers; borrowed ones count as one.
    pub fn depth(&self) -> u16 {
        match self {
            Value::List(seq) | Value::Tuple(seq) | Value::View(_, seq) => seq.depth(),
            Value::Dict(dict) => dict.depth(),
            Value::Set(set) => set.depth,
            Value::Func(func) => func.depth(),
            Value::Iter(stream) => stream.try_borrow().map_or(MAX_VALUE_DEPTH, |s| s.depth()),
            _ => 0,
        }
    }
}

/// Maximum nesting of containers, because showing, comparing and dropping them recurse.
pub(crate) const MAX_VALUE_DEPTH: u16 = 100;

/// Returns one level more than the deepest of `depths`; fails above `MAX_VALUE_DEPTH`.
pub fn deeper(depths: impl Iterator<Item = u16>) -> Outcome<u16> {
    let depth = depths.max().unwrap_or(0) + 1;
    if depth > MAX_VALUE_DEPTH {
        return Err(Fault::limit(format!(
            "values nested more than {MAX_VALUE_DEPTH} levels deep"
        )));
    }
    Ok(depth)
}

//! Iterators as values, and the items of containers.
//!
//! Not here: advancing an iterator. The evaluator does it, because `map` calls a function and a generator
//! evaluates expressions.

use std::cell::RefCell;
use std::rc::Rc;

use super::budget::Budget;
use super::index::{range_at, range_len};
use super::{Kind, Seq, Text, Value};
use crate::ast::{Clause, Expr};
use crate::fault::{Fault, Outcome};

/// An iterator that several values share.
pub type Handle<'a> = Rc<RefCell<Stream<'a>>>;

/// An iterator.
pub enum Stream<'a> {
    /// The items of a container from an index on; the kind is its Python type.
    Items(Kind, Value<'a>, usize),
    /// The characters of a text from a byte offset on.
    Chars(Text<'a>, usize),
    /// `map(function, *iterators)`, with the number of levels in it.
    Map(Value<'a>, Vec<Handle<'a>>, u16),
    /// `filter(function, iterator)`, with the number of levels in it.
    Filter(Value<'a>, Handle<'a>, u16),
    /// `zip(*iterators)`, whether it is strict, and the number of levels in it.
    Zip(Vec<Handle<'a>>, bool, u16),
    /// `enumerate(iterator, next)`, with the number of levels in it.
    Enumerate(Handle<'a>, i128, u16),
    /// A generator expression.
    Generator(Generator<'a>),
}

/// A generator expression, possibly started.
pub struct Generator<'a> {
    /// The expression of an item.
    pub element: &'a Expr,
    /// Its `for` clauses, outermost first.
    pub clauses: &'a [Clause],
    /// The frame of the evaluator that has its names.
    pub frame: usize,
    /// One iterator for every started `for`, outermost first; empty at the end.
    pub levels: Vec<Handle<'a>>,
    /// The number of levels of containers in it.
    pub depth: u16,
}

impl<'a> Stream<'a> {
    /// Returns the type.
    pub fn kind(&self) -> Kind {
        match self {
            Stream::Items(kind, ..) => *kind,
            Stream::Chars(..) => Kind::Iterator,
            Stream::Map(..) => Kind::Map,
            Stream::Filter(..) => Kind::Filter,
            Stream::Zip(..) => Kind::Zip,
            Stream::Enumerate(..) => Kind::Enumerate,
            Stream::Generator(_) => Kind::Generator,
        }
    }

    /// The number of levels of containers in it.
    pub fn depth(&self) -> u16 {
        match self {
            Stream::Items(_, value, _) => value.depth() + 1,
            Stream::Chars(..) => 1,
            Stream::Map(_, _, depth)
            | Stream::Filter(_, _, depth)
            | Stream::Zip(_, _, depth)
            | Stream::Enumerate(_, _, depth)
            | Stream::Generator(Generator { depth, .. }) => *depth,
        }
    }

    /// Returns the iterator in a form that values can share.
    pub fn handle(self) -> Handle<'a> {
        Rc::new(RefCell::new(self))
    }
}

/// Returns an iterator over a value, or the value itself if it is an iterator.
pub fn open<'a>(value: &Value<'a>) -> Outcome<Handle<'a>> {
    Ok(match value {
        Value::Iter(handle) => Rc::clone(handle),
        Value::Str(text) => Stream::Chars(text.clone(), 0).handle(),
        Value::List(_) | Value::Tuple(_) | Value::View(..) | Value::Set(_) | Value::Range(..) => {
            Stream::Items(Kind::Iterator, value.clone(), 0).handle()
        }
        Value::Dict(dict) => {
            let keys = Seq::own(dict.keys().collect())?;
            Stream::Items(Kind::Iterator, Value::List(keys), 0).handle()
        }
        _ => return Err(not_iterable(value)),
    })
}

#[cold]
pub(crate) fn not_iterable(value: &Value<'_>) -> Fault {
    if let Err(fault) = value.usable() {
        return fault;
    }
    Fault::type_error(format!("'{}' object is not iterable", value.type_name()))
}

/// Returns the item of a container at an index.
pub fn item<'a>(value: &Value<'a>, at: usize) -> Option<Value<'a>> {
    match value {
        Value::List(seq) | Value::Tuple(seq) | Value::View(_, seq) => seq.get(at),
        Value::Set(set) => set.items.get(at).cloned(),
        Value::Range(start, end, step) => {
            (at < range_len(*start, *end, *step)).then(|| range_at(*start, *step, at))
        }
        _ => None,
    }
}

/// Returns all items of a container.
pub fn items<'a>(value: &Value<'a>, budget: &Budget) -> Outcome<Vec<Value<'a>>> {
    let len = match value {
        Value::Str(text) => text.len(),
        _ => length(value).map_err(|_| not_iterable(value))?,
    };
    budget.items(len)?;
    Ok(match value {
        Value::Str(text) => chars(text),
        Value::List(seq) | Value::Tuple(seq) | Value::View(_, seq) => seq.to_vec(),
        Value::Set(set) => set.items.clone(),
        Value::Dict(dict) => dict.keys().collect(),
        _ => (0..len).filter_map(|at| item(value, at)).collect(),
    })
}

fn chars<'a>(text: &Text<'a>) -> Vec<Value<'a>> {
    let places = text.char_indices();
    places
        .map(|(at, c)| Value::Str(text.cut(at..at + c.len_utf8())))
        .collect()
}

/// `len(value)`.
pub fn length(value: &Value<'_>) -> Outcome<usize> {
    Ok(match value {
        Value::Str(text) => super::text::char_len(text),
        Value::List(seq) | Value::Tuple(seq) | Value::View(_, seq) => seq.len(),
        Value::Dict(dict) => dict.len(),
        Value::Set(set) => set.items.len(),
        Value::Range(start, end, step) => range_len(*start, *end, *step),
        _ => {
            value.usable()?;
            let name = value.type_name();
            return Err(Fault::type_error(format!(
                "object of type '{name}' has no len()"
            )));
        }
    })
}

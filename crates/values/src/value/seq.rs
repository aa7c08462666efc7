//! The items of a list or tuple, borrowed from JSON or owned.
//!
//! Not here: whether it is a list or a tuple.

use std::rc::Rc;

use super::{Value, deeper};
use crate::fault::Outcome;

/// The items of a list or tuple.
#[derive(Clone)]
pub enum Seq<'a> {
    /// Items of JSON.
    Json(&'a [serde_json::Value]),
    /// Items that an evaluation made.
    Own(Rc<Items<'a>>),
}

pub struct Items<'a> {
    items: Vec<Value<'a>>,
    depth: u16,
}

impl<'a> Seq<'a> {
    pub(crate) fn own(items: Vec<Value<'a>>) -> Outcome<Self> {
        let depth = deeper(items.iter().map(Value::depth))?;
        Ok(Seq::Own(Rc::new(Items { items, depth })))
    }

    /// The number of levels of containers, itself included.
    pub fn depth(&self) -> u16 {
        match self {
            Seq::Json(_) => 1,
            Seq::Own(own) => own.depth,
        }
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        match self {
            Seq::Json(items) => items.len(),
            Seq::Own(own) => own.items.len(),
        }
    }

    /// Whether it has no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the item at a place.
    pub fn get(&self, at: usize) -> Option<Value<'a>> {
        match self {
            Seq::Json(items) => items.get(at).map(Value::from_json),
            Seq::Own(own) => own.items.get(at).cloned(),
        }
    }

    /// The items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Returns all items.
    pub fn to_vec(&self) -> Vec<Value<'a>> {
        self.iter().collect()
    }

    /// Whether both are the same object.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Seq::Json(a), Seq::Json(b)) => std::ptr::eq(*a, *b),
            (Seq::Own(a), Seq::Own(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

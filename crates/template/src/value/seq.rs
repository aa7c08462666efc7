//! The items of a list or tuple, borrowed from JSON or owned.
//!
//! Not here: whether it is a list or a tuple.

use std::rc::Rc;

use super::{Value, deeper};
use crate::fault::Outcome;

#[derive(Clone)]
pub(crate) enum Seq<'a> {
    Json(&'a [serde_json::Value]),
    Own(Rc<Items<'a>>),
}

pub(crate) struct Items<'a> {
    items: Vec<Value<'a>>,
    depth: u16,
}

impl<'a> Seq<'a> {
    pub(crate) fn own(items: Vec<Value<'a>>) -> Outcome<Self> {
        let depth = deeper(items.iter().map(Value::depth))?;
        Ok(Seq::Own(Rc::new(Items { items, depth })))
    }

    pub(crate) fn depth(&self) -> u16 {
        match self {
            Seq::Json(_) => 1,
            Seq::Own(own) => own.depth,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Seq::Json(items) => items.len(),
            Seq::Own(own) => own.items.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, at: usize) -> Option<Value<'a>> {
        match self {
            Seq::Json(items) => items.get(at).map(Value::from_json),
            Seq::Own(own) => own.items.get(at).cloned(),
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    pub(crate) fn to_vec(&self) -> Vec<Value<'a>> {
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

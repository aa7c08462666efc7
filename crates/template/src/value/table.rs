//! Dicts and sets: keys compare by Python's rules and keep their insertion order.
//!
//! Keys of different types are one key if Python treats them as equal: `1`, `1.0` and `True`. Sets keep
//! insertion order too; Python does not guarantee an order, but allows this one.

use std::collections::HashMap;
use std::rc::Rc;

use super::number::integral;
use super::{Kind, Text, Value, deeper};
use crate::fault::{Fault, Outcome};

/// A hashable key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key<'a> {
    None,
    Ellipsis,
    Int(i128),
    Float(u64),
    Str(Text<'a>),
    Tuple(Vec<Key<'a>>),
    Type(Kind),
}

/// Maximum number of values in a key.
const MOST_PARTS: usize = 1_000;

impl<'a> Key<'a> {
    pub(crate) fn new(value: &Value<'a>) -> Outcome<Self> {
        Self::counted(value, &mut 0)
    }

    /// Builds a key and counts its values; tuples share parts, so the expanded size counts.
    fn counted(value: &Value<'a>, count: &mut usize) -> Outcome<Self> {
        value.usable()?;
        *count += 1;
        if *count > MOST_PARTS {
            return Err(Fault::limit("a key is too large"));
        }
        Ok(match value {
            Value::None => Key::None,
            Value::Ellipsis => Key::Ellipsis,
            Value::Bool(value) => Key::Int(i128::from(*value)),
            Value::Int(value) => Key::Int(*value),
            Value::Float(value) => match integral(*value) {
                Some(int) => Key::Int(int),
                None => Key::Float(value.to_bits()),
            },
            Value::Str(text) => Key::Str(text.clone()),
            Value::Tuple(seq) => {
                let parts = seq.iter().map(|item| Key::counted(&item, count));
                Key::Tuple(parts.collect::<Outcome<_>>()?)
            }
            Value::Type(kind) => Key::Type(*kind),
            Value::List(_) | Value::Dict(_) | Value::View(..) | Value::Set(_) => {
                return Err(unhashable(value));
            }
            _ => {
                return Err(Fault::unsupported(format!(
                    "a `{}` as a key",
                    value.type_name()
                )));
            }
        })
    }
}

fn unhashable(value: &Value<'_>) -> Fault {
    Fault::type_error(format!("unhashable type: '{}'", value.type_name()))
}

/// A mapping, borrowed from JSON or owned.
#[derive(Clone)]
pub(crate) enum Dict<'a> {
    Json(&'a serde_json::Map<String, serde_json::Value>),
    Own(Rc<Table<'a>>),
}

/// An owned mapping.
#[derive(Default)]
pub(crate) struct Table<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    index: HashMap<Key<'a>, usize>,
    depth: u16,
}

impl<'a> Table<'a> {
    pub(crate) fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Outcome<()> {
        let hashed = Key::new(&key)?;
        let depth = deeper([self.depth.saturating_sub(1), key.depth(), value.depth()].into_iter())?;
        self.depth = depth;
        match self.index.get(&hashed) {
            Some(at) => self.entries[*at].1 = value,
            None => {
                self.index.insert(hashed, self.entries.len());
                self.entries.push((key, value));
            }
        }
        Ok(())
    }

    pub(crate) fn get(&self, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
        let at = self.index.get(&Key::new(key)?);
        Ok(at.map(|at| self.entries[*at].1.clone()))
    }

    pub(crate) fn finish(self) -> Value<'a> {
        Value::Dict(Dict::Own(Rc::new(self)))
    }
}

impl<'a> Dict<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Dict::Json(map) => map.len(),
            Dict::Own(table) => table.entries.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn depth(&self) -> u16 {
        match self {
            Dict::Json(_) => 1,
            Dict::Own(table) => table.depth.max(1),
        }
    }

    /// Returns the value of a text key.
    pub(crate) fn field(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Dict::Json(map) => map.get(name).map(Value::from_json),
            Dict::Own(table) => {
                let key = Key::Str(Text::Own(name.into()));
                table.index.get(&key).map(|at| table.entries[*at].1.clone())
            }
        }
    }

    pub(crate) fn get(&self, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
        match (self, key) {
            (Dict::Json(map), Value::Str(name)) => Ok(map.get(&**name).map(Value::from_json)),
            (Dict::Json(_), _) => Key::new(key).map(|_| None),
            (Dict::Own(table), _) => table.get(key),
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Value<'a>, Value<'a>)> + '_ {
        let (json, own) = match self {
            Dict::Json(map) => (Some(map.iter()), None),
            Dict::Own(table) => (None, Some(table.entries.iter().cloned())),
        };
        let json = json.into_iter().flatten();
        json.map(|(key, value)| (Value::Str(Text::Ref(key)), Value::from_json(value)))
            .chain(own.into_iter().flatten())
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        self.iter().map(|(_, value)| value)
    }

    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Dict::Json(a), Dict::Json(b)) => std::ptr::eq(*a, *b),
            (Dict::Own(a), Dict::Own(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// A set with insertion order.
#[derive(Default)]
pub(crate) struct Set<'a> {
    pub(crate) items: Vec<Value<'a>>,
    index: HashMap<Key<'a>, usize>,
    pub(crate) depth: u16,
}

impl<'a> Set<'a> {
    pub(crate) fn insert(&mut self, item: Value<'a>) -> Outcome<()> {
        let key = Key::new(&item)?;
        if !self.index.contains_key(&key) {
            self.depth = deeper([self.depth.saturating_sub(1), item.depth()].into_iter())?;
            self.index.insert(key, self.items.len());
            self.items.push(item);
        }
        Ok(())
    }

    pub(crate) fn contains(&self, item: &Value<'a>) -> Outcome<bool> {
        Ok(self.index.contains_key(&Key::new(item)?))
    }

    pub(crate) fn collect(items: impl IntoIterator<Item = Value<'a>>) -> Outcome<Self> {
        let mut set = Set::default();
        for item in items {
            set.insert(item)?;
        }
        Ok(set)
    }

    pub(crate) fn finish(self) -> Value<'a> {
        Value::Set(Rc::new(self))
    }
}

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
enum Key<'a> {
    None,
    Ellipsis,
    Int(i128),
    Float(u64),
    Str(Text<'a>),
    Tuple(Vec<Key<'a>>),
    Type(Kind),
}

/// Maximum number of values in a key.
const MAX_PARTS: usize = 1_000;

impl<'a> Key<'a> {
    fn new(value: &Value<'a>) -> Outcome<Self> {
        Self::build_key(value, &mut 0)
    }

    /// Builds a key and counts its values; tuples share parts, so the expanded size counts.
    fn build_key(value: &Value<'a>, count: &mut usize) -> Outcome<Self> {
        value.usable()?;
        *count += 1;
        if *count > MAX_PARTS {
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
                let parts = seq.iter().map(|item| Key::build_key(&item, count));
                Key::Tuple(parts.collect::<Outcome<_>>()?)
            }
            Value::Type(kind) => Key::Type(*kind),
            Value::List(_) | Value::Dict(_) | Value::View(..) | Value::Set(_) => {
                return Err(unhashable(value));
            }
            _ => {
                return Err(Fault::unsupported_python(format!(
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
pub enum Dict<'a> {
    /// A mapping of JSON.
    Json(&'a serde_json::Map<String, serde_json::Value>),
    /// A mapping that an evaluation made.
    Own(Rc<Table<'a>>),
}

/// An owned mapping.
#[derive(Default)]
pub struct Table<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    index: HashMap<Key<'a>, usize>,
    depth: u16,
}

impl<'a> Table<'a> {
    /// Sets the value of a key.
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Outcome<()> {
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

    /// Returns the value of a key.
    pub fn get(&self, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
        let at = self.index.get(&Key::new(key)?);
        Ok(at.map(|at| self.entries[*at].1.clone()))
    }

    /// Returns the mapping as a value.
    pub fn finish(self) -> Value<'a> {
        Value::Dict(Dict::Own(Rc::new(self)))
    }
}

impl<'a> Dict<'a> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Dict::Json(map) => map.len(),
            Dict::Own(table) => table.entries.len(),
        }
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of levels of containers, itself included.
    pub fn depth(&self) -> u16 {
        match self {
            Dict::Json(_) => 1,
            Dict::Own(table) => table.depth.max(1),
        }
    }

    /// Returns the value of a text key.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Dict::Json(map) => map.get(name).map(Value::from_json),
            Dict::Own(table) => {
                let key = Key::Str(Text::Own(name.into()));
                table.index.get(&key).map(|at| table.entries[*at].1.clone())
            }
        }
    }

    /// Returns the value of a key; an error if the key cannot be one.
    pub fn get(&self, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
        match (self, key) {
            (Dict::Json(map), Value::Str(name)) => Ok(map.get(&**name).map(Value::from_json)),
            (Dict::Json(_), _) => Key::new(key).map(|_| None),
            (Dict::Own(table), _) => table.get(key),
        }
    }

    /// The entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Value<'a>, Value<'a>)> + '_ {
        let (json, own) = match self {
            Dict::Json(map) => (Some(map.iter()), None),
            Dict::Own(table) => (None, Some(table.entries.iter().cloned())),
        };
        let json = json.into_iter().flatten();
        json.map(|(key, value)| (Value::Str(Text::Ref(key)), Value::from_json(value)))
            .chain(own.into_iter().flatten())
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        self.iter().map(|(key, _)| key)
    }

    /// The values in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
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
pub struct Set<'a> {
    /// The items in order.
    pub items: Vec<Value<'a>>,
    index: HashMap<Key<'a>, usize>,
    /// The number of levels of containers, itself included.
    pub depth: u16,
}

impl<'a> Set<'a> {
    /// Adds an item, unless the set has it.
    pub fn insert(&mut self, item: Value<'a>) -> Outcome<()> {
        let key = Key::new(&item)?;
        if !self.index.contains_key(&key) {
            self.depth = deeper([self.depth.saturating_sub(1), item.depth()].into_iter())?;
            self.index.insert(key, self.items.len());
            self.items.push(item);
        }
        Ok(())
    }

    /// Whether the set has an item.
    pub fn contains(&self, item: &Value<'a>) -> Outcome<bool> {
        Ok(self.index.contains_key(&Key::new(item)?))
    }

    /// Returns the set of some items.
    pub fn collect(items: impl IntoIterator<Item = Value<'a>>) -> Outcome<Self> {
        let mut set = Set::default();
        for item in items {
            set.insert(item)?;
        }
        Ok(set)
    }

    /// Returns the set as a value.
    pub fn finish(self) -> Value<'a> {
        Value::Set(Rc::new(self))
    }
}

//! The nodes of a YAML tree.

use crate::span::Span;

/// A value and its span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub span: Span,
    pub kind: Kind,
    /// Whether it has an anchor, an alias or a tag, which the strict dialect forbids.
    pub decorated: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Scalar(Scalar),
    Sequence { items: Vec<Node>, flow: bool },
    Mapping(Mapping),
}

/// A text and its style.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub text: String,
    pub style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
    /// Not from a file: a typed value passed by a program.
    Typed,
}

/// Keys and values in file order.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Mapping {
    pub entries: Vec<Entry>,
    pub flow: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

impl Mapping {
    /// Returns the entry of a key; the last one if there are duplicates, like every YAML parser that accepts
    /// them.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns entries whose key occurred before.
    pub(crate) fn duplicates(&self) -> impl Iterator<Item = &Entry> {
        let mut seen = std::collections::HashSet::new();
        self.entries
            .iter()
            .filter(move |entry| !seen.insert(entry.key.as_str()))
    }
}

impl Node {
    /// Returns the mapping, if the node is one.
    pub(crate) fn as_mapping(&self) -> Option<&Mapping> {
        match &self.kind {
            Kind::Mapping(mapping) => Some(mapping),
            Kind::Scalar(_) | Kind::Sequence { .. } => None,
        }
    }

    /// Returns the items, if the node is a sequence.
    pub(crate) fn as_sequence(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::Sequence { items, .. } => Some(items),
            Kind::Scalar(_) | Kind::Mapping(_) => None,
        }
    }

    /// Returns the scalar, if the node is one.
    pub(crate) fn as_scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            Kind::Sequence { .. } | Kind::Mapping(_) => None,
        }
    }

    /// Whether the value is null.
    pub(crate) fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// Returns the kind of the value, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Mapping(_) => "a mapping",
            Kind::Sequence { .. } => "a list",
            Kind::Scalar(scalar) => scalar.describe(),
        }
    }
}

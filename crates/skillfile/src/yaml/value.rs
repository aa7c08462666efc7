//! Types of plain scalars, and conversion of trees from and to JSON.

use deft_model::Object;
use serde_json::{Number, Value};

use super::node::{Entry, Kind, Mapping, Node, Scalar, Style};
use crate::span::Span;

impl Scalar {
    /// Returns the value according to the YAML 1.2 core schema: only plain scalars have types.
    pub(crate) fn value(&self) -> Value {
        match self.style {
            // Values from a program are spelled as JSON, whose words and numbers are valid YAML.
            Style::Plain | Style::Typed => plain(&self.text),
            Style::SingleQuoted | Style::DoubleQuoted | Style::Literal | Style::Folded => {
                Value::String(self.text.clone())
            }
        }
    }

    /// Whether the value is null.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.style, Style::Plain | Style::Typed) && is_null(&self.text)
    }

    /// Returns the kind of the value, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self.value() {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) | Value::Array(_) | Value::Object(_) => "text",
        }
    }
}

impl Node {
    /// Converts the tree to JSON; of duplicate keys, the last value is used.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(scalar) => scalar.value(),
            Kind::Sequence { items, .. } => items.iter().map(Node::to_value).collect(),
            Kind::Mapping(mapping) => Value::Object(mapping.to_object()),
        }
    }

    /// Converts a value from a program to a tree without spans.
    pub(crate) fn from_value(value: &Value) -> Self {
        let kind = match value {
            Value::Array(items) => Kind::Sequence {
                items: items.iter().map(Node::from_value).collect(),
                flow: true,
            },
            Value::Object(object) => Kind::Mapping(Mapping::from_object(object)),
            Value::String(text) => Kind::Scalar(Scalar {
                text: text.clone(),
                style: Style::DoubleQuoted,
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Kind::Scalar(Scalar {
                text: value.to_string(),
                style: Style::Typed,
            }),
        };
        Node {
            span: Span::NONE,
            kind,
            decorated: false,
        }
    }
}

impl Mapping {
    /// Converts the mapping to a JSON object.
    pub(crate) fn to_object(&self) -> Object {
        self.entries
            .iter()
            .map(|entry| (entry.key.clone(), entry.value.to_value()))
            .collect()
    }

    fn from_object(object: &Object) -> Self {
        let entry = |(key, value): (&String, &Value)| Entry {
            key: key.clone(),
            key_span: Span::NONE,
            value: Node::from_value(value),
        };
        Self {
            entries: object.iter().map(entry).collect(),
            flow: true,
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn plain(text: &str) -> Value {
    match text {
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ if is_null(text) => return Value::Null,
        _ => {}
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// Parses a number of the core schema. Numbers that JSON cannot represent stay text, so that nothing is
/// rounded silently.
fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let text = text.strip_prefix('+').unwrap_or(text);
        let signed = text.parse::<i64>().ok().map(Number::from);
        return signed.or_else(|| text.parse::<u64>().ok().map(Number::from));
    }
    float(text, digits)
}

fn float(text: &str, digits: &str) -> Option<Number> {
    let shape =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    let has_digit = digits.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit || !digits.bytes().all(shape) {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

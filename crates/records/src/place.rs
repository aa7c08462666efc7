//! A record rendered as JSON text, with the byte range of every field.
//!
//! The parser of records reports byte ranges of a text. A record has no text, so one is rendered, and the
//! ranges are mapped back to field paths.

use std::fmt::Write as _;
use std::ops::Range;

use deft_model::Object;
use serde_json::Value;

/// The rendered text of a record with the byte ranges of its fields.
pub(crate) struct WrittenRecord {
    pub text: String,
    fields: Vec<(String, Range<usize>)>,
}

/// Renders a record.
pub(crate) fn write(record: &Object) -> WrittenRecord {
    let mut written = WrittenRecord {
        text: String::new(),
        fields: Vec::new(),
    };
    written.object(record, "");
    written
}

impl WrittenRecord {
    /// Returns the path of the innermost field that contains the byte range `place`.
    pub(crate) fn field(&self, place: &Range<usize>) -> &str {
        let holds = |range: &Range<usize>| range.start <= place.start && place.end <= range.end;
        let holding = self.fields.iter().filter(|(_, range)| holds(range));
        let inner = holding.min_by_key(|(_, range)| range.len());
        inner.map_or("", |(path, _)| path)
    }

    fn object(&mut self, object: &Object, path: &str) {
        self.text.push('{');
        for (at, (key, value)) in object.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let start = self.text.len();
            self.scalar(&Value::from(key.as_str()));
            self.text.push(':');
            self.value(value, &path);
            self.fields.push((path, start..self.text.len()));
        }
        self.text.push('}');
    }

    fn value(&mut self, value: &Value, path: &str) {
        match value {
            Value::Object(object) => self.object(object, path),
            Value::Array(items) => self.list(items, path),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.scalar(value);
            }
        }
    }

    fn list(&mut self, items: &[Value], path: &str) {
        self.text.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            let start = self.text.len();
            let path = format!("{path}[{at}]");
            self.value(item, &path);
            self.fields.push((path, start..self.text.len()));
        }
        self.text.push(']');
    }

    fn scalar(&mut self, value: &Value) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "{value}");
    }
}

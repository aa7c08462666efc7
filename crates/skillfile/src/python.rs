//! Texts as Python has them, where the reference validator depends on it.

use serde_json::Value;

use crate::yaml::{Kind, Node};

/// `str.strip()`: white space as Python counts it, which includes four
/// separators that Rust's `trim` leaves.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

/// The tree with every scalar as text, the way StrictYAML reads it.
pub(crate) fn strings(node: &Node) -> Value {
    match &node.kind {
        Kind::Scalar(scalar) => Value::String(scalar.text.clone()),
        Kind::Sequence { items, .. } => items.iter().map(strings).collect(),
        Kind::Mapping(mapping) => {
            let entries = mapping.entries.iter();
            entries
                .map(|entry| (entry.key.clone(), strings(&entry.value)))
                .collect()
        }
    }
}

/// `repr()` of the tree with every scalar as text.
pub(crate) fn repr(node: &Node) -> String {
    match &node.kind {
        Kind::Scalar(scalar) => repr_text(&scalar.text),
        Kind::Sequence { items, .. } => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Mapping(mapping) => {
            let entries = mapping.entries.iter();
            let entries: Vec<String> = entries
                .map(|entry| format!("{}: {}", repr_text(&entry.key), repr(&entry.value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if (c as u32) < 0x20 || (0x7f..0xa1).contains(&(c as u32)) || c == '\u{ad}' => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

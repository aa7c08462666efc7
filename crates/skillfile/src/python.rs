//! Text functions with the semantics of Python, where the reference validator depends on them.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::yaml::{Kind, Node};

/// Implements `str.strip()`: Python's white space includes four separators that Rust's `trim` keeps.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

/// Converts a tree to JSON with every scalar as text, like StrictYAML.
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

/// Returns Python's `repr()` of the tree with every scalar as text.
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
            c if !is_printable(c) => out.push_str(&escape(c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

fn escape(code: u32) -> String {
    match code {
        ..0x100 => format!("\\x{code:02x}"),
        0x100..0x10000 => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

/// Implements `str.isprintable()`: everything except separators other than the space, and characters without
/// a shape.
fn is_printable(c: char) -> bool {
    static SHAPELESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{C}\p{Z}]").ok());
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    let shapeless = SHAPELESS.as_ref();
    shapeless.is_none_or(|shapeless| !shapeless.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Implements `str.isalnum()`: letters and numbers by category, without the combining marks that Rust's
/// `is_alphanumeric` accepts.
pub(crate) fn is_alphanumeric(text: &str) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}\p{N}]+$").ok());
    if text.is_ascii() {
        return !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    }
    WORD.as_ref().is_some_and(|word| word.is_match(text))
}

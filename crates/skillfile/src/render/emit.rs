//! Rendering of JSON values as block-style YAML.

use serde_json::Value;

use deft_model::Object;

/// Writes the entries of a mapping, one per line, with indentation.
pub(super) fn mapping(object: &Object, indent: usize, out: &mut String) {
    for (key, value) in object {
        pad(indent, out);
        out.push_str(&scalar(key));
        out.push(':');
        value_after_key(value, indent, out);
    }
}

/// Writes a value after a key or a dash, with its line break.
fn value_after_key(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            out.push('\n');
            mapping(object, indent + 2, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            sequence(items, indent + 2, out);
        }
        Value::String(text) if fits_literal(text) => literal(text, indent, out),
        Value::String(text) => line(&scalar(text), out),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            line(&value.to_string(), out);
        }
    }
}

fn sequence(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        pad(indent, out);
        out.push('-');
        match item {
            // A mapping starts on the line of its dash.
            Value::Object(object) if !object.is_empty() => {
                let mut inner = String::new();
                mapping(object, indent + 2, &mut inner);
                out.push_str(&inner[indent + 1..]);
            }
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => value_after_key(other, indent, out),
        }
    }
}

fn line(text: &str, out: &mut String) {
    out.push(' ');
    out.push_str(text);
    out.push('\n');
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Whether a text can be written as a literal block, which is best for several lines, without changing it.
fn fits_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let clean = |line: &str| {
        !line.ends_with([' ', '\t']) && line.chars().all(|c| c == '\t' || !is_special(c))
    };
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && body.split('\n').all(clean)
}

/// Characters that YAML requires to be escaped, or treats as line breaks.
fn is_special(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Renders JSON that is also valid YAML: characters that only JSON allows unescaped are escaped. They can
/// only occur in texts, where both formats support the escape.
pub(super) fn json(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if is_special(c) {
            out.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

fn literal(text: &str, indent: usize, out: &mut String) {
    out.push_str(if text.ends_with('\n') {
        " |\n"
    } else {
        " |-\n"
    });
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            pad(indent + 2, out);
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Renders a text on one line, in quotes unless all YAML parsers agree on it without them.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quote(text)
    }
}

/// Renders a text in double quotes.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_special(c) => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a text needs no quotes: it starts with a letter, contains no indicator that could end it, and is
/// not a word that some YAML version interprets as another type.
fn is_plain(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf",
    ];
    let safe = |c: char| {
        c.is_alphanumeric()
            || matches!(c, ' ' | '_' | '-' | '.' | ',' | '/' | '(' | ')' | '+' | '$')
    };
    text.starts_with(|c: char| c.is_alphabetic() || c == '$')
        && text.chars().all(safe)
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_lowercase().as_str())
}

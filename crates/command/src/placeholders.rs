//! `{today}`, `{yesterday}` and `{now}` in flags and pages (S2.9).
//!
//! They are read off the recorded start of the run, so a replay gives the same text. All other
//! braces stay: `{compiled_digest}` is for a model to fill in, and `{{ … }}` is a template.
//!
//! Not here: a clock, and the flags of the command.

use std::borrow::Cow;

use deft_model::Object;
use jiff::Zoned;
use serde_json::Value;

/// The text with its dates filled in.
pub fn fill<'t>(text: &'t str, start: &Zoned) -> Cow<'t, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (open, _) in text.match_indices('{') {
        let Some((name, end)) = placeholder(text, open) else {
            continue;
        };
        if let Some(value) = value(name, start) {
            out.push_str(&text[copied..open]);
            out.push_str(&value);
            copied = end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The same in every text of the flags.
pub fn fill_flags(flags: &mut Object, start: &Zoned) {
    flags
        .values_mut()
        .for_each(|value| fill_value(value, start));
}

fn fill_value(value: &mut Value, start: &Zoned) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(filled) = fill(text, start) {
                *text = filled;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| fill_value(value, start)),
        Value::Object(object) => fill_flags(object, start),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The name between single braces, and where it ends.
fn placeholder(text: &str, open: usize) -> Option<(&str, usize)> {
    let inner = &text[open + 1..];
    let length = inner.find(['{', '}'])?;
    let end = open + 1 + length + 1;
    let closed = inner[length..].starts_with('}');
    let doubled = text[..open].ends_with('{') || text[end..].starts_with('}');
    (closed && !doubled).then_some((&inner[..length], end))
}

fn value(name: &str, start: &Zoned) -> Option<String> {
    match name {
        "today" => Some(start.date().to_string()),
        "yesterday" => Some(start.date().yesterday().ok()?.to_string()),
        "now" => Some(start.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()),
        _ => None,
    }
}

//! `{today}`, `{yesterday}` and `{now}` in flags and pages, and `{recipient}` in pages (S2.9).
//!
//! Dates are computed from the recorded start of the run, so a replay gives the same text; other names
//! are flags of the command. Unknown names stay as written: `{compiled_digest}` is for a model to fill
//! in, and `{{ … }}` is a template.
//!
//! Not here: a clock, and the content of pages.

use std::borrow::Cow;

use deft_model::Object;
use jiff::Zoned;
use serde_json::Value;

use crate::flags::alike;
use crate::validate::text;

/// Returns `text` with the date placeholders filled in.
pub fn fill<'t>(text: &'t str, start: &Zoned) -> Cow<'t, str> {
    replace(text, |name| date(name, start))
}

/// Returns a page with dates and the flags of its command filled in. A flag overrides a date of the
/// same name; the placeholder of a flag that was not given stays.
pub fn fill_page<'t>(page: &'t str, start: &Zoned, flags: &Object) -> Cow<'t, str> {
    let flag = |name: &str| {
        let exact = flags.get(name);
        let found = exact.or_else(|| {
            let mut same = flags.iter().filter(|(flag, _)| alike(flag, name));
            same.next().map(|(_, value)| value)
        });
        found.map(words)
    };
    replace(page, |name| flag(name).or_else(|| date(name, start)))
}

/// Formats a value for a page: list items are separated by commas.
fn words(value: &Value) -> String {
    match value {
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => text(other),
    }
}

fn replace(text: &str, value: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (open, _) in text.match_indices('{') {
        let Some((name, end)) = placeholder(text, open) else {
            continue;
        };
        if let Some(value) = value(name) {
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

/// Fills in the date placeholders in every string of the flags, at any depth.
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

/// Returns the name between single braces and the offset after the closing brace.
fn placeholder(text: &str, open: usize) -> Option<(&str, usize)> {
    let inner = &text[open + 1..];
    let length = inner.find(['{', '}'])?;
    let end = open + 1 + length + 1;
    let closed = inner[length..].starts_with('}');
    let doubled = text[..open].ends_with('{') || text[end..].starts_with('}');
    (closed && !doubled).then_some((&inner[..length], end))
}

fn date(name: &str, start: &Zoned) -> Option<String> {
    match name {
        "today" => Some(start.date().to_string()),
        "yesterday" => Some(start.date().yesterday().ok()?.to_string()),
        "now" => Some(start.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()),
        _ => None,
    }
}

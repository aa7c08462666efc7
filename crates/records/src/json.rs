//! Parsing of JSON that models write into texts, and helpers for JSON objects.
//!
//! Not here: the meaning of fields.

use deft_model::Object;
use serde_json::Value;

/// Parses the list or mapping in a text: JSON, JSON in a code fence, or a Python literal. Returns `None` if
/// the text contains neither.
pub(crate) fn parse_in_text(text: &str) -> Option<Value> {
    let text = strip_fence(text);
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let value: Option<Value> = serde_json::from_str(text).ok();
    value.or_else(|| serde_json::from_str(&from_python(text)?).ok())
}

/// Strips a code fence, backticks or quotes around a text.
pub(crate) fn strip_fence(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(inner) = text.strip_prefix("```").and_then(|t| t.strip_suffix("```")) {
        // The first line of a fence names its language.
        text = match inner.split_once('\n') {
            Some((language, rest)) if !language.trim().contains(' ') => rest.trim(),
            _ => inner.trim(),
        };
    }
    loop {
        let bare = ['`', '"', '\'', '“', '‘'].iter().find_map(|open| {
            let close = match open {
                '“' => '”',
                '‘' => '’',
                same => *same,
            };
            text.strip_prefix(*open)?.strip_suffix(close)
        });
        match bare {
            Some(inner) if !inner.trim().is_empty() => text = inner.trim(),
            _ => return text,
        }
    }
}

/// Converts `{'a': True}` to `{"a": true}`. Returns `None` for a text with both kinds of quotes, where it is
/// unclear which ones delimit strings.
fn from_python(text: &str) -> Option<String> {
    if text.contains('"') {
        return None;
    }
    let parts = text.split('\'').enumerate().map(|(at, part)| {
        let outside = at % 2 == 0;
        let constants = [("True", "true"), ("False", "false"), ("None", "null")];
        let replaced = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
        if outside {
            constants.iter().fold(part.to_owned(), replaced)
        } else {
            part.to_owned()
        }
    });
    Some(parts.collect::<Vec<_>>().join("\""))
}

/// Renames a key in place.
pub(crate) fn rename(object: &mut Object, from: &str, to: &str) {
    let entries = std::mem::take(object).into_iter();
    *object = entries
        .map(|(key, value)| match key {
            key if key == from => (to.to_owned(), value),
            key => (key, value),
        })
        .collect();
}

/// Removes a key and preserves the order of the others.
pub(crate) fn take(object: &mut Object, key: &str) -> Option<Value> {
    object.shift_remove(key)
}

/// Returns a text or number as text, as it was spelled.
pub(crate) fn text_of_scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a number, also if it is written as text.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    number.filter(|number| number.is_finite())
}

/// Converts to a non-negative integer; `None` if `number` is not one.
pub(crate) fn whole(number: f64) -> Option<u64> {
    // Integers up to 2^53 are exact.
    let fits = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked"
    )]
    fits.then_some(number as u64)
}

//! Texts cut to a length, for lists and messages.
//!
//! Not here: columns of a terminal, and cuts at whole words.

use serde_json::Value;

/// Returns the first `most` characters of a text, and `…` behind them if there are more.
pub fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a value on one line, cut like [`clip`]. A text has no quotes, everything else is JSON.
pub fn clip_value(value: &Value, most: usize) -> String {
    match value {
        Value::String(text) => clip(&text.replace('\n', " "), most),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => clip(&other.to_string(), most),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_ellipsis_follows_the_kept_characters() {
        for (text, most, cut) in [
            ("", 0, ""),
            ("ab", 0, "…"),
            ("abc", 3, "abc"),
            ("abcd", 3, "abc…"),
            ("äöüß", 3, "äöü…"),
        ] {
            assert_eq!(clip(text, most), cut, "{text}");
        }
    }

    #[test]
    fn values_are_clipped_to_one_line() {
        assert_eq!(clip_value(&json!("a\nb"), 9), "a b");
        assert_eq!(clip_value(&json!({"a": [1, 2]}), 6), r#"{"a":[…"#);
        assert_eq!(clip_value(&json!(null), 9), "null");
    }
}

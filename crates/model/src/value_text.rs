//! Values as text.

use serde_json::Value;

/// Returns a value as a person writes it: a string without quotes, everything else as JSON.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_strings_have_no_quotes() {
        for (value, text) in [
            (json!("a \"b\"\n"), "a \"b\"\n"),
            (json!(["a", 1.0]), r#"["a",1.0]"#),
            (json!({"a": null}), r#"{"a":null}"#),
            (json!(true), "true"),
        ] {
            assert_eq!(value_text(&value), text);
        }
    }
}

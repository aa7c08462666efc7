//! Looking into JSON Schemas: which types a property accepts.

use deft_model::Object;
use serde_json::Value;

/// The schemas of the properties, by name.
pub(super) fn properties(schema: &Value) -> Option<&Object> {
    schema.get("properties")?.as_object()
}

/// Whether values of the type are accepted; `None` when the schema does not say.
pub(super) fn accepts(schema: &Value, kind: &str) -> Option<bool> {
    if let Some(kinds) = schema.get("type") {
        return Some(match kinds {
            Value::String(only) => only == kind || (kind == "integer" && only == "number"),
            Value::Array(several) => several.iter().any(|one| one == kind),
            _ => return None,
        });
    }
    let branches = ["anyOf", "oneOf"]
        .into_iter()
        .find_map(|word| schema.get(word)?.as_array())?;
    let mut answer = Some(false);
    for branch in branches {
        match accepts(branch, kind) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => answer = None,
        }
    }
    answer
}

/// Turns texts into numbers where the tool takes numbers and no texts: what a
/// template renders is always a text.
pub(super) fn cast_numbers(arguments: &mut Object, schema: &Value) {
    let Some(properties) = properties(schema) else {
        return;
    };
    for (name, value) in arguments.iter_mut() {
        let Some(property) = properties.get(name) else {
            continue;
        };
        let number = accepts(property, "number") == Some(true);
        let integer = accepts(property, "integer") == Some(true);
        if (number || integer)
            && accepts(property, "string") == Some(false)
            && let Some(cast) = value.as_str().and_then(|text| parse_number(text, number))
        {
            *value = cast;
        }
    }
}

fn parse_number(text: &str, fractions: bool) -> Option<Value> {
    let text = text.trim();
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    let number = text.parse::<f64>().ok().filter(|_| fractions)?;
    serde_json::Number::from_f64(number).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_become_numbers_where_only_numbers_fit() {
        let schema = json!({"properties": {
            "n": {"type": "integer"}, "x": {"type": "number"},
            "s": {"type": "string"}, "both": {"type": ["integer", "string"]},
            "any": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "free": {}
        }});
        let Value::Object(mut arguments) = json!({
            "n": "5", "x": " 1.5 ", "s": "5", "both": "5", "any": "7", "free": "5", "other": "5"
        }) else {
            unreachable!()
        };
        cast_numbers(&mut arguments, &schema);
        assert_eq!(
            Value::Object(arguments),
            json!({"n": 5, "x": 1.5, "s": "5", "both": "5", "any": 7, "free": "5", "other": "5"})
        );
    }
}

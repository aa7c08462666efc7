//! Reading JSON Schemas: which types a property accepts, and casts to these types.

use deft_model::Object;
use serde_json::Value;

/// Returns the schemas of the properties, by name.
pub(super) fn properties(schema: &Value) -> Option<&Object> {
    schema.get("properties")?.as_object()
}

/// Whether a schema accepts values of a type; `None` if it does not specify types.
pub(super) fn accepts(schema: &Value, kind: &str) -> Option<bool> {
    if let Some(kinds) = schema.get("type") {
        if let Some(only) = kinds.as_str() {
            return Some(only == kind || (kind == "integer" && only == "number"));
        }
        return Some(kinds.as_array()?.iter().any(|one| one == kind));
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

/// Casts scalars to the types that the tool accepts, at every depth: a template of a single value keeps
/// its type, and any other template gives a string. Removes an optional argument that is null where the
/// tool does not accept null, so that a missing input can be passed on.
pub(super) fn cast(arguments: &mut Object, schema: &Value) {
    cast_object(arguments, schema, MAX_DEPTH);
}

/// The maximum depth of casts; deeper arguments are only checked.
const MAX_DEPTH: usize = 32;

fn cast_object(object: &mut Object, schema: &Value, depth: usize) {
    let Some(properties) = properties(schema) else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    object.retain(|name, value| {
        let unwanted = || properties.get(name).map(|schema| accepts(schema, "null"));
        !(value.is_null() && !is_required(name) && unwanted() == Some(Some(false)))
    });
    for (name, value) in object.iter_mut() {
        if let Some(property) = properties.get(name) {
            cast_value(value, property, depth);
        }
    }
}

fn cast_value(value: &mut Value, schema: &Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match value {
        Value::Object(object) => cast_object(object, schema, depth),
        Value::Array(items) => {
            if let Some(of_items) = schema.get("items") {
                let items = items.iter_mut();
                items.for_each(|item| cast_value(item, of_items, depth));
            }
        }
        Value::String(text) => {
            if let Some(cast) = cast_text(text, schema) {
                *value = cast;
            }
        }
        Value::Number(_) | Value::Bool(_) => {
            let own = if value.is_boolean() {
                "boolean"
            } else {
                "number"
            };
            let takes_own = accepts(schema, own) != Some(false)
                || own == "number" && accepts(schema, "integer") != Some(false);
            if !takes_own && accepts(schema, "string") == Some(true) {
                *value = Value::String(value.to_string());
            }
        }
        Value::Null => {}
    }
}

/// Parses a string as a number or boolean, if the tool accepts no strings.
fn cast_text(text: &str, schema: &Value) -> Option<Value> {
    if accepts(schema, "string") != Some(false) {
        return None;
    }
    let number = accepts(schema, "number") == Some(true);
    let integer = accepts(schema, "integer") == Some(true);
    if (number || integer)
        && let Some(cast) = parse_number(text, number)
    {
        return Some(cast);
    }
    match text.trim() {
        "true" | "True" if accepts(schema, "boolean") == Some(true) => Some(Value::Bool(true)),
        "false" | "False" if accepts(schema, "boolean") == Some(true) => Some(Value::Bool(false)),
        _ => None,
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

    fn cast_all(schema: &Value, arguments: Value) -> Value {
        let Value::Object(mut arguments) = arguments else {
            unreachable!()
        };
        cast(&mut arguments, schema);
        Value::Object(arguments)
    }

    #[test]
    fn strings_become_numbers_where_only_numbers_fit() {
        let schema = json!({"properties": {
            "n": {"type": "integer"}, "x": {"type": "number"},
            "s": {"type": "string"}, "both": {"type": ["integer", "string"]},
            "any": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "free": {},
            "yes": {"type": "boolean"}
        }});
        let given = json!({
            "n": "5", "x": " 1.5 ", "s": "5", "both": "5", "any": "7", "free": "5", "other": "5",
            "yes": "true"
        });
        assert_eq!(
            cast_all(&schema, given),
            json!({"n": 5, "x": 1.5, "s": "5", "both": "5", "any": 7, "free": "5", "other": "5",
                "yes": true})
        );
    }

    /// A template of a single value keeps its type, so an id may arrive as a number.
    #[test]
    fn numbers_and_booleans_become_strings_where_only_strings_fit() {
        let schema = json!({"properties": {
            "id": {"type": "string"}, "n": {"type": "integer"}, "both": {"type": ["number", "string"]},
            "flag": {"type": ["string", "null"]}, "free": {},
            "list": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}}
        }});
        let given = json!({
            "id": 12, "n": 3, "both": 4, "flag": true, "free": 5, "list": [{"id": 1.5}, {"id": "x"}]
        });
        assert_eq!(
            cast_all(&schema, given),
            json!({"id": "12", "n": 3, "both": 4, "flag": "true", "free": 5,
                "list": [{"id": "1.5"}, {"id": "x"}]})
        );
    }

    /// `{{ inputs.optional }}` of a missing input is null.
    #[test]
    fn an_unaccepted_null_is_removed() {
        let schema = json!({"required": ["must"], "properties": {
            "must": {"type": "string"}, "may": {"type": "string"},
            "nullable": {"type": ["string", "null"]}, "free": {}
        }});
        let given = json!({"must": null, "may": null, "nullable": null, "free": null});
        assert_eq!(
            cast_all(&schema, given),
            json!({"must": null, "nullable": null, "free": null})
        );
    }
}

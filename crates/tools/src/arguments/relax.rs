//! Relaxed schemas for models (S0.45): they accept slightly more than the tool, because the argument
//! pipeline repairs the difference.

use serde_json::{Value, json};

/// Relaxes a schema: numbers and booleans also accept strings; optional properties also accept null.
#[must_use]
pub fn relax_schema_types(schema: &Value) -> Value {
    let mut relaxed = schema.clone();
    relax(&mut relaxed);
    relaxed
}

fn relax(schema: &mut Value) {
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            relax(property);
            widen(property, !required.contains(name));
        }
    }
    if let Some(items) = schema.get_mut("items") {
        relax(items);
        widen(items, false);
    }
}

fn widen(schema: &mut Value, optional: bool) {
    let Some(kind) = schema.get_mut("type") else {
        return;
    };
    let mut kinds: Vec<Value> = if let Some(only) = kind.as_str() {
        vec![json!(only)]
    } else if let Some(several) = kind.as_array() {
        several.clone()
    } else {
        return;
    };
    let mut add = |word: &str| {
        if !kinds.iter().any(|kind| kind == word) {
            kinds.push(json!(word));
        }
    };
    let strict = ["number", "integer", "boolean"];
    if strict.iter().any(|word| kind_has(kind, word)) {
        add("string");
    }
    if optional {
        add("null");
    }
    if kinds.len() > 1 {
        *kind = Value::Array(kinds);
    }
    // Without null in the enumeration, null would still be rejected.
    if optional
        && let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

fn kind_has(kind: &Value, word: &str) -> bool {
    let has_word = |several: &Vec<Value>| several.iter().any(|one| one == word);
    kind == word || kind.as_array().is_some_and(has_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_widened() {
        let schema = json!({
            "type": "object",
            "required": ["n"],
            "properties": {
                "n": {"type": "integer"},
                "b": {"type": "boolean"},
                "s": {"type": "string", "enum": ["a"]},
                "list": {"type": "array", "items": {"type": "number"}},
                "deep": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}},
                "free": {}
            }
        });
        assert_eq!(
            relax_schema_types(&schema)["properties"],
            json!({
                "n": {"type": ["integer", "string"]},
                "b": {"type": ["boolean", "string", "null"]},
                "s": {"type": ["string", "null"], "enum": ["a", null]},
                "list": {"type": ["array", "null"], "items": {"type": ["number", "string"]}},
                "deep": {"type": ["object", "null"], "properties": {"x": {"type": ["number", "null", "string"]}}},
                "free": {}
            })
        );
    }
}

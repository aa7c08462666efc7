//! The JSON Schema of `config.toml`, for editors.

use serde_json::{Map, Value, json};

use super::table::{KEYS, Key, is_any};

/// Returns the schema. It uses draft-07, which TOML editors support.
pub fn schema() -> Value {
    let mut root = section();
    for key in KEYS {
        let parts: Vec<&str> = key.parts().collect();
        insert(&mut root, &parts, key);
    }
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["title"] = json!("config.toml of deft");
    root
}

fn section() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// Inserts the schema of a key at its path.
fn insert(schema: &mut Value, parts: &[&str], key: &Key) {
    let Some((first, rest)) = parts.split_first() else {
        return;
    };
    let below = if rest.is_empty() {
        leaf(key)
    } else {
        section()
    };
    let place = if is_any(first) {
        let place = &mut schema["additionalProperties"];
        if !place.is_object() {
            *place = below;
        }
        place
    } else {
        let properties = &mut schema["properties"];
        if !properties.is_object() {
            *properties = Value::Object(Map::new());
        }
        let place = &mut properties[*first];
        if place.is_null() {
            *place = below;
        }
        place
    };
    insert(place, rest, key);
}

fn leaf(key: &Key) -> Value {
    let mut schema = key.kind.schema();
    schema["description"] = json!(key.doc);
    if let Some(preset) = key.default_value() {
        schema["default"] = preset;
    }
    schema
}

//! Converts servers of Codex, whose TOML has its own keys, into the keys of other hosts.
//!
//! Pure functions between values; no I/O.

use serde_json::{Map, Value, json};

/// Converts an entry to the keys of other hosts.
pub(super) fn in_common_words(entry: &Value) -> Value {
    let Some(given) = entry.as_object() else {
        return entry.clone();
    };
    let mut fields = given.clone();
    let mut headers = object(fields.remove("http_headers"));
    for (header, variable) in object(fields.remove("env_http_headers")) {
        if let Some(variable) = variable.as_str() {
            headers.insert(header, json!(format!("env:{variable}")));
        }
    }
    if let Some(Value::String(variable)) = fields.remove("bearer_token_env_var") {
        let value = format!("Bearer env:{variable}");
        headers.insert("Authorization".to_owned(), json!(value));
    }
    let mut env = object(fields.remove("env"));
    if let Some(Value::Array(names)) = fields.remove("env_vars") {
        for name in names.iter().filter_map(Value::as_str) {
            env.insert(name.to_owned(), json!(format!("env:{name}")));
        }
    }
    for (name, map) in [("headers", headers), ("env", env)] {
        if !map.is_empty() {
            fields.insert(name.to_owned(), Value::Object(map));
        }
    }
    for (theirs, common) in [
        ("enabled_tools", "includeTools"),
        ("disabled_tools", "excludeTools"),
    ] {
        if let Some(list) = fields.remove(theirs) {
            fields.insert(common.to_owned(), list);
        }
    }
    Value::Object(fields)
}

fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_codex_are_converted() {
        let entry = json!({
            "url": "https://x/mcp", "bearer_token_env_var": "TOKEN",
            "http_headers": {"X-A": "1"}, "env_http_headers": {"X-B": "B"},
            "enabled_tools": ["read"], "env_vars": ["HOME"], "env": {"A": "b"},
        });
        let expected = json!({
            "url": "https://x/mcp",
            "headers": {"X-A": "1", "X-B": "env:B", "Authorization": "Bearer env:TOKEN"},
            "env": {"A": "b", "HOME": "env:HOME"},
            "includeTools": ["read"],
        });
        assert_eq!(in_common_words(&entry), expected);
        assert_eq!(in_common_words(&json!("x")), json!("x"));
    }
}

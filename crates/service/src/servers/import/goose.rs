//! Converts extensions of goose, whose YAML has its own keys, into the keys of other hosts.
//!
//! Pure functions between values; no I/O.

use deft_model::Object;
use serde_json::{Value, json};

/// The keys of goose, each with the common key.
const KEYS: [(&str, &str); 3] = [("cmd", "command"), ("uri", "url"), ("envs", "env")];

/// Keys that only goose reads.
const OWN: [&str; 5] = ["name", "description", "timeout", "bundled", "type"];

/// Converts an entry to the keys of other hosts; `None` for extensions that are part of goose.
pub(super) fn in_common_words(entry: &Value) -> Option<Value> {
    let mut fields = entry.as_object()?.clone();
    let kind = fields.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("stdio" | "streamable_http" | "sse")) {
        return None;
    }
    let kept_type = kind.filter(|kind| *kind == "sse").map(str::to_owned);
    for (theirs, common) in KEYS {
        if let Some(value) = fields.remove(theirs) {
            fields.insert(common.to_owned(), value);
        }
    }
    for key in OWN {
        fields.remove(key);
    }
    if let Some(kind) = kept_type {
        fields.insert("type".to_owned(), json!(kind));
    }
    let keys = fields.remove("env_keys");
    // Names of secrets become environment variables of a program; in headers they are already written as
    // `${NAME}`.
    if fields.contains_key("command") {
        let env = fields.entry("env").or_insert_with(|| json!({}));
        let names = keys
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for name in names.filter_map(Value::as_str) {
            env[name] = json!(format!("env:{name}"));
        }
    }
    fields.retain(|_, value| !value.as_object().is_some_and(Object::is_empty));
    Some(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_goose_are_converted() {
        let entry = json!({
            "name": "git", "type": "stdio", "enabled": true, "cmd": "uvx", "args": ["git"],
            "envs": {}, "env_keys": ["TOKEN"], "timeout": 300, "bundled": null,
        });
        let expected = json!({
            "enabled": true, "args": ["git"], "command": "uvx", "env": {"TOKEN": "env:TOKEN"},
        });
        assert_eq!(in_common_words(&entry), Some(expected));
        assert_eq!(in_common_words(&json!({"type": "builtin"})), None);
    }
}

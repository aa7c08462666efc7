//! Converts one server of another host's file into the fields that deft writes.
//!
//! Pure functions between values; no I/O.

use serde_json::{Map, Value, json};

use super::variables::{self, Text};

/// A server that can be imported.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ServerEntry {
    pub(super) fields: Map<String, Value>,
    /// Warnings for the user.
    pub remarks: Vec<String>,
}

/// The keys that are read.
const READ: [&str; 15] = [
    "args",
    "command",
    "cwd",
    "disabled",
    "enabled",
    "env",
    "excludeTools",
    "headers",
    "httpUrl",
    "includeTools",
    "type",
    "url",
    "serverUrl",
    "transport",
    "http_headers",
];

/// Converts an entry. The error says why it cannot be imported.
pub(super) fn read(entry: &Value) -> Result<ServerEntry, String> {
    let Some(entry) = entry.as_object() else {
        return Err("it is not an object".to_owned());
    };
    let mut taken = ServerEntry::default();
    match find_address(entry)? {
        EntryAddress::Command(command) => {
            taken.put_text("command", command);
            taken.arguments(entry)?;
            if let Some(folder) = entry.get("cwd").and_then(Value::as_str) {
                taken.put_text("cwd", folder);
            }
            taken.map("env", entry.get("env"))?;
        }
        EntryAddress::Url(url) => {
            taken.put_text("url", url);
            taken.map(
                "headers",
                entry.get("headers").or_else(|| entry.get("http_headers")),
            )?;
            if url.trim_end_matches('/').ends_with("/sse") {
                taken.add_remark(
                    "its URL looks like the older SSE transport, which deft does not support",
                );
            }
        }
    }
    taken.choices(entry);
    taken.report_unknown_keys(entry);
    Ok(taken)
}

enum EntryAddress<'a> {
    Command(&'a str),
    Url(&'a str),
}

/// Returns how the server is reached: a command makes it a program, else a URL makes it an HTTP server,
/// regardless of `type`.
fn find_address(entry: &Map<String, Value>) -> Result<EntryAddress<'_>, String> {
    let text = |key: &str| {
        entry
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    if let Some(command) = text("command") {
        return Ok(EntryAddress::Command(command));
    }
    if let Some(url) = text("httpUrl") {
        return Ok(EntryAddress::Url(url));
    }
    let Some(url) = text("url").or_else(|| text("serverUrl")) else {
        return Err("it has neither `command` nor `url`".to_owned());
    };
    if text("type").or_else(|| text("transport")) == Some("sse") {
        return Err(
            "it supports only the older SSE transport, which deft does not support; use its \
             streamable HTTP URL"
                .to_owned(),
        );
    }
    Ok(EntryAddress::Url(url))
}

impl ServerEntry {
    fn add_remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    fn put(&mut self, key: &str, value: Value) {
        self.fields.insert(key.to_owned(), value);
    }

    /// Stores a string in which deft expands no variables.
    fn put_text(&mut self, key: &str, text: &str) {
        let text = self.fix_text(&format!("`{key}`"), text);
        self.put(key, json!(text));
    }

    fn fix_text(&mut self, what: &str, text: &str) -> String {
        let text = variables::with_user_home(text);
        if let Some(variable) = variables::first(&text) {
            if variable.starts_with("input:") {
                self.add_remark(format!(
                    "{what} has `${{{variable}}}`, which prompts a person; write the value and set \
                     `enabled = true`"
                ));
                self.put("enabled", json!(false));
            } else {
                self.add_remark(format!(
                    "{what} has `${{{variable}}}`, which deft does not expand there"
                ));
            }
        }
        text
    }

    fn arguments(&mut self, entry: &Map<String, Value>) -> Result<(), String> {
        let Some(args) = entry.get("args") else {
            return Ok(());
        };
        let wrong = || "its `args` is not a list of strings".to_owned();
        let args = args.as_array().ok_or_else(wrong)?;
        let mut texts = Vec::new();
        for arg in args {
            let text = match arg {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                    return Err(wrong());
                }
            };
            texts.push(self.fix_text("an argument", &text));
        }
        if !texts.is_empty() {
            self.put("args", json!(texts));
        }
        Ok(())
    }

    /// Converts environment variables or headers, where references to variables work.
    fn map(&mut self, key: &str, map: Option<&Value>) -> Result<(), String> {
        let Some(map) = map.filter(|map| !map.is_null()) else {
            return Ok(());
        };
        let map = map
            .as_object()
            .ok_or_else(|| format!("its `{key}` is not an object"))?;
        let mut fields = Map::new();
        for (name, value) in map {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    return Err(format!("its `{key}.{name}` is not a string"));
                }
            };
            if let Some(text) = self.reference(&format!("{key}.{name}"), &text) {
                fields.insert(name.clone(), json!(text));
            }
        }
        if !fields.is_empty() {
            self.put(key, Value::Object(fields));
        }
        Ok(())
    }

    fn reference(&mut self, place: &str, text: &str) -> Option<String> {
        match variables::read(text) {
            Text::Plain => Some(text.to_owned()),
            Text::Reference(reference) => Some(reference),
            Text::WithDefault { reference, default } => {
                self.add_remark(format!(
                    "`{place}` had the default `{default}`, which is left out: it is `{reference}` now"
                ));
                Some(reference)
            }
            Text::Input(name) => {
                self.add_remark(format!(
                    "`{place}` is left out: `${{input:{name}}}` prompts a person; set it to \
                     `env:NAME`"
                ));
                None
            }
            Text::Mixed(variable) => {
                self.add_remark(format!(
                    "`{place}` has `${{{variable}}}` inside a longer string, which deft does not expand"
                ));
                Some(text.to_owned())
            }
        }
    }

    fn choices(&mut self, entry: &Map<String, Value>) {
        let truth = |key: &str| entry.get(key).and_then(Value::as_bool);
        if truth("disabled") == Some(true) || truth("enabled") == Some(false) {
            self.put("enabled", json!(false));
        }
        for (theirs, ours) in [
            ("includeTools", "include_tools"),
            ("excludeTools", "exclude_tools"),
        ] {
            let list = entry.get(theirs).and_then(Value::as_array);
            if let Some(list) = list.filter(|list| list.iter().all(Value::is_string)) {
                self.put(ours, json!(list));
            }
        }
    }

    fn report_unknown_keys(&mut self, entry: &Map<String, Value>) {
        let strangers = entry.keys().filter(|key| !READ.contains(&key.as_str()));
        let names: Vec<String> = strangers.map(|key| format!("`{key}`")).collect();
        if !names.is_empty() {
            self.add_remark(format!(
                "ignored {}: deft has no such key",
                names.join(", ")
            ));
        }
    }
}

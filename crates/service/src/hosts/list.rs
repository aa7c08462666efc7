//! Reading and checked editing of the server list in a client's file.

use std::path::Path;

use deft_wire::host::HostClient;
use deft_wire::model::Object;
use deft_wire::{Done, Failure};
use serde_json::Value;

use super::{json, toml, yaml};
use crate::jsonc;

/// The syntax of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Json,
    Toml,
    Yaml,
}

/// Returns the syntax of a client's file and the key of its server list.
fn shape(client: HostClient) -> (Syntax, &'static str) {
    match client {
        HostClient::ClaudeDesktop | HostClient::ClaudeCode | HostClient::Cursor => {
            (Syntax::Json, "mcpServers")
        }
        HostClient::VsCode => (Syntax::Json, "servers"),
        HostClient::Codex => (Syntax::Toml, "mcp_servers"),
        HostClient::Goose => (Syntax::Yaml, "extensions"),
    }
}

/// A change of one entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edit<'a> {
    Put(&'a Object),
    Remove,
}

/// The text of a client's file, and its path for messages.
pub(super) struct ServerFile<'a> {
    pub(super) client: HostClient,
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

impl ServerFile<'_> {
    /// Returns the entry `name`, or `None` if the list has no such entry.
    pub(super) fn find(&self, name: &str) -> Done<Option<Value>> {
        let document = self.read(self.text)?;
        let list = document.get(shape(self.client).1);
        Ok(list.and_then(|list| list.get(name)).cloned())
    }

    /// Returns the text with one entry changed and everything else unchanged. Fails if deft cannot edit it.
    pub(super) fn edit(&self, name: &str, edit: Edit<'_>) -> Done<String> {
        let (syntax, key) = shape(self.client);
        let edited = match (syntax, edit) {
            (Syntax::Json, Edit::Put(entry)) => json::put(self.text, key, name, entry),
            (Syntax::Json, Edit::Remove) => json::remove(self.text, key, name),
            (Syntax::Toml, Edit::Put(entry)) => toml::put(self.text, key, name, entry),
            (Syntax::Toml, Edit::Remove) => toml::remove(self.text, key, name),
            (Syntax::Yaml, Edit::Put(entry)) => yaml::put(self.text, key, name, entry),
            (Syntax::Yaml, Edit::Remove) => yaml::remove(self.text, key, name),
        };
        edited
            .filter(|text| self.changes_only(text, name, edit))
            .ok_or_else(|| self.cannot_edit(name, edit))
    }

    /// Whether `text` differs from the file in the entry `name` and in nothing else.
    fn changes_only(&self, text: &str, name: &str, edit: Edit<'_>) -> bool {
        let key = shape(self.client).1;
        let (Ok(before), Ok(after)) = (self.read(self.text), self.read(text)) else {
            return false;
        };
        let entry = after.get(key).and_then(|list| list.get(name));
        let is_there = match edit {
            Edit::Put(expected) => entry.and_then(Value::as_object) == Some(expected),
            Edit::Remove => entry.is_none(),
        };
        is_there && others(before, key, name) == others(after, key, name)
    }

    fn read(&self, text: &str) -> Done<Object> {
        let path = self.path.display();
        match shape(self.client).0 {
            Syntax::Json => {
                let text = jsonc::plain(text);
                if text.trim().is_empty() {
                    return Ok(Object::new());
                }
                serde_json::from_str(&text).map_err(|problem| {
                    refused_failure("not_json", format!("{path}: not JSON: {problem}"))
                })
            }
            Syntax::Toml => toml::read(text)
                .map_err(|problem| refused_failure("not_toml", format!("{path}:{problem}"))),
            Syntax::Yaml => deft_skillfile::read_yaml(text)
                .map_err(|problem| refused_failure("not_yaml", format!("{path}:{problem}"))),
        }
    }

    /// Returns the failure for an edit that is not possible. Its hint contains the entry for the person to
    /// paste.
    fn cannot_edit(&self, name: &str, edit: Edit<'_>) -> Failure {
        let path = self.path.display();
        let key = shape(self.client).1;
        let message = format!("{path}: deft cannot edit the syntax of `{key}`");
        let hint = match edit {
            Edit::Put(entry) => {
                let snippet = match shape(self.client).0 {
                    Syntax::Json => json::snippet(key, name, entry),
                    Syntax::Toml => toml::snippet(key, name, entry),
                    Syntax::Yaml => yaml::snippet(key, name, entry),
                };
                format!("add this yourself:\n{snippet}")
            }
            Edit::Remove => format!("remove `{name}` yourself"),
        };
        Failure::input("cannot_edit", message).hint(hint)
    }
}

fn refused_failure(code: &'static str, message: String) -> Failure {
    Failure::input(code, message).hint("repair the file first; deft has not changed it")
}

/// Returns the document without the entry, and without the list if it has no other entries.
fn others(mut document: Object, key: &str, name: &str) -> Object {
    if let Some(list) = document.get_mut(key) {
        if let Some(list) = list.as_object_mut() {
            list.remove(name);
        }
        if list.is_null() || list.as_object().is_some_and(Object::is_empty) {
            document.remove(key);
        }
    }
    document
}

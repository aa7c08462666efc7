//! Edits the file and keeps its comments and order.
//!
//! A change is checked before it is written: old mistakes may stay, but new ones are refused. The file is
//! replaced atomically, so readers see the old content or the new.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, TomlError};

use super::list::unknown;
use super::problem::Problem;
use super::table::{self, PathKind};
use super::tree::Settings;
use super::{format_path, text_of};
use crate::folders::{EditLock, config_file, ensure_home, lock_edits};
use crate::replace::{Access, replace};
use deft_wire::{Done, Failure};

/// The file during a change.
pub struct Editor {
    path: PathBuf,
    before: String,
    /// The comments of a file without keys; they belong to no key.
    head: Option<String>,
    document: DocumentMut,
    _lock: EditLock,
}

impl Editor {
    /// Opens the configuration of `home` for a change. Neither the folder nor the file needs to exist.
    pub fn open(home: &Path) -> Done<Self> {
        let lock = lock_edits(home);
        let path = config_file(home);
        let before = text_of(&path)?;
        // `Settings::parse` reports the line of a mistake.
        Settings::parse(&before).map_err(|problem| problem.failure(&path))?;
        let mut document: DocumentMut = before.parse().map_err(|problem: TomlError| {
            let message = format!("{}: {}", path.display(), problem.message());
            Failure::input("config", message)
        })?;
        let head = document.as_table().is_empty().then(|| before.clone());
        if head.is_some() {
            document = DocumentMut::new();
        }
        Ok(Self {
            path,
            before,
            head,
            document,
            _lock: lock,
        })
    }

    /// Sets a key of the table of keys.
    pub fn set(&mut self, path: &[String], value: &Value) -> Done<()> {
        let key = match table::kind_of_path(path) {
            PathKind::Leaf(key) => key,
            PathKind::Section => return Err(is_section(path)),
            PathKind::Unknown => return Err(unknown(path)),
        };
        key.kind.check(value).map_err(|wrong| {
            let message = format!("`{}` {}", format_path(path), wrong.message);
            Failure::input("config", message).maybe_hint(wrong.hint)
        })?;
        let Some((name, above)) = path.split_last() else {
            return Ok(());
        };
        let section = descend(&mut self.document, above)?;
        let mut value = toml_value(value);
        match section.get_mut(name) {
            Some(Item::Value(old)) => {
                // Keeps the text around the value, such as a comment after it.
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            Some(item) => *item = Item::Value(value),
            None => drop(section.insert(name, Item::Value(value))),
        }
        Ok(())
    }

    /// Removes a key. A missing key is not an error.
    pub fn unset(&mut self, path: &[String]) {
        let Some((name, above)) = path.split_last() else {
            return;
        };
        let mut section: Option<&mut dyn TableLike> = Some(self.document.as_table_mut());
        for part in above {
            section = section
                .and_then(|section| section.get_mut(part))
                .and_then(Item::as_table_like_mut);
        }
        if let Some(section) = section {
            section.remove(name);
        }
    }

    /// Adds a server, or replaces the one with that name.
    pub fn put_server(&mut self, name: &str, fields: &Value) -> Done<()> {
        let servers = self.document.get("mcp_servers");
        let inline = servers.is_some_and(Item::is_inline_table);
        let servers = descend(&mut self.document, &["mcp_servers".to_owned()])?;
        let mut table = Table::new();
        for (key, value) in fields.as_object().into_iter().flatten() {
            table.insert(key, Item::Value(toml_value(value)));
        }
        match servers.get_mut(name) {
            Some(Item::Table(old)) => {
                *table.decor_mut() = old.decor().clone();
                table.set_position(old.position());
                *old = table;
            }
            Some(item) => *item = Item::Value(table.into_inline_table().into()),
            None if inline => {
                servers.insert(name, Item::Value(table.into_inline_table().into()));
            }
            None => {
                table.decor_mut().set_prefix("\n");
                servers.insert(name, Item::Table(table));
            }
        }
        Ok(())
    }

    /// Returns the current fields of a server.
    pub fn server(&self, name: &str) -> Option<Value> {
        let settings = Settings::parse(&self.text()).ok()?;
        settings
            .get(&["mcp_servers", name])
            .map(super::tree::Node::json)
    }

    /// Returns the names of the servers in the file.
    pub fn servers(&self) -> Vec<String> {
        let servers = self
            .document
            .get("mcp_servers")
            .and_then(Item::as_table_like);
        let names =
            servers.map(|servers| servers.iter().map(|(name, _)| name.to_owned()).collect());
        names.unwrap_or_default()
    }

    /// Removes a server. Returns false if it does not exist.
    pub fn remove_server(&mut self, name: &str) -> bool {
        let servers = self.document.get_mut("mcp_servers");
        let servers = servers.and_then(Item::as_table_like_mut);
        servers.and_then(|servers| servers.remove(name)).is_some()
    }

    /// Returns the mistakes introduced by the change.
    pub fn mistakes(&self) -> Vec<Problem> {
        let check = |text: &str| match Settings::parse(text) {
            Ok(settings) => settings.check(),
            Err(problem) => vec![problem],
        };
        let old = check(&self.before);
        let mut new = check(&self.text());
        // A change may move an old problem to another line.
        let is_same = |one: &Problem, other: &Problem| {
            (&one.path, &one.message) == (&other.path, &other.message)
        };
        new.retain(|problem| !old.iter().any(|other| is_same(problem, other)));
        new
    }

    /// Returns the new content of the file.
    fn text(&self) -> String {
        let text = self.document.to_string();
        let Some(head) = &self.head else {
            return text;
        };
        let (head, text) = (head.trim_end(), text.trim_start_matches('\n'));
        match (head.is_empty(), text.is_empty()) {
            (true, _) => text.to_owned(),
            (false, true) => self.before.clone(),
            (false, false) => format!("{head}\n\n{text}"),
        }
    }

    /// Checks the change and writes it. Returns false if nothing changed.
    pub fn save(self) -> Done<bool> {
        if let Some(problem) = self.mistakes().first() {
            return Err(
                Failure::input("config", problem.message.clone()).maybe_hint(problem.hint.clone())
            );
        }
        let text = self.text();
        if text == self.before && self.path.exists() {
            return Ok(false);
        }
        if let Some(home) = self.path.parent() {
            ensure_home(home)?;
        }
        replace(&self.path, &text, Access::Keep)
            .map_err(|problem| Failure::file(&self.path, "write", &problem))?;
        Ok(true)
    }
}

fn is_section(path: &[String]) -> Failure {
    let name = format_path(path);
    let below = table::names_below(path);
    let hint = match below.first() {
        Some(first) => format!("set one of its keys, such as `{name}.{first}`"),
        None => format!("set one of its keys, as `{name}.NAME`"),
    };
    Failure::input("config", format!("`{name}` is a section")).hint(hint)
}

/// Returns the section at `path`, and creates it if it does not exist.
fn descend<'a>(document: &'a mut DocumentMut, path: &[String]) -> Done<&'a mut dyn TableLike> {
    let mut section: &mut dyn TableLike = document.as_table_mut();
    let mut inline = false;
    for name in path {
        if !section.contains_key(name) {
            section.insert(name, new_section(inline));
        }
        let item = section.get_mut(name);
        inline = inline || item.as_ref().is_some_and(|item| item.is_inline_table());
        section = item.and_then(Item::as_table_like_mut).ok_or_else(|| {
            let place = format_path(path);
            Failure::input("config", format!("`{name}` in `{place}` is not a section"))
        })?;
    }
    Ok(section)
}

fn new_section(inline: bool) -> Item {
    if inline {
        return Item::Value(InlineTable::new().into());
    }
    let mut table = Table::new();
    // A section that only contains sections has no header of its own.
    table.set_implicit(true);
    table.decor_mut().set_prefix("\n");
    Item::Table(table)
}

/// Formats a value as TOML.
pub fn literal(value: &Value) -> String {
    toml_value(value).to_string()
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        // TOML has no null, and no caller passes one.
        Value::Null => "".into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            toml_edit::Value::Array(items.iter().map(toml_value).collect::<Array>())
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| (name.clone(), toml_value(value));
            toml_edit::Value::InlineTable(fields.iter().map(field).collect())
        }
    }
}

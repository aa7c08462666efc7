//! Lists settings with their values and origins.

use serde_json::{Value, json};

use super::check::format_path;
use super::kind::Kind;
use super::table::{self, KEYS, Key, KeyDefault, PathKind, is_any};
use super::tree::{Data, Origin, Settings};
use crate::literal_secret::is_literal_secret;
use deft_wire::setting::{SettingOrigin, SettingView};
use deft_wire::{Done, Failure};

/// A setting with its value.
#[derive(Debug)]
pub struct Setting {
    path: Vec<String>,
    key: &'static Key,
    value: Option<Value>,
    /// The origin of the value.
    pub origin: Origin,
}

impl Setting {
    fn new(settings: &Settings, key: &'static Key, path: Vec<String>) -> Self {
        let node = settings.get(&path);
        Self {
            value: node.map_or_else(|| key.default_value(), |node| Some(node.json())),
            origin: node.map_or(Origin::Default, |node| node.origin.clone()),
            path,
            key,
        }
    }

    /// Returns the dotted key.
    pub fn name(&self) -> String {
        format_path(&self.path)
    }

    /// Returns the value; a plaintext secret is replaced by `(hidden)`.
    pub fn value(&self) -> Option<Value> {
        let value = self.value.as_ref()?;
        let name = self.path.last().map_or("", String::as_str);
        let hide = match (self.key.kind, value) {
            (Kind::Reference, Value::String(text)) => is_literal_secret(name, text),
            _ => false,
        };
        Some(if hide {
            json!("(hidden)")
        } else {
            value.clone()
        })
    }

    /// Describes the default if it is not a single value.
    pub fn words(&self) -> &'static str {
        match self.key.preset {
            KeyDefault::Words(words) => words,
            KeyDefault::Value(_) | KeyDefault::Text(_) | KeyDefault::Needed => "not set",
        }
    }

    /// Whether short lists include it: it was set, or its default is in use.
    pub fn matters(&self) -> bool {
        let named = self.key.parts().any(is_any);
        self.origin != Origin::Default || !named
    }

    /// Converts the setting for output as JSON.
    pub fn view(&self) -> SettingView {
        let (origin, line, variable) = match &self.origin {
            Origin::Default => (SettingOrigin::Default, None, None),
            Origin::File { line } => (SettingOrigin::File, Some(*line), None),
            Origin::Variable(name) => (SettingOrigin::Environment, None, Some(name.clone())),
        };
        SettingView {
            key: self.name(),
            value: self.value(),
            origin,
            line,
            variable,
            doc: self.key.doc.to_owned(),
            used: true,
        }
    }
}

/// Returns all settings, grouped by section, then by server or model.
pub fn all(settings: &Settings) -> Vec<Setting> {
    let mut all = Vec::new();
    for (index, key) in KEYS.iter().enumerate() {
        let parts: Vec<&str> = key.parts().collect();
        let section = KEYS
            .iter()
            .position(|other| other.parts().next() == key.parts().next());
        for path in expand(settings, Vec::new(), &parts) {
            let named = parts.iter().position(|part| is_any(part));
            let name = named.and_then(|at| path.get(at).cloned());
            all.push(((section, name, index), Setting::new(settings, key, path)));
        }
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, setting)| setting).collect()
}

/// Expands a key of the table into paths, one for each name in use.
fn expand(settings: &Settings, above: Vec<String>, parts: &[&str]) -> Vec<Vec<String>> {
    let Some((first, rest)) = parts.split_first() else {
        return vec![above];
    };
    let names = if is_any(first) {
        match settings.get(&above).map(|node| &node.data) {
            Some(Data::Table(section)) => section.keys().cloned().collect(),
            _ => Vec::new(),
        }
    } else {
        vec![(*first).to_owned()]
    };
    let below = |name: String| {
        let path = above.iter().cloned().chain([name]).collect();
        expand(settings, path, rest)
    };
    names.into_iter().flat_map(below).collect()
}

/// Returns the setting called `name`, or all settings of the section `name`.
pub fn find(settings: &Settings, name: &str) -> Done<Vec<Setting>> {
    let path = split(name)?;
    match table::kind_of_path(&path) {
        PathKind::Leaf(key) => Ok(vec![Setting::new(settings, key, path)]),
        PathKind::Section => {
            let mut all = all(settings);
            all.retain(|setting| setting.path.starts_with(&path));
            if all.is_empty() {
                let message = format!("`{name}` is empty");
                return Err(Failure::input("no_such_key", message)
                    .hint("`deft config show` lists all settings"));
            }
            Ok(all)
        }
        PathKind::Unknown => Err(unknown(&path)),
    }
}

/// Splits a dotted name; parts with dots in them are quoted.
pub fn split(name: &str) -> Done<Vec<String>> {
    let keys = toml_edit::Key::parse(name).map_err(|_| {
        Failure::input(
            "no_such_key",
            format!("`{name}` is not the name of a setting"),
        )
        .hint("write it as `section.key`")
    })?;
    Ok(keys.into_iter().map(|key| key.get().to_owned()).collect())
}

/// The failure for an unknown key.
pub(super) fn unknown(path: &[String]) -> Failure {
    let name = format_path(path);
    let hint = match near(path) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft config show` lists all settings".to_owned(),
    };
    Failure::input("no_such_key", format!("unknown setting `{name}`")).hint(hint)
}

/// Suggests a key for an unknown one: a similar name in the same section, a key with similar spelling, or the
/// same name in another section.
fn near(path: &[String]) -> Option<String> {
    let (last, above) = path.split_last()?;
    let beside = match above {
        [] => None,
        above => deft_model::nearest(last, table::names_below(above)).map(|near| {
            let path: Vec<String> = above.iter().cloned().chain([near.to_owned()]).collect();
            format_path(&path)
        }),
    };
    let names = || KEYS.iter().map(|key| key.path);
    let alike = || deft_model::nearest(&format_path(path), names());
    let elsewhere = || names().find(|key| key.rsplit('.').next() == Some(last));
    beside.or_else(|| alike().or_else(elsewhere).map(str::to_owned))
}

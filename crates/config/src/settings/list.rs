//! Settings one by one, with their values and where these come from.

use serde_json::{Value, json};

use super::check::shown;
use super::kind::Kind;
use super::table::{self, KEYS, Key, Meaning, Preset, Since, is_any};
use super::tree::{Data, Origin, Settings};
use crate::literal_secret::is_literal_secret;
use deft_wire::setting::{SettingOrigin, SettingView};
use deft_wire::{Done, Failure};

/// One setting.
#[derive(Debug)]
pub struct Setting {
    path: Vec<String>,
    key: &'static Key,
    value: Option<Value>,
    /// Where its value comes from.
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

    /// Its path, as it is written.
    pub fn name(&self) -> String {
        shown(&self.path)
    }

    /// Its value, unless it is a secret in plain text.
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

    /// What counts when it is not set and no single value describes that.
    pub fn words(&self) -> &'static str {
        match self.key.preset {
            Preset::Words(words) => words,
            Preset::Value(_) | Preset::Needed => "not set",
        }
    }

    /// Whether a short list has it: what was given, and defaults that matter now.
    pub fn matters(&self) -> bool {
        let named = self.key.parts().any(is_any);
        self.origin != Origin::Default || (!named && self.key.since != Since::Later)
    }

    /// Whether this version only keeps it.
    pub fn is_later(&self) -> bool {
        self.key.since == Since::Later
    }

    /// What programs read about it.
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
            used: !self.is_later(),
        }
    }
}

/// All settings; those of servers and models together, name by name.
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

/// The paths that a key of the table stands for.
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

/// The setting with this name, or all those of a section.
pub fn find(settings: &Settings, name: &str) -> Done<Vec<Setting>> {
    let path = split(name)?;
    match table::meaning(&path) {
        Meaning::Leaf(key) => Ok(vec![Setting::new(settings, key, path)]),
        Meaning::Section => {
            let mut all = all(settings);
            all.retain(|setting| setting.path.starts_with(&path));
            if all.is_empty() {
                let message = format!("there is nothing in `{name}`");
                return Err(Failure::input("no_such_key", message)
                    .hint("`deft config show` lists all settings"));
            }
            Ok(all)
        }
        Meaning::Unknown => Err(unknown(&path)),
    }
}

/// The parts of a dotted name; parts with dots in them are quoted.
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

/// The failure of asking for a key that does not exist.
pub(super) fn unknown(path: &[String]) -> Failure {
    let name = shown(path);
    let hint = match near(path) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft config show` lists all settings".to_owned(),
    };
    Failure::input("no_such_key", format!("unknown setting `{name}`")).hint(hint)
}

/// A key that may be meant: the place is right and the last word wrong, or the
/// whole is a little off, or only the place is missing.
fn near(path: &[String]) -> Option<String> {
    let (last, above) = path.split_last()?;
    let beside = match above {
        [] => None,
        above => deft_model::nearest(last, table::names_below(above)).map(|near| {
            let path: Vec<String> = above.iter().cloned().chain([near.to_owned()]).collect();
            shown(&path)
        }),
    };
    let names = || KEYS.iter().map(|key| key.path);
    let alike = || deft_model::nearest(&shown(path), names());
    let elsewhere = || names().find(|key| key.rsplit('.').next() == Some(last));
    beside.or_else(|| alike().or_else(elsewhere).map(str::to_owned))
}

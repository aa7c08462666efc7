//! The secrets of a home: stores, lists, removes and tests them. Values are never returned.
//!
//! The configuration lists all secrets, because it has a reference wherever one is needed. Not here: storage
//! of the values (`deft_config`).

use std::collections::BTreeMap;

use deft_config::{
    Config, Editor, Home, Kind, Secrets, all_settings, kind_of, remove_secret, secret_files,
    split_key, store_secret,
};
use deft_model::nearest;
use deft_tools::{Secret, SecretSource};
use deft_wire::secret::{SecretList, SecretOrigin, SecretRemoved, SecretView, SetSecretResult};
use deft_wire::{Done, Failure};
use serde_json::{Value, json};

use crate::workspace::Workspace;

pub use deft_config::SecretPlace;

/// Stores a secret and names it in `[secrets]`, so that skills can use it.
pub fn set(
    workspace: &Workspace,
    name: &str,
    value: &str,
    place: SecretPlace,
) -> Done<SetSecretResult> {
    let home = workspace.locate()?;
    // Terminals and `echo` add a line break, which is not part of the value.
    let value = value.trim_end_matches(['\r', '\n']);
    if value.is_empty() {
        let failure = Failure::input("empty_secret", format!("no value for `{name}` was given"));
        return Err(failure
            .hint("type it at the prompt, or pipe it in: `pass show X | deft secrets set NAME`"));
    }
    let stored = store_secret(&home, name, &Secret::new(value), place)?;
    let mut editor = Editor::open(&home)?;
    editor.set(&setting(name), &json!(stored.reference))?;
    Ok(SetSecretResult {
        ok: true,
        name: name.to_owned(),
        source: origin(&stored.reference),
        reference: stored.reference,
        changed: editor.save()?,
        warnings: stored.keyring_problem.into_iter().collect(),
    })
}

/// Lists all secrets named in the configuration or stored in the home, and tries to read each.
pub fn list(workspace: &Workspace) -> Done<SecretList> {
    let home = workspace.home_to_read()?;
    let secrets = Secrets::new(&home.config);
    let view = |(reference, used_by): (String, Vec<String>)| {
        let error = secrets.secret(&reference).err();
        SecretView {
            name: name(&reference, &used_by),
            source: origin(&reference),
            reference,
            used_by,
            ok: error.is_none(),
            error,
        }
    };
    let mut all: Vec<SecretView> = references(&home).into_iter().map(view).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(document(all))
}

/// Like [`list`], for the given names only; an empty list means all.
pub fn test(workspace: &Workspace, names: &[String]) -> Done<SecretList> {
    let mut all = list(workspace)?.secrets;
    for name in names {
        if !all.iter().any(|secret| secret.name == *name) {
            return Err(unknown(name, all.iter().map(|secret| secret.name.as_str())));
        }
    }
    all.retain(|secret| names.is_empty() || names.contains(&secret.name));
    Ok(document(all))
}

/// Removes a stored value and its entry in `[secrets]`.
pub fn remove(workspace: &Workspace, name: &str) -> Done<SecretRemoved> {
    let home = workspace.locate()?;
    let known = list(workspace)?.secrets;
    let was_stored = remove_secret(&home, name)?;
    let mut editor = Editor::open(&home)?;
    editor.unset(&setting(name));
    if !editor.save()? && !was_stored {
        return Err(unknown(
            name,
            known.iter().map(|secret| secret.name.as_str()),
        ));
    }
    let entry = deft_config::format_path(&setting(name));
    let left = known.iter().filter(|secret| secret.name == name);
    let left = left
        .flat_map(|secret| &secret.used_by)
        .filter(|user| **user != entry);
    Ok(SecretRemoved {
        ok: true,
        removed: name.to_owned(),
        warnings: left
            .map(|user| format!("`{user}` still names it"))
            .collect(),
    })
}

/// Returns the reference of a name in `[secrets]`.
pub(crate) fn named_reference(config: &Config, name: &str) -> Option<String> {
    config.secrets.get(name).cloned()
}

fn document(secrets: Vec<SecretView>) -> SecretList {
    SecretList {
        ok: secrets.iter().all(|secret| secret.ok),
        secrets,
    }
}

fn setting(name: &str) -> Vec<String> {
    vec!["secrets".to_owned(), name.to_owned()]
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let hint = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft secrets list` shows all secrets".to_owned(),
    };
    Failure::input("no_such_secret", format!("unknown secret `{name}`")).hint(hint)
}

/// Returns all references in the configuration with the settings that use them, and stored files that no
/// setting uses.
fn references(home: &Home) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for setting in all_settings(&home.config.settings) {
        let name = setting.name();
        let kind = split_key(&name).ok().and_then(|path| kind_of(&path));
        if let (Some(Kind::Secret | Kind::Reference), Some(Value::String(text))) =
            (kind, setting.value())
            && let Some(reference) = reference(&text)
        {
            found.entry(reference.to_owned()).or_default().push(name);
        }
    }
    for file in secret_files(&home.path) {
        found.entry(format!("file:secrets/{file}")).or_default();
    }
    found
}

/// Returns the reference in a text, which may have a prefix such as `Bearer`.
fn reference(text: &str) -> Option<&str> {
    let is_reference = |text: &&str| {
        ["env:", "file:", "keyring:"]
            .iter()
            .any(|source| text.starts_with(source))
    };
    let behind = text.split_once(' ').map(|(_, behind)| behind);
    Some(text)
        .filter(is_reference)
        .or(behind.filter(is_reference))
}

fn origin(reference: &str) -> SecretOrigin {
    match reference.split_once(':') {
        Some(("keyring", _)) => SecretOrigin::Keyring,
        Some(("file", _)) => SecretOrigin::File,
        _ => SecretOrigin::Environment,
    }
}

/// Returns the name in `[secrets]`, or the name in the reference.
fn name(reference: &str, used_by: &[String]) -> String {
    let named = used_by
        .iter()
        .find_map(|user| user.strip_prefix("secrets."));
    let behind = reference
        .split_once(':')
        .map_or(reference, |(_, name)| name);
    let behind = behind.strip_prefix("secrets/").unwrap_or(behind);
    named.unwrap_or(behind).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_after_a_scheme() {
        for (text, expected) in [
            ("env:KEY", Some("env:KEY")),
            ("Bearer keyring:KEY", Some("keyring:KEY")),
            ("file:/a b/c", Some("file:/a b/c")),
            ("plain text", None),
            ("http://x", None),
        ] {
            assert_eq!(reference(text), expected, "{text}");
        }
        let users = ["llm.a.api_key".to_owned(), "secrets.MAIL".to_owned()];
        assert_eq!(name("file:~/x", &users), "MAIL");
        assert_eq!(name("file:secrets/KEY", &users[..1]), "KEY");
        assert_eq!(name("keyring:KEY", &[]), "KEY");
    }
}

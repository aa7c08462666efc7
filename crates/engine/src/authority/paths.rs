//! Whether a call is about a file in one of deft's own folders.
//!
//! Servers choose the names of their arguments, so every text of the arguments is looked at as a
//! path. Not here: what the tool does with it.

use std::path::{Component, Path, PathBuf};

use deft_model::Object;
use serde_json::Value;

/// A text longer than any path is none.
const LONGEST_PATH: usize = 4096;

/// Whether a path leads into one of these folders, links followed as far as it exists.
pub(super) fn is_inside(folders: &[PathBuf], path: &Path) -> bool {
    let real = real(path);
    folders.iter().any(|folder| {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        real.starts_with(&folder)
    })
}

/// Whether a text in the arguments is a path into one of these folders.
pub(super) fn mentions(folders: &[PathBuf], args: &Object) -> bool {
    args.values().any(|value| value_mentions(folders, value))
}

fn value_mentions(folders: &[PathBuf], value: &Value) -> bool {
    match value {
        Value::String(text) => text_mentions(folders, text),
        Value::Array(items) => items.iter().any(|item| value_mentions(folders, item)),
        Value::Object(map) => mentions(folders, map),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn text_mentions(folders: &[PathBuf], text: &str) -> bool {
    // A command line or a script need not begin with the path.
    if folders.iter().any(|folder| names_folder(folder, text)) {
        return true;
    }
    let text = text.trim();
    let text = text.strip_prefix("file://").unwrap_or(text);
    if text.is_empty() || text.len() > LONGEST_PATH || text.contains(['\n', '\0']) {
        return false;
    }
    // A server begins where deft does, so a relative path begins here.
    let path = PathBuf::from(text);
    let path = std::path::absolute(&path).unwrap_or(path);
    is_inside(folders, &path)
}

/// Whether a text has the path of a folder in it, spelled out or from `~` on.
fn names_folder(folder: &Path, text: &str) -> bool {
    let spelled_out = folder.to_str().is_some_and(|folder| text.contains(folder));
    let from_home = |above: &Path| {
        let below = folder.strip_prefix(above).ok().and_then(Path::to_str);
        below.is_some_and(|below| text.contains(&format!("~/{below}")))
    };
    spelled_out || folder.ancestors().skip(1).any(from_home)
}

/// The path without `.` and `..`, and with links followed as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    for above in plain.ancestors() {
        if let Ok(known) = above.canonicalize() {
            let below = plain.strip_prefix(above).unwrap_or(Path::new(""));
            return known.join(below);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_into_a_folder_are_found_in_every_form() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        std::fs::create_dir_all(home.join("skills")).unwrap();
        std::os::unix::fs::symlink(home.join("skills"), root.path().join("link")).unwrap();
        let at = |path: &str| root.path().join(path).display().to_string();
        let folders = [home];
        let finds = |args: serde_json::Value| mentions(&folders, args.as_object().unwrap());
        for inside in [
            json!({"path": at("home/skills/evil.yaml")}),
            json!({"path": at("home/config.toml")}),
            json!({"path": format!("file://{}", at("home/skills/a/SKILL.md"))}),
            json!({"path": at("other/../home/skills/evil.yaml")}),
            json!({"path": at("link/evil.yaml")}),
            json!({"edits": [{"file": at("home/agents/thinker/AGENT.md")}]}),
            json!({"command": format!("cp evil.yaml {}", at("home/skills/"))}),
            json!({"command": "cp evil.yaml ~/home/skills/"}),
        ] {
            assert!(finds(inside.clone()), "{inside}");
        }
        for outside in [
            json!({"path": at("other/evil.yaml")}),
            json!({"path": "notes/skills/a.md"}),
            json!({"text": "it is about skills at home"}),
            json!({"n": 3, "ok": true}),
        ] {
            assert!(!finds(outside.clone()), "{outside}");
        }
    }
}

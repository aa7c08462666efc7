//! Detection of calls that access files in deft's own folders.
//!
//! Servers choose the names of their arguments, so every text in the arguments is treated as a possible path.
//! Not here: what the tool does with it.

use std::path::{Component, Path, PathBuf};

use deft_model::Object;
use serde_json::Value;

/// Maximum number of paths of one call that serve as base of relative paths.
const MAX_BASES: usize = 20;

/// Length in bytes above which a text is not a path.
const MAX_PATH_LEN: usize = 4096;

/// Whether a path leads into one of the folders. Links are followed as far as the path exists.
pub(super) fn is_inside(folders: &[PathBuf], path: &Path) -> bool {
    let real = real(path);
    folders.iter().any(|folder| {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        real.starts_with(&folder)
    })
}

/// Whether a text in the arguments is a path into one of these folders, alone or relative to another text
/// that is a path.
pub(super) fn mentions(folders: &[PathBuf], args: &Object) -> bool {
    let mut texts = Vec::new();
    args.values().for_each(|value| gather(value, &mut texts));
    // A command line or a script need not begin with the path.
    let spelled_out = |text: &&str| folders.iter().any(|folder| names_folder(folder, text));
    if texts.iter().any(spelled_out) {
        return true;
    }
    let paths: Vec<PathBuf> = texts.iter().filter_map(|text| path_of(text)).collect();
    // A server starts in deft's working folder, so a relative path may be relative to it.
    let here = std::env::current_dir().ok();
    let bases = paths.iter().filter(|path| path.is_absolute());
    let bases: Vec<&PathBuf> = bases.chain(&here).take(MAX_BASES).collect();
    paths.iter().any(|path| {
        is_inside(folders, path)
            || bases
                .iter()
                .any(|base| is_inside(folders, &base.join(path)))
    })
}

fn gather<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(map) => map.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Converts a text to a path, if it can be one.
fn path_of(text: &str) -> Option<PathBuf> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_PATH_LEN || text.contains('\0') {
        return None;
    }
    Some(match text.strip_prefix("file://") {
        Some(path) => PathBuf::from(decode_path(path)),
        None => PathBuf::from(text),
    })
}

/// Decodes `%XX` in the path of a `file` URL. A result that is not UTF-8 leaves the path unchanged.
fn decode_path(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// Whether a text contains the path of a folder, in full or relative to `~`.
fn names_folder(folder: &Path, text: &str) -> bool {
    let spelled_out = folder.to_str().is_some_and(|folder| text.contains(folder));
    let from_home = |above: &Path| {
        let below = folder.strip_prefix(above).ok().and_then(Path::to_str);
        below.is_some_and(|below| text.contains(&format!("~/{below}")))
    };
    spelled_out || folder.ancestors().skip(1).any(from_home)
}

/// Resolves links part by part, as far as the path exists, so that `..` leaves the folder that a link leads
/// to.
fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::CurDir => {}
            part @ (Component::Prefix(_) | Component::RootDir | Component::Normal(_)) => {
                real.push(part);
                real = real.canonicalize().unwrap_or(real);
            }
        }
    }
    real
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
        // Below this link, `..` is the root again.
        std::fs::create_dir_all(root.path().join("deep")).unwrap();
        std::os::unix::fs::symlink(root.path().join("deep"), root.path().join("other-link"))
            .unwrap();
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
            json!({"path": at("other-link/../home/skills/evil.yaml")}),
            json!({"path": format!("{}/a\nb.yaml", at("home/skills"))}),
            json!({"path": format!("file://{}", at("%68ome/skills/a.yaml"))}),
            json!({"repo": at(""), "file": "home/skills/evil.yaml"}),
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

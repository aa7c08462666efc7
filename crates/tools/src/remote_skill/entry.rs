//! Parses and validates the entries of a list of skills, by the rules of the extension.

use std::collections::HashSet;

use deft_model::{Object, clip};
use serde_json::Value;

use super::{RefusedSkill, RemoteFile, RemoteFiles, RemoteSkill, SKILL_MD, root};

/// The maximum number of files of one skill, and of their total bytes.
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// The longest URI, in bytes.
const MAX_URI_LEN: usize = 1024;
/// The maximum size of a frontmatter as JSON, in bytes.
const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;
/// The longest name, in characters.
const MAX_NAME_LEN: usize = 64;

/// Parses one entry; on error, returns the reason in words for people.
pub(crate) fn read_entry(server: &str, entry: &Value) -> Result<RemoteSkill, RefusedSkill> {
    let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default();
    let refused = |reason: String| RefusedSkill {
        uri: clip(uri, MAX_URI_LEN),
        reason,
    };
    let read = || -> Result<RemoteSkill, String> {
        check_uri(uri)?;
        let frontmatter = read_frontmatter(entry)?;
        let name = frontmatter.get("name").and_then(Value::as_str);
        check_name(uri, name.unwrap_or_default())?;
        Ok(RemoteSkill {
            server: server.to_owned(),
            uri: uri.to_owned(),
            files: read_files(uri, entry.get("resources"))?,
            frontmatter,
        })
    };
    read().map_err(refused)
}

fn check_uri(uri: &str) -> Result<(), String> {
    let path = uri.split_once("://").map(|(_, path)| path);
    let path = path.ok_or("it has no address")?;
    if uri.len() > MAX_URI_LEN {
        return Err(format!("its address is longer than {MAX_URI_LEN} bytes"));
    }
    // The id is built from the URI and appears in commands, messages and prompts.
    let is_odd = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`' | '\'');
    if uri.contains(is_odd) {
        return Err("its address has spaces, quotes or brackets".to_owned());
    }
    let folder = path.strip_suffix(SKILL_MD);
    if folder.and_then(|rest| rest.strip_suffix('/')).is_none() {
        return Err(format!("its address does not end in `/{SKILL_MD}`"));
    }
    safe_path(path).map(drop)
}

fn read_frontmatter(entry: &Value) -> Result<Object, String> {
    let given = entry.get("frontmatter").and_then(Value::as_object);
    let given = given.ok_or("it has no frontmatter")?;
    for key in ["name", "description"] {
        let text = given.get(key).and_then(Value::as_str).unwrap_or_default();
        if text.trim().is_empty() {
            return Err(format!("its frontmatter has no `{key}`"));
        }
    }
    let length = serde_json::to_string(given).map_or(usize::MAX, |text| text.len());
    if length > MAX_FRONTMATTER_BYTES {
        return Err(format!(
            "its frontmatter is larger than {MAX_FRONTMATTER_BYTES} bytes"
        ));
    }
    Ok(given.clone())
}

/// Checks that the name is the last folder of the URI and valid in the open format.
fn check_name(uri: &str, name: &str) -> Result<(), String> {
    let folder = root(uri).rsplit('/').next().unwrap_or_default();
    if decode_percent(folder).as_deref() != Some(name) {
        return Err(format!(
            "its name `{name}` is not the folder of its address"
        ));
    }
    let fits = |c: char| c.is_alphanumeric() || c == '-';
    let parts = || name.split('-');
    let is_plain = name.chars().count() <= MAX_NAME_LEN
        && name.chars().all(fits)
        && name.to_lowercase() == name
        && parts().all(|part| !part.is_empty());
    is_plain
        .then_some(())
        .ok_or_else(|| format!("its name `{name}` is not one of the open format"))
}

fn read_files(uri: &str, resources: Option<&Value>) -> Result<RemoteFiles, String> {
    let list = match resources {
        Some(Value::String(word)) if word == "dynamic" => return Ok(RemoteFiles::Dynamic),
        Some(Value::Array(list)) => list,
        _ => return Err("its list of files is missing".to_owned()),
    };
    if list.len() > MAX_FILES {
        return Err(format!("it has more than {MAX_FILES} files"));
    }
    let mut files = Vec::with_capacity(list.len());
    let (mut seen, mut paths, mut total) = (HashSet::new(), HashSet::new(), 0_u64);
    for listed in list {
        let file = read_file(uri, listed)?;
        total = total.saturating_add(file.size);
        if total > MAX_BYTES {
            return Err("its files are larger than 16 MiB together".to_owned());
        }
        if !seen.insert(file.uri.clone()) || !paths.insert(file.path.clone()) {
            return Err(format!("it lists the file `{}` twice", file.path));
        }
        files.push(file);
    }
    if !seen.contains(uri) {
        return Err(format!("it does not list its `{SKILL_MD}`"));
    }
    Ok(RemoteFiles::Listed(files))
}

fn read_file(skill: &str, listed: &Value) -> Result<RemoteFile, String> {
    let text = |key: &str| listed.get(key).and_then(Value::as_str).unwrap_or_default();
    let uri = text("uri");
    if uri.len() > MAX_URI_LEN {
        return Err(format!(
            "an address of a file is longer than {MAX_URI_LEN} bytes"
        ));
    }
    let below = uri.strip_prefix(root(skill));
    let path = below.and_then(|path| path.strip_prefix('/'));
    let path = path.ok_or_else(|| format!("the file `{uri}` is not in its folder"))?;
    let path = safe_path(path)?;
    let digits = text("digest").strip_prefix("sha256:").unwrap_or_default();
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if digits.len() != 64 || !digits.chars().all(is_hex) {
        return Err(format!("the file `{path}` has no SHA-256 digest"));
    }
    let size = listed.get("size").and_then(Value::as_u64);
    Ok(RemoteFile {
        uri: uri.to_owned(),
        sha256: digits.to_owned(),
        size: size.ok_or_else(|| format!("the file `{path}` has no size"))?,
        path,
    })
}

/// Decodes a path of a URI; fails if a part is not a plain name, since the path is also used for files.
fn safe_path(encoded: &str) -> Result<String, String> {
    let odd = || format!("the address `{encoded}` has a part that is not a name");
    let path = decode_percent(encoded).ok_or_else(odd)?;
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    let is_odd = |c: char| c.is_control() || c == '\\';
    let is_safe = path.split('/').all(is_name)
        // An encoded slash would be one part here and two parts in a file path.
        && encoded.matches('/').count() == path.matches('/').count()
        && !path.chars().any(is_odd);
    is_safe.then_some(path).ok_or_else(odd)
}

/// Decodes `%XX`; `None` if the result is not valid UTF-8.
fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = rest.get(2..)?;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn digest() -> String {
        format!("sha256:{}", "a".repeat(64))
    }

    fn entry() -> Value {
        json!({
            "uri": "skill://acme/pdf/SKILL.md",
            "frontmatter": {"name": "pdf", "description": "Fills forms", "license": "MIT"},
            "resources": [
                {"uri": "skill://acme/pdf/SKILL.md", "digest": digest(), "size": 10},
                {"uri": "skill://acme/pdf/references/%C3%9Cber%20uns.md", "digest": digest(), "size": 5},
            ],
        })
    }

    #[test]
    fn an_entry_is_read_unchanged() {
        let skill = read_entry("docs", &entry()).unwrap();
        assert_eq!(skill.id(), "docs/acme/pdf");
        assert_eq!(skill.frontmatter["license"], "MIT");
        assert!(skill.file("references/Über uns.md").is_some());
        assert!(skill.file("SKILL.md").is_some());
        let mut dynamic = entry();
        dynamic["resources"] = json!("dynamic");
        let skill = read_entry("docs", &dynamic).unwrap();
        assert_eq!(skill.files, RemoteFiles::Dynamic);
    }

    #[test]
    fn entries_that_break_a_rule_are_refused_with_the_reason() {
        let file = |uri: &str| json!({"uri": uri, "digest": digest(), "size": 1});
        let own = || file("skill://acme/pdf/SKILL.md");
        let many: Vec<Value> = (0..513)
            .map(|n| file(&format!("skill://acme/pdf/{n}")))
            .collect();
        let large = json!({"uri": "skill://acme/pdf/b", "digest": digest(), "size": 16_777_216});
        let cases = [
            ("/uri", json!("pdf"), "address"),
            ("/uri", json!("skill://acme/pdf/README.md"), "SKILL.md"),
            ("/uri", json!("skill://acme/../pdf/SKILL.md"), "part"),
            ("/uri", json!("skill://acme/%2e%2e/pdf/SKILL.md"), "part"),
            ("/uri", json!("skill://acme/forms/SKILL.md"), "folder"),
            ("/uri", json!("skill://a b/pdf/SKILL.md"), "spaces"),
            ("/frontmatter", json!(null), "frontmatter"),
            ("/frontmatter/description", json!(" "), "description"),
            ("/resources", json!("later"), "missing"),
            ("/resources", json!([]), "does not list"),
            ("/resources", json!([own(), own()]), "twice"),
            ("/resources", json!(many), "512"),
            ("/resources", json!([own(), large]), "16 MiB"),
            (
                "/resources",
                json!([own(), file("skill://other/x.md")]),
                "not in its folder",
            ),
            (
                "/resources",
                json!([own(), file("skill://acme/pdf/../x.md")]),
                "part",
            ),
            (
                "/resources",
                json!([own(), file("skill://acme/pdf/a%2fb")]),
                "part",
            ),
            ("/resources/0/digest", json!("sha256:abc"), "digest"),
            ("/resources/0/size", json!(-1), "size"),
        ];
        for (at, value, reason) in cases {
            let mut broken = entry();
            *broken.pointer_mut(at).unwrap() = value.clone();
            let refused = read_entry("docs", &broken).unwrap_err();
            assert!(refused.reason.contains(reason), "{at} {value}: {refused:?}");
        }
    }
}

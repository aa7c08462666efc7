//! Skills that servers offer (SEP-2640), as listed; without their content.
//!
//! A skill is identified by the name of its server in this home and by its URI there, never by the name
//! in its file: two servers may offer the same URI, and a server may offer a name that a skill of this
//! home has.
//!
//! Not here: requests to a server (`server/skills.rs`), and who may use a skill, which the caller
//! decides.

mod entry;
mod verify;

use deft_model::{Digest, Object};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use entry::read_entry;
pub(crate) use verify::{changed_content, check_file, check_frontmatter, unlisted_file};

/// The file that defines a skill.
pub(crate) const SKILL_MD: &str = "SKILL.md";

/// The usual scheme of skill URIs.
const SCHEME: &str = "skill://";

/// A skill that a server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteSkill {
    /// The name of the server in this home.
    pub server: String,
    /// The URI of the skill's `SKILL.md` on that server.
    pub uri: String,
    /// The frontmatter of `SKILL.md`, as the server lists it.
    pub frontmatter: Object,
    /// The skill's files.
    pub files: RemoteFiles,
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteFiles {
    /// All files, including `SKILL.md`.
    Listed(Vec<RemoteFile>),
    /// The server generates files when they are read, so they cannot be verified.
    Dynamic,
}

/// One file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// The file's URI.
    pub uri: String,
    /// The path relative to the skill's folder.
    pub path: String,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// The size in bytes.
    pub size: u64,
}

/// An entry of a list of skills that is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedSkill {
    /// The URI, as far as the entry has one.
    pub uri: String,
    /// Why it cannot be used.
    pub reason: String,
}

/// The skills of one server at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillListing {
    /// The skills, in the server's order.
    pub skills: Vec<RemoteSkill>,
    /// The invalid entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedSkill>,
    /// How long the list stays fresh, in milliseconds.
    pub ttl_ms: u64,
}

impl RemoteSkill {
    /// Returns the id for people and models: `SERVER/PATH`. No local skill has a slash in its id.
    pub fn id(&self) -> String {
        format!("{}/{}", self.server, short_root(&self.uri))
    }

    /// Returns the skill's name, which is descriptive only; it does not identify the skill.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Returns the skill's description.
    pub fn description(&self) -> &str {
        self.text("description")
    }

    fn text(&self, key: &str) -> &str {
        let value = self.frontmatter.get(key).and_then(Value::as_str);
        value.unwrap_or_default()
    }

    /// Returns the listed files; empty for dynamic files.
    pub fn listed_files(&self) -> &[RemoteFile] {
        match &self.files {
            RemoteFiles::Listed(files) => files,
            RemoteFiles::Dynamic => &[],
        }
    }

    /// Returns the listed file with this path.
    pub fn file(&self, path: &str) -> Option<&RemoteFile> {
        self.listed_files().iter().find(|file| file.path == path)
    }

    /// Returns a hash of the server, the URI and the contents; `None` if the contents are not listed,
    /// because unknown contents cannot be approved.
    pub fn fingerprint(&self) -> Option<String> {
        let RemoteFiles::Listed(files) = &self.files else {
            return None;
        };
        let mut files: Vec<_> = files.iter().map(|file| (&file.uri, &file.sha256)).collect();
        files.sort_unstable();
        let all = json!({ "server": self.server, "uri": self.uri, "files": files });
        Some(Digest::sha256(all.to_string().as_bytes()).to_string())
    }
}

/// Splits an id into the server and the URI of a skill. The URI need not be listed.
pub fn split_skill_id(id: &str) -> Option<(&str, String)> {
    let (server, path) = id.split_once('/')?;
    if server.is_empty() || path.is_empty() {
        return None;
    }
    let scheme = if path.contains("://") { "" } else { SCHEME };
    Some((server, format!("{scheme}{path}/{SKILL_MD}")))
}

/// Returns the URI of a skill's folder.
fn root(uri: &str) -> &str {
    uri.strip_suffix(SKILL_MD)
        .and_then(|root| root.strip_suffix('/'))
        .unwrap_or(uri)
}

/// Returns [`root`] without the usual scheme, if that can be restored unambiguously.
fn short_root(uri: &str) -> &str {
    let root = root(uri);
    let short = root.strip_prefix(SCHEME);
    short.filter(|path| !path.contains("://")).unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(uri: &str) -> RemoteSkill {
        RemoteSkill {
            server: "docs".into(),
            uri: uri.into(),
            frontmatter: Object::new(),
            files: RemoteFiles::Dynamic,
        }
    }

    #[test]
    fn an_id_identifies_a_server_and_an_address() {
        for (uri, id) in [
            ("skill://refunds/SKILL.md", "docs/refunds"),
            (
                "skill://acme/billing/refunds/SKILL.md",
                "docs/acme/billing/refunds",
            ),
            (
                "github://o/r/skills/refunds/SKILL.md",
                "docs/github://o/r/skills/refunds",
            ),
            ("skill://a://b/SKILL.md", "docs/skill://a://b"),
        ] {
            assert_eq!(skill(uri).id(), id);
            assert_eq!(split_skill_id(id), Some(("docs", uri.to_owned())));
        }
        assert_eq!(split_skill_id("refunds"), None);
        assert_eq!(split_skill_id("docs/"), None);
        assert_eq!(split_skill_id("/refunds"), None);
    }

    #[test]
    fn a_fingerprint_covers_the_server_the_address_and_all_contents() {
        let file = |uri: &str, sha256: &str| RemoteFile {
            uri: uri.into(),
            path: uri.into(),
            sha256: sha256.into(),
            size: 1,
        };
        let with = |server: &str, uri: &str, files: Vec<RemoteFile>| RemoteSkill {
            server: server.into(),
            files: RemoteFiles::Listed(files),
            ..skill(uri)
        };
        let (a, b) = (file("a", "1"), file("b", "2"));
        let one = with("docs", "u", vec![a.clone(), b.clone()]).fingerprint();
        assert!(one.is_some());
        // The order of the list must not matter.
        assert_eq!(
            one,
            with("docs", "u", vec![b.clone(), a.clone()]).fingerprint()
        );
        for other in [
            with("other", "u", vec![a.clone(), b.clone()]),
            with("docs", "v", vec![a.clone(), b.clone()]),
            with("docs", "u", vec![a.clone()]),
            with("docs", "u", vec![a, file("b", "3")]),
        ] {
            assert_ne!(one, other.fingerprint());
        }
        assert_eq!(skill("u").fingerprint(), None);
    }
}

//! Skills that servers offer (SEP-2640), as they were listed: nothing of their content is here.
//!
//! A skill is known by the name that this home has for its server and by its address there, never by the name in its
//! file: two servers may offer the same address, and a server may offer a name that a skill of this home has.
//!
//! Not here: asking a server (`server/skills.rs`), and who may use a skill, which the caller decides.

mod entry;
mod verify;

use deft_model::{Digest, Object};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub(crate) use entry::read_entry;
pub(crate) use verify::{changed, check_file, check_frontmatter, unlisted};

/// The file that defines a skill.
pub(crate) const SKILL_MD: &str = "SKILL.md";

/// The usual beginning of addresses.
const SCHEME: &str = "skill://";

/// A skill that a server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteSkill {
    /// The name of the server in this home.
    pub server: String,
    /// The address of its `SKILL.md` on that server.
    pub uri: String,
    /// The frontmatter of that file, as the server lists it.
    pub frontmatter: Object,
    /// Its files.
    pub files: RemoteFiles,
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteFiles {
    /// All of them, `SKILL.md` among them.
    Listed(Vec<RemoteFile>),
    /// The server makes them when they are read, so that nothing can be compared.
    Dynamic,
}

/// One file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// Its address.
    pub uri: String,
    /// Its path from the folder of the skill.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Its size in bytes.
    pub size: u64,
}

/// Something in a list of skills that is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedSkill {
    /// The address, as far as there is one.
    pub uri: String,
    /// Why it cannot be used.
    pub reason: String,
}

/// The skills of one server at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillListing {
    /// The skills, in the order of the list.
    pub skills: Vec<RemoteSkill>,
    /// What was listed and cannot be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedSkill>,
    /// How long the list may be believed, in milliseconds.
    pub ttl_ms: u64,
}

impl RemoteSkill {
    /// What people and models call it: `SERVER/PATH`. No skill of this home has a slash in its id.
    pub fn id(&self) -> String {
        format!("{}/{}", self.server, short_root(&self.uri))
    }

    /// Its name, which only says what it is about.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// What it is for.
    pub fn description(&self) -> &str {
        self.text("description")
    }

    fn text(&self, key: &str) -> &str {
        let value = self.frontmatter.get(key).and_then(Value::as_str);
        value.unwrap_or_default()
    }

    /// The files, as far as they are listed.
    pub fn listed_files(&self) -> &[RemoteFile] {
        match &self.files {
            RemoteFiles::Listed(files) => files,
            RemoteFiles::Dynamic => &[],
        }
    }

    /// The listed file at a path.
    pub fn file(&self, path: &str) -> Option<&RemoteFile> {
        self.listed_files().iter().find(|file| file.path == path)
    }

    /// Stands for this skill with exactly these contents; none where contents are not listed, because no one can
    /// agree to those.
    pub fn fingerprint(&self) -> Option<String> {
        let RemoteFiles::Listed(files) = &self.files else {
            return None;
        };
        let mut files: Vec<_> = files.iter().map(|file| (&file.uri, &file.sha256)).collect();
        files.sort_unstable();
        let all = json!({ "server": self.server, "uri": self.uri, "files": files });
        Some(sha256(all.to_string().as_bytes()))
    }
}

/// The server and the address that an id means. An address that is not listed can be meant too.
pub fn split_skill_id(id: &str) -> Option<(&str, String)> {
    let (server, path) = id.split_once('/')?;
    if server.is_empty() || path.is_empty() {
        return None;
    }
    let scheme = if path.contains("://") { "" } else { SCHEME };
    Some((server, format!("{scheme}{path}/{SKILL_MD}")))
}

/// The address of the folder of a skill.
fn root(uri: &str) -> &str {
    uri.strip_suffix(SKILL_MD)
        .and_then(|root| root.strip_suffix('/'))
        .unwrap_or(uri)
}

/// The same without the usual beginning, if it can be told afterwards that it was there.
fn short_root(uri: &str) -> &str {
    let root = root(uri);
    let short = root.strip_prefix(SCHEME);
    short.filter(|path| !path.contains("://")).unwrap_or(root)
}

/// The SHA-256 of bytes, in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    Digest::from_bytes(Sha256::digest(bytes).into()).to_string()
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
    fn an_id_stands_for_a_server_and_an_address() {
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
    fn a_fingerprint_is_of_the_server_the_address_and_all_contents() {
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
        // The order of a list is no content.
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

//! Skills for `deft-test-server`, with correct digests unless a test changes them.

use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

/// A builder for the skills file of a test server.
#[derive(Clone, Debug)]
pub struct RemoteSkills {
    path: PathBuf,
    value: Value,
}

impl RemoteSkills {
    /// Creates an empty list of skills, to be written to a file in `folder`.
    pub fn new(folder: &Path, name: &str) -> Self {
        let value = json!({"entries": [], "unlisted": [], "files": {}});
        let path = folder.join(format!("{name}.skills.json"));
        Self { path, value }
    }

    /// Returns the path of the file, for the key `skills` of a script.
    pub fn path(&self) -> Value {
        Value::from(self.path.to_string_lossy())
    }

    /// Sets a top-level key: `ttl_ms`, `page`, `meta`.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.value[key] = value;
        self
    }

    /// Adds a skill with its files. The first file is `SKILL.md`.
    #[must_use]
    pub fn skill(mut self, path: &str, frontmatter: Value, files: &[(&str, &str)]) -> Self {
        self.put("entries", path, frontmatter, files);
        self
    }

    /// Like [`Self::skill`], for a skill that is not listed.
    #[must_use]
    pub fn unlisted_skill(
        mut self,
        path: &str,
        frontmatter: Value,
        files: &[(&str, &str)],
    ) -> Self {
        self.put("unlisted", path, frontmatter, files);
        self
    }

    fn put(&mut self, list: &str, path: &str, frontmatter: Value, files: &[(&str, &str)]) {
        let uri = |file: &str| format!("skill://{path}/{file}");
        let listed = files.iter().map(
            |(file, text)| json!({"uri": uri(file), "digest": sha256(text), "size": text.len()}),
        );
        let listed: Vec<Value> = listed.collect();
        let mut entry = json!({"uri": uri("SKILL.md"), "resources": listed});
        entry["frontmatter"] = frontmatter;
        if let Some(entries) = self.value[list].as_array_mut() {
            entries.retain(|other| other["uri"] != entry["uri"]);
            entries.push(entry);
        }
        for (file, text) in files {
            self.value["files"][uri(file)] = json!(text);
        }
    }

    /// Replaces the content that the server sends for a URI, without changing the list.
    #[must_use]
    pub fn sends(mut self, uri: &str, content: Value) -> Self {
        self.value["files"][uri] = content;
        self
    }

    /// Changes a listed entry, without changing the content that the server sends.
    #[must_use]
    pub fn lists(mut self, at: usize, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.value["entries"][at]);
        self
    }

    /// Writes the file atomically, so a running server never reads half of it.
    pub fn write(&self) {
        let beside = self.path.with_extension("new");
        std::fs::write(&beside, self.value.to_string()).expect("a file can be written");
        std::fs::rename(&beside, &self.path).expect("a file can be moved");
    }
}

/// Returns the text of a `SKILL.md` and its frontmatter.
pub fn skill_md(name: &str, description: &str, body: &str) -> (String, Value) {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n");
    let mut frontmatter = Map::new();
    frontmatter.insert("name".to_owned(), json!(name));
    frontmatter.insert("description".to_owned(), json!(description));
    (text, Value::Object(frontmatter))
}

fn sha256(text: &str) -> String {
    let bytes = digest(&SHA256, text.as_bytes());
    let digits = bytes.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", digits.collect::<String>())
}

//! Reads a page of Claude Code. Its frontmatter is often not valid YAML, so it is parsed with the lenient
//! parser of `SKILL.md`.

use std::path::Path;

use deft_model::{Skill, clip};
use deft_registry::{MAX_FILE_BYTES, read_text};
use deft_skillfile::{Document, FileLocation, Moment, Profile, parse};
use serde_json::{Value, json};

use crate::skills::import::gather::first_error;

/// A page: its fields as those of a skill, and its text.
pub(super) struct Page {
    pub skill: Skill,
    pub text: String,
}

impl Page {
    pub(super) fn read(path: &Path, moment: &Moment) -> Result<Self, String> {
        let text = read_text(path, MAX_FILE_BYTES);
        let text = text.map_err(|problem| format!("cannot be read: {problem}"))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = with_description(text.trim_start_matches('\u{feff}'), &stem);
        let location = FileLocation {
            file: "SKILL.md",
            folder: &stem,
            domain: None,
        };
        let parsed = parse(text.as_bytes(), &location, Profile::Deft, moment);
        match parsed.document {
            Some(Document::Skill(skill)) => {
                let text = skill.text().map(|text| text.read().trim().to_owned());
                Ok(Self {
                    text: text.unwrap_or_default(),
                    skill: *skill,
                })
            }
            Some(Document::Domain(_) | Document::Agent(_)) | None => {
                Err(first_error(&parsed.diagnostics))
            }
        }
    }

    /// Returns a key of the frontmatter that only other hosts read.
    pub(super) fn key(&self, name: &str) -> Option<&Value> {
        self.skill.extra.get(name)
    }

    /// Like [`Self::key`], but only for a string that is not empty.
    pub(super) fn text_key(&self, name: &str) -> Option<&str> {
        let text = self.key(name)?.as_str()?.trim();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the keys of other hosts that are not in `known`.
    pub(super) fn other_keys(&self, known: &[&str]) -> Vec<&str> {
        let keys = self.skill.extra.keys().map(String::as_str);
        keys.filter(|key| !known.contains(key)).collect()
    }
}

/// Adds a description if the frontmatter has none: the first line of the text.
fn with_description(text: &str, stem: &str) -> String {
    let fenced = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"));
    let head_and_body = fenced.and_then(|rest| match rest.strip_prefix("---") {
        Some(body) => Some(("", body)),
        None => rest.split_once("\n---"),
    });
    let Some((head, body)) = head_and_body else {
        let line = json!(first_line(text, stem));
        return format!("---\ndescription: {line}\n---\n\n{text}");
    };
    if head.lines().any(|line| line.starts_with("description:")) {
        return text.to_owned();
    }
    let line = json!(first_line(body, stem));
    format!("---\ndescription: {line}\n{head}\n---{body}")
}

fn first_line(body: &str, stem: &str) -> String {
    let mut lines = body.lines().map(|line| line.trim_start_matches('#').trim());
    let line = lines.find(|line| !line.is_empty());
    clip(line.unwrap_or(stem), 200)
}

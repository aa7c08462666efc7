//! Imports JSON files: records, and workflows of n8n.

use std::path::{Path, PathBuf};

use deft_model::Skill;
use deft_registry::{MAX_FILE_BYTES, read_regular};
use deft_skillfile::{Document, Moment, parse_record, render};
use deft_wire::skill_files::{ImportKind, UnmappedNode};
use serde_json::Value;

use super::gather::{GatheredSkills, Item, first_error, starts_disabled};
use super::n8n;
use crate::skills::files::PlannedFile;

impl GatheredSkills<'_> {
    /// Adds a JSON file: a record, or a workflow of n8n.
    pub(super) fn add_json(&mut self, path: &Path) {
        match read_json(path) {
            Ok(value) if n8n::is_workflow(&value) => self.add_n8n_value(path, &value),
            Ok(value) => self.add_record(path, &value),
            Err(reason) => self.refuse(path, reason),
        }
    }

    /// Adds a file that the user declared as a workflow of n8n.
    pub(super) fn add_n8n(&mut self, path: &Path) {
        match read_json(path) {
            Ok(value) if n8n::is_workflow(&value) => self.add_n8n_value(path, &value),
            Ok(_) => self.refuse(
                path,
                "it is not a workflow of n8n: `nodes` or `connections` is missing",
            ),
            Err(reason) => self.refuse(path, reason),
        }
    }

    fn add_n8n_value(&mut self, path: &Path, value: &Value) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        match n8n::convert(value, &stem, &self.moment) {
            Ok(converted) => {
                let to = self.skills.join(format!("{}.yaml", converted.id));
                let file = PlannedFile::new(to, converted.content);
                self.items.push(Item {
                    notes: converted.notes,
                    disabled: converted.disabled,
                    tools: converted.tools,
                    ..Item::new(converted.id, ImportKind::Workflow, path, file)
                });
            }
            Err(nodes) => {
                let count = crate::words::format_count(nodes.len(), "node");
                let verb = if nodes.len() == 1 { "does" } else { "do" };
                self.refuse(path, format!("{count} {verb} not map to steps of deft"));
                let shown = path.display().to_string();
                self.unmapped
                    .extend(nodes.into_iter().map(|node| UnmappedNode {
                        path: shown.clone(),
                        node: node.name,
                        kind: node.kind,
                        reason: node.reason,
                    }));
            }
        }
    }

    /// Adds a record as a file of a dialect that can express it.
    fn add_record(&mut self, path: &Path, value: &Value) {
        match read_record(value, &self.moment) {
            Ok(skill) => {
                let id = skill.id.to_string();
                let (below, content, kind) = match render::workflow(&skill) {
                    Some(yaml) => (
                        PathBuf::from(format!("{id}.yaml")),
                        yaml,
                        ImportKind::Workflow,
                    ),
                    None => (
                        Path::new(&id).join("SKILL.md"),
                        render::agentskills(&skill),
                        ImportKind::Skill,
                    ),
                };
                let file = PlannedFile::new(self.skills.join(below), content);
                self.items.push(Item {
                    disabled: starts_disabled(&skill),
                    ..Item::new(id, kind, path, file)
                });
            }
            Err(reason) => self.refuse(path, reason),
        }
    }
}

fn read_json(path: &Path) -> Result<Value, String> {
    let bytes = read_regular(path, MAX_FILE_BYTES)
        .map_err(|problem| format!("cannot be read: {problem}"))?;
    serde_json::from_slice(&bytes).map_err(|problem| format!("it is not JSON: {problem}"))
}

fn read_record(value: &Value, moment: &Moment) -> Result<Skill, String> {
    let parsed = parse_record(value, moment);
    match parsed.document {
        Some(Document::Skill(skill)) => Ok(*skill),
        Some(Document::Domain(_) | Document::Agent(_)) | None => {
            Err(first_error(&parsed.diagnostics))
        }
    }
}

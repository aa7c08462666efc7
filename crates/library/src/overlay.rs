//! Changes that tools made to a file skill. They are stored in the row of the skill; the file stays as its
//! author wrote it.
//!
//! A changed field is in effect as long as the file has the same value for it as when the tool changed it. If
//! the author edits that field afterwards, the file is in effect again: the last writer of a field decides.
//!
//! Not here: the store, the rights that a change needs (`rights.rs`), and whether a skill fires
//! (`standing.rs`).

use std::collections::BTreeSet;
use std::sync::Arc;

use deft_model::{Authority, Body, Dialect, Object, Skill, Text};
use deft_records::{NormalisedRecord, merge};
use deft_registry::LoadedSkill;
use deft_skillfile::{Document, Moment, parse_record, render};
use serde_json::{Value, json};

use crate::rights::{read_record_text, with_authority, write_record_text};
use crate::skills::record_revision;

/// Ignored, because the row stores whether the skill fires.
const ENABLED: &str = "enabled";

/// Fields that define what a skill does.
const BODY: [&str; 2] = ["instructions", "execution_plan"];

/// Fields that define when a skill fires.
const TIMING: [&str; 3] = ["trigger_type", "trigger_config", "timezone"];

/// The changes of tools to one file skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// New values of fields; null removes a field.
    changes: Object,
    /// Values of these fields in the file when they were changed.
    base: Object,
    /// Whether a tool deleted the skill.
    pub(crate) deleted: bool,
    /// The rights of the agents that changed it; `None` if only people did.
    pub(crate) authority: Option<Authority>,
}

impl Overlay {
    /// Parses a stored overlay. An unreadable one leaves the skill without any rights.
    pub(crate) fn read(text: &str) -> Self {
        let Ok((mut fields, authority)) = read_record_text(text) else {
            return Self {
                authority: Some(Authority::none()),
                ..Self::default()
            };
        };
        let mut take = |key: &str| match fields.shift_remove(key) {
            Some(Value::Object(object)) => object,
            _ => Object::new(),
        };
        Self {
            changes: take("changes"),
            base: take("base"),
            deleted: fields.get("deleted") == Some(&Value::Bool(true)),
            authority,
        }
    }

    /// Returns the overlay as text; `None` if it is empty.
    pub(crate) fn text(&self) -> Option<String> {
        if *self == Self::default() {
            return None;
        }
        let mut fields = Object::new();
        fields.insert("changes".to_owned(), json!(self.changes));
        fields.insert("base".to_owned(), json!(self.base));
        if self.deleted {
            fields.insert("deleted".to_owned(), true.into());
        }
        Some(write_record_text(&fields, self.authority.as_ref()))
    }

    /// Returns the overlay after a person has enabled the skill: it is no longer deleted, and if no change of
    /// an agent is left, the rights of the agent are dropped.
    pub(crate) fn restored_by_person(&self) -> Self {
        let own = self.changes.is_empty();
        Self {
            deleted: false,
            authority: self.authority.clone().filter(|_| !own),
            ..self.clone()
        }
    }

    /// Returns the changed fields that are in effect.
    fn in_force<'a>(&'a self, file: &'a Object) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let counts = |(key, _): &(&String, &Value)| {
            let own = file.get(*key).unwrap_or(&Value::Null);
            self.base.get(*key).unwrap_or(&Value::Null) == own
        };
        self.changes.iter().filter(counts)
    }

    /// Returns the names of the changed fields that are in effect.
    pub(crate) fn fields_in_force(&self, file: &Skill) -> Vec<String> {
        let file = fields(file);
        self.in_force(&file).map(|(key, _)| key.clone()).collect()
    }

    /// Returns the fields of a file skill with the changes applied.
    pub(crate) fn patched_fields(&self, file: &Skill) -> Object {
        let file = fields(file);
        let mut patched = file.clone();
        for (key, value) in self.in_force(&file) {
            if value.is_null() {
                patched.shift_remove(key);
            } else {
                patched.insert(key.clone(), value.clone());
            }
        }
        patched
    }

    /// Returns the fields of a file skill after the further `changes`. `enabled` is its current state.
    pub fn merge_changes(
        &self,
        file: &Skill,
        changes: &Object,
        enabled: bool,
        moment: &Moment,
    ) -> NormalisedRecord {
        let mut existing = self.patched_fields(file);
        existing.insert(ENABLED.to_owned(), enabled.into());
        merge(&existing, changes, moment)
    }

    /// Returns the overlay that turns the file into the `wanted` fields.
    #[must_use]
    pub fn leading_to(&self, file: &Skill, wanted: &Object, moment: &Moment) -> Self {
        let own = fields(file);
        // Fields that deft completes by itself are not changes.
        let plain = merge(&own, &Object::new(), moment).record;
        let keys: BTreeSet<&String> = wanted.keys().chain(plain.keys()).collect();
        let mut leading = Self {
            changes: Object::new(),
            base: Object::new(),
            ..self.clone()
        };
        for key in keys {
            if key == ENABLED || wanted.get(key) == plain.get(key) {
                continue;
            }
            let value = |fields: &Object| fields.get(key).cloned().unwrap_or_default();
            leading.changes.insert(key.clone(), value(wanted));
            leading.base.insert(key.clone(), value(&own));
        }
        leading
    }

    /// Returns the skill of a file with the changes applied.
    pub fn apply(&self, file: &Skill, moment: &Moment) -> Skill {
        let own = fields(file);
        let changed: Vec<&String> = self.in_force(&own).map(|(key, _)| key).collect();
        let skill = if changed.is_empty() {
            file.clone()
        } else {
            let patched = Value::Object(self.patched_fields(file));
            match parse_record(&patched, moment).document {
                Some(Document::Skill(skill)) => combine(file, *skill, &changed),
                Some(Document::Domain(_) | Document::Agent(_)) | None => {
                    tracing::warn!(skill = %file.id, "the overlay of this skill cannot be read");
                    file.clone()
                }
            }
        };
        with_authority(skill, self.authority.clone())
    }

    /// Returns a loaded file with the changes applied, under its own revision.
    pub(crate) fn apply_to(&self, file: &LoadedSkill, moment: &Moment) -> LoadedSkill {
        let is_file = self.authority.is_none() && self.fields_in_force(&file.skill).is_empty();
        let revision = match self.text().filter(|_| !is_file) {
            Some(text) => record_revision(&format!("{}\n{text}", file.revision)),
            None => file.revision,
        };
        LoadedSkill {
            skill: self.apply(&file.skill, moment),
            revision,
            path: Arc::clone(&file.path),
            siblings: file.siblings.clone(),
        }
    }
}

/// Combines a file with its changed fields: everything that a record cannot express is taken from the file.
fn combine(file: &Skill, changed: Skill, fields: &[&String]) -> Skill {
    let is_changed = |names: &[&str]| fields.iter().any(|field| names.contains(&field.as_str()));
    let new_body = is_changed(&BODY);
    let prose = matches!(changed.body, Body::Instructions(_));
    let dialect = match file.dialect {
        Dialect::AgentSkills if prose => Dialect::AgentSkills,
        dialect if !new_body => dialect,
        Dialect::AgentSkills | Dialect::ManPage | Dialect::Workflow | Dialect::Record => {
            Dialect::Record
        }
    };
    Skill {
        id: file.id.clone(),
        domain: file.domain.clone(),
        open: file.open.clone(),
        extra: file.extra.clone(),
        dialect,
        body: if new_body {
            changed.body
        } else {
            file.body.clone()
        },
        required_tools: if new_body || is_changed(&["required_tools"]) {
            changed.required_tools
        } else {
            file.required_tools.clone()
        },
        timing: if is_changed(&TIMING) {
            changed.timing
        } else {
            file.timing.clone()
        },
        ..changed
    }
}

/// Returns a skill in the fields of a record. Steps that no record can hold are replaced by the description
/// of the skill.
pub fn fields(skill: &Skill) -> Object {
    let as_instructions = || {
        let prose = match skill.description.trim() {
            "" => &skill.name,
            _ => &skill.description,
        };
        render::record(&Skill {
            body: Body::Instructions(Text::from(prose.as_str())),
            ..skill.clone()
        })
    };
    let mut fields = match render::record(skill).or_else(as_instructions) {
        Some(Value::Object(fields)) => fields,
        _ => Object::new(),
    };
    // Always present, even for the default agent, so that no change has to add it.
    let agent = skill.policy.agent_id.as_str();
    fields.insert("agent_id".to_owned(), agent.into());
    fields
}

/// Returns a changed field that only the file can hold, such as the steps of a workflow or the code of a
/// command.
pub(crate) fn only_in_file(file: &Skill, wanted: &Object) -> Option<&'static str> {
    if render::record(file).is_some() {
        return None;
    }
    let own = fields(file);
    let differs = |field: &&&str| wanted.get(**field) != own.get(**field);
    BODY.iter().find(differs).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_stores_its_changes_and_authority() {
        let overlay = Overlay {
            changes: Object::from_iter([("max_steps".to_owned(), json!(3))]),
            base: Object::from_iter([("max_steps".to_owned(), Value::Null)]),
            deleted: true,
            authority: Some(Authority::none()),
        };
        let text = overlay.text().unwrap();
        assert_eq!(Overlay::read(&text), overlay);
        assert_eq!(Overlay::default().text(), None);
    }

    /// A damaged text must not give a changed skill the rights of the person who wrote the file.
    #[test]
    fn an_unreadable_overlay_gives_no_authority() {
        for text in ["", "[]", "{\"deft/authority\": 3}"] {
            let authority = Overlay::read(text).authority;
            assert_eq!(authority, Some(Authority::none()), "{text}");
        }
    }
}

//! What tools changed about a file skill. The change is kept beside the file, in the row of the skill;
//! the file stays as its author wrote it.
//!
//! A changed field counts as long as the file says about it what it said when the tool changed it. If
//! the author edits that field afterwards, the file counts again: the last writer of a field decides.
//!
//! Not here: the store, which rights are needed (`authority`), whether a skill fires (`standing.rs`).

use std::collections::BTreeSet;
use std::sync::Arc;

use deft_model::{Authority, Body, Dialect, Object, Skill, Text};
use deft_records::{NormalisedRecord, merge};
use deft_registry::LoadedSkill;
use deft_skillfile::{Document, Moment, parse_record, render};
use serde_json::{Value, json};

use crate::rights::{read_record_text, with_authority, write_record_text};
use crate::skills::record_revision;

/// Whether the skill fires is a column of its row.
const ENABLED: &str = "enabled";

/// Fields that say what a skill does.
const BODY: [&str; 2] = ["instructions", "execution_plan"];

/// Fields that say when it fires.
const TIMING: [&str; 3] = ["trigger_type", "trigger_config", "timezone"];

/// The changes of tools to one file skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// New values of fields; null removes a field.
    changes: Object,
    /// What the file said about these fields when they were changed.
    base: Object,
    /// A tool deleted the skill.
    pub(crate) deleted: bool,
    /// The rights of the agents that changed it; none if only people did.
    pub(crate) authority: Option<Authority>,
}

impl Overlay {
    /// The changes that a text holds. A text that cannot be read gives the skill no rights at all.
    pub(crate) fn read(text: &str) -> Self {
        let Some((mut fields, authority)) = read_record_text(text) else {
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

    /// The text that holds the changes; none if there are none.
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

    /// The same after a person switched the skill on: it is not deleted, and where nothing of an agent
    /// is left in it, the person answers for it.
    pub(crate) fn taken_back(&self) -> Self {
        let own = self.changes.is_empty();
        Self {
            deleted: false,
            authority: self.authority.clone().filter(|_| !own),
            ..self.clone()
        }
    }

    /// The changed fields that count.
    fn in_force<'a>(&'a self, file: &'a Object) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let counts = |(key, _): &(&String, &Value)| {
            let said = file.get(*key).unwrap_or(&Value::Null);
            self.base.get(*key).unwrap_or(&Value::Null) == said
        };
        self.changes.iter().filter(counts)
    }

    /// The names of the changed fields that count.
    pub(crate) fn fields_in_force(&self, file: &Skill) -> Vec<String> {
        let file = fields(file);
        self.in_force(&file).map(|(key, _)| key.clone()).collect()
    }

    /// The fields of a file skill with these changes.
    pub(crate) fn patched(&self, file: &Skill) -> Object {
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

    /// The fields of a file skill after a further change. `enabled` is how it stands now.
    pub fn merged(
        &self,
        file: &Skill,
        changes: &Object,
        enabled: bool,
        moment: &Moment,
    ) -> NormalisedRecord {
        let mut existing = self.patched(file);
        existing.insert(ENABLED.to_owned(), enabled.into());
        merge(&existing, changes, moment)
    }

    /// The changes that lead from a file to these fields.
    #[must_use]
    pub fn leading_to(&self, file: &Skill, wanted: &Object, moment: &Moment) -> Self {
        let said = fields(file);
        // What deft completes by itself is no change.
        let plain = merge(&said, &Object::new(), moment).record;
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
            leading.base.insert(key.clone(), value(&said));
        }
        leading
    }

    /// The skill of a file with these changes.
    pub fn apply(&self, file: &Skill, moment: &Moment) -> Skill {
        let said = fields(file);
        let changed: Vec<&String> = self.in_force(&said).map(|(key, _)| key).collect();
        let skill = if changed.is_empty() {
            file.clone()
        } else {
            let patched = Value::Object(self.patched(file));
            match parse_record(&patched, moment).document {
                Some(Document::Skill(skill)) => combined(file, *skill, &changed),
                Some(Document::Domain(_) | Document::Agent(_)) | None => {
                    tracing::warn!(skill = %file.id, "the overlay of this skill cannot be read");
                    file.clone()
                }
            }
        };
        with_authority(skill, self.authority.clone())
    }

    /// A loaded file with these changes, under a revision of its own.
    pub(crate) fn loaded(&self, file: &LoadedSkill, moment: &Moment) -> LoadedSkill {
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

/// The file with what was changed: everything that a record cannot say stays as the file says it.
fn combined(file: &Skill, changed: Skill, fields: &[&String]) -> Skill {
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

/// A skill in the fields of a record. Steps that no record can hold are not among them; what the skill
/// is for stands in their place.
pub fn fields(skill: &Skill) -> Object {
    let told = || {
        let prose = match skill.description.trim() {
            "" => &skill.name,
            _ => &skill.description,
        };
        render::record(&Skill {
            body: Body::Instructions(Text::from(prose.as_str())),
            ..skill.clone()
        })
    };
    let mut fields = match render::record(skill).or_else(told) {
        Some(Value::Object(fields)) => fields,
        _ => Object::new(),
    };
    // Said also where it is the usual one, so that no change has to add it.
    let agent = skill.policy.agent_id.as_str();
    fields.insert("agent_id".to_owned(), agent.into());
    fields
}

/// The fields that a change would need and that only the file can hold: the steps of a workflow, the
/// code behind a command.
pub(crate) fn only_in_file(file: &Skill, wanted: &Object) -> Option<&'static str> {
    if render::record(file).is_some() {
        return None;
    }
    let said = fields(file);
    let differs = |field: &&&str| wanted.get(**field) != said.get(**field);
    BODY.iter().find(differs).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_what_was_changed_and_on_whose_rights() {
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
    fn a_text_that_cannot_be_read_gives_no_rights() {
        for text in ["", "[]", "{\"deft/authority\": 3}"] {
            let authority = Overlay::read(text).authority;
            assert_eq!(authority, Some(Authority::none()), "{text}");
        }
    }
}

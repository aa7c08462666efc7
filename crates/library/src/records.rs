//! Records: storing, changing and listing the skills of assistants (S0.61, S0.64).
//!
//! `deft-records` repairs and checks what a model wrote; this module checks it against the tools and stores
//! it. The tools for models are in `deft-engine`; file skills are changed in `changes.rs`.

use std::path::Path;

use deft_base::{Error, read_or_log};
use deft_model::{Authority, DisabledReason, Object, SkillId, is_template};
use deft_records::{
    CheckedRecord, NormalisedRecord, Problem, Refusal, Target, ToolState, check, describe_stored,
    merge, normalise,
};
use deft_registry::LoadedSkill;
use deft_store::{NewSkill, PutResult, SkillFilter, SkillOrigin, SkillRow};
use deft_tools::ToolLookup;
use serde_json::Value;

use crate::choice::NamedSkill;
use crate::lookup::record_key;
use crate::rights::{
    after_change, is_only_off, read_record_text, unreadable_record, with_authority,
    write_record_text,
};
use crate::skills::record_revision;
use crate::standing::ReplacedBy;
use crate::{CHAT_SKILL, DISPATCH_SKILL, JOB_SKILL, Library};

/// The field of a record that holds its timing.
pub(crate) const TIMING: &str = "trigger_config";

/// Ids of skills that exist only in the engine: a record with one of them would be mistaken for it.
const RESERVED: [&str; 3] = [CHAT_SKILL, DISPATCH_SKILL, JOB_SKILL];

/// A skill that was stored or changed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSkill {
    /// Its row.
    pub row: SkillRow,
    /// Its fields, as stored.
    pub record: Object,
    /// A description of what it will do.
    pub words: String,
    /// Notes about repairs.
    pub normalised: Vec<String>,
    /// Tools that it waits for.
    pub missing_tools: Vec<String>,
}

impl Library {
    /// Stores a new skill for a person.
    pub async fn store_skill(&self, args: &Object) -> Result<StoredSkill, Error> {
        self.store_skill_as(args, None).await
    }

    /// Stores a new skill. `by` holds the rights of the agent that stores it; `None` for a person.
    pub async fn store_skill_as(
        &self,
        args: &Object,
        by: Option<&Authority>,
    ) -> Result<StoredSkill, Error> {
        let normalised = normalise(args, &self.base.moment());
        let mut checked = self.check(&normalised).await?;
        checked.skill = with_authority(checked.skill, by.map(Authority::not_agreed));
        let mut new = self.new_record(&checked, None, self.base.now());
        let free = self.free_name(&checked.skill.name, &new.text.skill).await?;
        let takes_over = free.is_some();
        new.replaces = free.map(|row| (row.id, row.version));
        let stored = self.put(normalised, checked, new, by).await?;
        if takes_over {
            self.read_overlays().await?;
        }
        Ok(stored)
    }

    /// Changes a skill for a person. Absent fields keep their values.
    pub async fn update_skill(&self, target: &Target, args: &Object) -> Result<StoredSkill, Error> {
        self.update_skill_as(target, args, None).await
    }

    /// Changes a skill. `by` holds the rights of the agent that changes it; `None` for a person.
    pub async fn update_skill_as(
        &self,
        target: &Target,
        args: &Object,
        by: Option<&Authority>,
    ) -> Result<StoredSkill, Error> {
        loop {
            let changed = match self.look_up_target(target).await? {
                NamedSkill::Record(row) => self.update_record(&row, args, by).await,
                NamedSkill::File(loaded, row) => {
                    let files = self.files.snapshot();
                    let file = files.skill(loaded.skill.id.as_str()).unwrap_or(&loaded);
                    self.update_file(file, row.as_ref(), args, by).await
                }
                NamedSkill::FileMissing(row) => Err(self.unknown(&row.text.skill)),
            };
            match changed {
                // Another caller changed it at the same time: the change must start from the new state.
                Err(Error::Store(deft_store::Error::Changed { .. })) => {}
                other => return other,
            }
        }
    }

    async fn update_record(
        &self,
        row: &SkillRow,
        args: &Object,
        by: Option<&Authority>,
    ) -> Result<StoredSkill, Error> {
        let mut existing = self.content(row).await?;
        // The row decides whether it is enabled, not the stored record; a skill that was disabled after
        // failures is enabled again with its new content.
        let off = row.standing.disabled;
        let fires = matches!(off, None | Some(DisabledReason::Failures));
        existing.insert("enabled".to_owned(), fires.into());
        let mut normalised = merge(&existing, args, &self.base.moment());
        let new_time = normalised.record.get(TIMING) != existing.get(TIMING);
        if off == Some(DisabledReason::OneShotDone) && new_time {
            // A new time enables it again, unless the change says otherwise.
            existing.insert("enabled".to_owned(), true.into());
            normalised = merge(&existing, args, &self.base.moment());
        }
        let mut checked = self.check(&normalised).await?;
        let before = self.stored_by(row).await?;
        let authority = after_change(before.as_ref(), by, args);
        checked.skill = with_authority(checked.skill, authority);
        let mut new = self.new_record(&checked, Some(row), self.base.now());
        stop_waiting(&mut new, args);
        self.put(normalised, checked, new, by).await
    }

    async fn put(
        &self,
        normalised: NormalisedRecord,
        checked: CheckedRecord,
        new: NewSkill,
        by: Option<&Authority>,
    ) -> Result<StoredSkill, Error> {
        refuse_reserved(&checked.skill.name, &new.text.skill)?;
        let replaces = new.replaces;
        match self.store().put_skills(vec![new]).await?.pop() {
            Some(PutResult::Stored(row)) => {
                if let Some(by) = by {
                    self.grant_stored(&row, &checked.skill, &by.agreed).await?;
                }
                self.base.bells().ring_all();
                Ok(StoredSkill {
                    words: describe_stored(
                        &checked.skill,
                        &self.base.moment(),
                        row.timeline.next_at,
                    ),
                    normalised: self.notes(&checked, normalised),
                    row: *row,
                    record: checked.record,
                    missing_tools: checked.missing_tools,
                })
            }
            Some(PutResult::Refused(found)) => match (replaces, &found) {
                (Some((skill, _)), Some(other)) if other.id == skill => {
                    Err(deft_store::Error::Changed { skill }.into())
                }
                _ => Err(name_taken_error(found.as_deref(), &checked.skill.name)),
            },
            None => Err(name_taken_error(None, &checked.skill.name)),
        }
    }

    /// Returns the record of a row as it was stored.
    ///
    /// # Errors
    ///
    /// [`Error::NotARecord`] if the row belongs to a file skill.
    pub async fn content(&self, row: &SkillRow) -> Result<Object, Error> {
        if row.text.origin == SkillOrigin::File {
            return Err(Error::NotARecord {
                skill: row.text.skill.clone(),
            });
        }
        Ok(self.record_text(row).await?.0)
    }

    /// Returns the rights of the agent that stored a record; `None` if a person did.
    async fn stored_by(&self, row: &SkillRow) -> Result<Option<Authority>, Error> {
        Ok(self.record_text(row).await?.1)
    }

    async fn record_text(&self, row: &SkillRow) -> Result<(Object, Option<Authority>), Error> {
        let text = self.store().skill_content(row.id).await?;
        let text = text.ok_or_else(|| Error::RevisionLost {
            skill: row.text.skill.clone(),
            revision: row.text.revision.clone(),
        })?;
        read_record_text(&text).map_err(|why| unreadable_record(row, why))
    }

    /// Returns all records as skills, by name, without unreadable ones, which are logged.
    pub async fn record_skills(&self) -> Result<Vec<LoadedSkill>, Error> {
        let records = SkillFilter {
            origin: Some(SkillOrigin::Record),
            ..SkillFilter::default()
        };
        let mut skills = Vec::new();
        for row in self.list_skills(records).await? {
            skills.extend(self.load_record(&row).await);
        }
        Ok(skills)
    }

    /// Returns a record as a loaded skill; `None` if it cannot be read, which is logged.
    pub(crate) async fn load_record(&self, row: &SkillRow) -> Option<LoadedSkill> {
        let content = self.store().skill_content(row.id).await;
        let content = read_or_log(content, "a stored skill")??;
        let pinned = read_or_log(self.pin_row(row).await, "a stored skill")?;
        Some(LoadedSkill {
            skill: (*pinned.skill).clone(),
            revision: record_revision(&content),
            path: Path::new("").into(),
            siblings: Vec::new(),
        })
    }

    /// Returns the rows of stored skills, by name.
    pub async fn list_skills(&self, filter: SkillFilter) -> Result<Vec<SkillRow>, Error> {
        Ok(self.store().skills(filter).await?)
    }
}

/// Returns the tools that a record names: those it requires and those of its plan.
fn tools_of(record: &Object) -> impl Iterator<Item = &str> {
    let list = |key: &str| record.get(key).and_then(Value::as_array);
    let required = list("required_tools").into_iter().flatten();
    let planned = list("execution_plan").into_iter().flatten();
    let planned = planned.filter_map(|step| step.get("toolName"));
    required.chain(planned).filter_map(Value::as_str)
}

/// Returns the arguments of a planned call that are known already, and whether these are all; templates are
/// filled in when it fires.
fn known_arguments(step: &Value) -> (Object, bool) {
    let given = step["parameters"].as_object().cloned().unwrap_or_default();
    let count = given.len();
    let is_known = |value: &Value| !is_template(&value.to_string());
    let known: Object = given
        .into_iter()
        .filter(|(_, value)| is_known(value))
        .collect();
    let all = known.len() == count;
    (known, all)
}

/// Whether the times of a record are in the host's zone.
fn reads_host_zone(checked: &CheckedRecord, zone_added: bool) -> bool {
    checked.skill.timing.as_ref().is_some_and(|timing| {
        timing.interval_minutes.is_none() && (zone_added || timing.timezone.is_none())
    })
}

/// Marks a skill that waits for its tools as disabled by the user if the change disables it, so that tools do
/// not enable it.
pub(crate) fn stop_waiting(new: &mut NewSkill, changes: &Object) {
    let waits = new.standing.disabled == Some(DisabledReason::MissingTools);
    if waits && is_only_off(changes) {
        new.standing.disabled = Some(DisabledReason::User);
    }
}

fn refuse_reserved(name: &str, key: &str) -> Result<(), Error> {
    if RESERVED.contains(&key) {
        return Err(Error::NameTaken {
            name: name.to_owned(),
            by: "deft itself".to_owned(),
        });
    }
    Ok(())
}

pub(crate) fn name_taken_error(found: Option<&SkillRow>, name: &str) -> Error {
    let (name, by) = match found {
        Some(row) => (row.text.name.as_str(), format!("skill {}", row.id)),
        None => (name, "another skill".to_owned()),
    };
    Error::NameTaken {
        name: name.to_owned(),
        by,
    }
}

impl Library {
    /// Returns problems with planned calls that would be refused when they fire: arguments that the tool does
    /// not take even after repair, or a chat that deft may not use.
    fn wrong_arguments(&self, record: &Object) -> Vec<Problem> {
        let plan = record.get("execution_plan").and_then(Value::as_array);
        let steps = plan.into_iter().flatten().enumerate();
        let wrong = |(at, step): (usize, &Value)| {
            let tool = step["toolName"].as_str()?;
            let router = &self.router;
            let checked = match known_arguments(step) {
                (all, true) => router.repair_arguments(tool, all).map(drop),
                (some, false) => router.check_chats(tool, some),
            };
            let failure = checked.err()?;
            let field = format!("execution_plan[{at}].parameters");
            let problem = Problem::new(field, failure.message);
            Some(match failure.hint {
                Some(hint) => problem.hint(hint),
                None => problem,
            })
        };
        steps.filter_map(wrong).collect()
    }

    /// Returns the notes about repairs, and the doubt about the host's zone if it applies.
    pub(crate) fn notes(
        &self,
        checked: &CheckedRecord,
        normalised: NormalisedRecord,
    ) -> Vec<String> {
        let mut applied = normalised.applied;
        if reads_host_zone(checked, normalised.zone_added) {
            applied.extend(self.settings.zone_doubt.clone());
        }
        applied
    }

    /// Checks a record against the known tools.
    pub async fn check(&self, normalised: &NormalisedRecord) -> Result<CheckedRecord, Error> {
        let moment = self.base.moment();
        let known = |name: &str| match self.router.find(name) {
            ToolLookup::Tool(_) | ToolLookup::Ambiguous(_) => ToolState::Known,
            ToolLookup::Unknown { .. } => ToolState::Unknown,
            ToolLookup::Missing { nearest } => ToolState::Missing { near: nearest },
        };
        // Servers that were never listed are asked before a tool counts as missing.
        if tools_of(&normalised.record).any(|tool| matches!(known(tool), ToolState::Unknown)) {
            drop(self.router.list_servers().await);
        }
        let checked = check(&normalised.record, &moment, &known).map_err(Error::Refused)?;
        let problems = self.wrong_arguments(&checked.record);
        if problems.is_empty() {
            Ok(checked)
        } else {
            Err(Error::Refused(Refusal { problems }))
        }
    }

    /// Returns the row to store for a checked record.
    fn new_record(
        &self,
        checked: &CheckedRecord,
        replaces: Option<&SkillRow>,
        now: jiff::Timestamp,
    ) -> NewSkill {
        let authority = checked.skill.policy.authority.as_deref();
        let content = write_record_text(&checked.record, authority);
        let revision = record_revision(&content).to_string();
        let mut skill = checked.skill.clone();
        let key = record_key(&skill.policy.agent_id, skill.id.as_str());
        skill.id = SkillId::new(key.clone());
        let text = self.text(&skill, key, SkillOrigin::Record, revision);
        match replaces {
            None => self.new_skill(&skill, text, Some(content), now),
            Some(row) => {
                self.replacement(&skill, text, Some(content), row, now, ReplacedBy::ByTool)
            }
        }
    }
}

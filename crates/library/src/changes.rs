//! Changes of tools to file skills: an overlay in the store, never an edit of the file (S0.61).
//!
//! `overlay.rs` defines such a change and how long it stays in effect. Records are changed in `records.rs`.

use std::sync::Arc;

use deft_base::Error;
use deft_model::{Authority, DisabledReason, Object};
use deft_records::{NormalisedRecord, Problem, Refusal, Target, describe_stored};
use deft_registry::LoadedSkill;
use deft_store::{NewSkill, PutResult, SchedulePosition, SkillOrigin, SkillRow, SkillState};

use crate::Library;
use crate::choice::NamedSkill;
use crate::overlay::{Overlay, only_in_file};
use crate::records::{StoredSkill, TIMING, name_taken_error, stop_waiting};
use crate::rights::{after_change, refuse_change};
use crate::standing::{ReplacedBy, is_file_removed};

impl Library {
    /// Changes a file skill. `by` holds the rights of the agent that changes it; `None` for a person.
    pub(crate) async fn update_file(
        &self,
        file: &LoadedSkill,
        row: Option<&SkillRow>,
        args: &Object,
        by: Option<&Authority>,
    ) -> Result<StoredSkill, Error> {
        let (moment, now) = (self.base.moment(), self.base.now());
        let before = self.overlay_of(row).await?;
        let normalised = self.merge_changes(&before, file, row, args);
        if let Some(field) = only_in_file(&file.skill, &normalised.record) {
            return Err(held_by_file(field, file));
        }
        let checked = self.check(&normalised).await?;
        let mut overlay = before.leading_to(&file.skill, &normalised.record, &moment);
        overlay.authority = after_change(before.authority.as_ref(), by, args);
        let changed = overlay.apply_to(file, &moment);
        refuse_change(by, &changed.skill, Some(args)).map_err(Error::Agent)?;
        let key = file.skill.id.to_string();
        let revision = changed.revision.to_string();
        let text = self.text(&changed.skill, key, SkillOrigin::File, revision);
        // The row stores whether the skill fires, not the overlay.
        let mut skill = changed.skill;
        Arc::make_mut(&mut skill.policy).enabled = checked.skill.policy.enabled;
        let content = overlay.text();
        let mut new = match row {
            Some(row) => self.replacement(&skill, text, content, row, now, ReplacedBy::ByTool),
            None => self.new_skill(&skill, text, content, now),
        };
        stop_waiting(&mut new, args);
        let row = self.put_file(new).await?;
        if let Some(by) = by {
            self.grant_stored(&row, &skill, &by.agreed).await?;
        }
        self.base.bells().ring_all();
        Ok(StoredSkill {
            words: describe_stored(&skill, &moment, row.timeline.next_at),
            normalised: self.notes(&checked, normalised),
            row,
            record: checked.record,
            missing_tools: checked.missing_tools,
        })
    }

    /// Returns the fields of a file skill after a change, in the form of a record.
    fn merge_changes(
        &self,
        before: &Overlay,
        file: &LoadedSkill,
        row: Option<&SkillRow>,
        args: &Object,
    ) -> NormalisedRecord {
        let moment = self.base.moment();
        let off = match row.filter(|row| !is_file_removed(row)) {
            Some(row) => row.standing.disabled,
            None => self.first_standing_of(&file.skill),
        };
        // A skill that was disabled after failures is enabled again with its new content.
        let fires = matches!(off, None | Some(DisabledReason::Failures));
        let merged = before.merge_changes(&file.skill, args, fires, &moment);
        let new_time = merged.record.get(TIMING) != before.patched_fields(&file.skill).get(TIMING);
        if off == Some(DisabledReason::OneShotDone) && new_time {
            // A new time enables it again, unless the change says otherwise.
            return before.merge_changes(&file.skill, args, true, &moment);
        }
        merged
    }

    /// Deletes a skill; its runs stay. A skill file stays too: its skill is marked as deleted, even if a
    /// record had replaced it.
    pub async fn delete_skill(&self, target: &Target) -> Result<SkillRow, Error> {
        self.delete_skill_as(target, None).await
    }

    /// Like [`delete_skill`](Self::delete_skill), with the rights of the agent that deletes; `None` for a
    /// person.
    pub async fn delete_skill_as(
        &self,
        target: &Target,
        by: Option<&Authority>,
    ) -> Result<SkillRow, Error> {
        loop {
            let files = self.files.snapshot();
            let (key, row) = match self.look_up_target(target).await? {
                NamedSkill::Record(row) | NamedSkill::FileMissing(row) => {
                    (row.text.skill.clone(), Some(row))
                }
                NamedSkill::File(loaded, row) => {
                    refuse_change(by, &loaded.skill, None).map_err(Error::Agent)?;
                    (loaded.skill.id.to_string(), row)
                }
            };
            let deleted = match (files.skill(&key), row) {
                (Some(file), row) => self.delete_file(file, row.as_ref()).await,
                (None, Some(row)) => {
                    let removed = self.store().remove_skill(row.id).await?;
                    Ok(removed.unwrap_or(row))
                }
                // Its file was removed in the meantime.
                (None, None) => Err(self.unknown(&key)),
            };
            match deleted {
                Err(Error::Store(deft_store::Error::Changed { .. })) => {}
                other => return other,
            }
        }
    }

    /// Returns the row that a new record may replace: that of a finished one-shot, or that of a file skill
    /// that does not fire and was not disabled by a person. `None` if the name has no row to replace.
    ///
    /// # Errors
    ///
    /// [`Error::NameTaken`] says what uses the name.
    pub(crate) async fn free_name(&self, name: &str, key: &str) -> Result<Option<SkillRow>, Error> {
        let row = self.store().skill(key).await?;
        let record = row
            .as_ref()
            .is_some_and(|row| row.text.origin == SkillOrigin::Record);
        let off = match &row {
            Some(row) => row.standing.disabled,
            // Names are unique per agent, and files belong to the default agent.
            None if key.contains('/') => return Ok(None),
            None => match self.files.snapshot().find(key) {
                Some(file) => self.standing_of(&file.skill).await?,
                None => return Ok(None),
            },
        };
        let may_take = match off {
            Some(DisabledReason::OneShotDone) => true,
            Some(
                DisabledReason::MissingTools
                | DisabledReason::FileRemoved
                | DisabledReason::Deleted,
            ) => !record,
            Some(DisabledReason::User | DisabledReason::Failures | DisabledReason::Budget)
            | None => false,
        };
        match (may_take, record) {
            (true, _) => Ok(row),
            (false, true) => Err(name_taken_error(row.as_ref(), name)),
            (false, false) => Err(Error::NameTaken {
                name: name.to_owned(),
                by: format!("the file skill `{key}`"),
            }),
        }
    }

    /// Marks a file skill as deleted by an assistant. The file stays, and a person can restore the skill.
    /// `row` is the row of the skill, or that of a record with its name.
    async fn delete_file(
        &self,
        file: &LoadedSkill,
        row: Option<&SkillRow>,
    ) -> Result<SkillRow, Error> {
        let own = row.filter(|row| row.text.origin == SkillOrigin::File);
        let mut overlay = self.overlay_of(own).await?;
        overlay.deleted = true;
        let changed = overlay.apply_to(file, &self.base.moment());
        let key = file.skill.id.to_string();
        let revision = changed.revision.to_string();
        let new = NewSkill {
            text: self
                .text(&changed.skill, key, SkillOrigin::File, revision)
                .text,
            content: overlay.text(),
            standing: SkillState {
                disabled: Some(DisabledReason::Deleted),
                ..own.map(|row| row.standing.clone()).unwrap_or_default()
            },
            timeline: SchedulePosition::default(),
            replaces: row.map(|row| (row.id, row.version)),
            at: self.base.now(),
        };
        self.put_file(new).await
    }

    /// Drops the overlay of a file skill, so that the file is in effect again. `None` if it has no overlay or
    /// no file.
    pub async fn restore_file(&self, name: &str) -> Result<Option<SkillRow>, Error> {
        loop {
            let row = self.row_of(name).await?;
            let files = self.files.snapshot();
            let file = files.skill(&row.text.skill);
            let overlay = self.overlay_of(Some(&row)).await?;
            let (Some(file), true) = (file, overlay != Overlay::default()) else {
                return Ok(None);
            };
            let revision = file.revision.to_string();
            let key = row.text.skill.clone();
            let text = self.text(&file.skill, key, SkillOrigin::File, revision);
            let now = self.base.now();
            let new = self.replacement(&file.skill, text, None, &row, now, ReplacedBy::ByFile);
            match self.put_file(new).await {
                Err(Error::Store(deft_store::Error::Changed { .. })) => {}
                stored => {
                    self.base.bells().ring_all();
                    return stored.map(Some);
                }
            }
        }
    }

    /// Returns the new content of a row that a person enables, if tools had deleted its skill or an agent had
    /// enabled it: the skill belongs to the person again. `None` otherwise.
    pub(crate) async fn restored_by_person(
        &self,
        row: &SkillRow,
    ) -> Result<Option<NewSkill>, Error> {
        let overlay = self.overlay_of(Some(row)).await?;
        let back = overlay.restored_by_person();
        let files = self.files.snapshot();
        let (Some(file), true) = (files.skill(&row.text.skill), back != overlay) else {
            return Ok(None);
        };
        let loaded = back.apply_to(file, &self.base.moment());
        let revision = loaded.revision.to_string();
        let key = row.text.skill.clone();
        let now = self.base.now();
        let change = self.switched_on(row, now)?;
        Ok(Some(NewSkill {
            text: self
                .text(&loaded.skill, key, SkillOrigin::File, revision)
                .text,
            content: back.text(),
            standing: change.standing,
            timeline: change.timeline.unwrap_or(row.timeline),
            replaces: Some((row.id, row.version)),
            at: now,
        }))
    }

    /// Returns the overlay of the skill of a row; an empty one for a record.
    async fn overlay_of(&self, row: Option<&SkillRow>) -> Result<Overlay, Error> {
        let Some(row) = row.filter(|row| row.text.origin == SkillOrigin::File) else {
            return Ok(Overlay::default());
        };
        let text = self.store().skill_content(row.id).await?;
        Ok(text.map_or_else(Overlay::default, |text| Overlay::read(&text)))
    }

    /// Stores the row of a file skill, and reloads the overlays of this process.
    pub(crate) async fn put_file(&self, new: NewSkill) -> Result<SkillRow, Error> {
        let id = new.replaces.map_or(0, |(id, _)| id);
        let put = self.store().put_skills(vec![new]).await?.pop();
        self.read_overlays().await?;
        match put {
            Some(PutResult::Stored(row)) => Ok(*row),
            // Another caller was faster: the change must start from its row.
            Some(PutResult::Refused(_)) | None => {
                Err(deft_store::Error::Changed { skill: id }.into())
            }
        }
    }
}

/// Returns the error for a change of something that only the file can hold.
fn held_by_file(field: &str, file: &LoadedSkill) -> Error {
    let path = file.path.display();
    let message = "this field can only be changed in the file of the skill".to_owned();
    let problem = Problem::new(field, message);
    Error::Refused(Refusal {
        problems: vec![problem.hint(format!("edit `{path}`, or store another skill"))],
    })
}

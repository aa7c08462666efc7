//! Changes of tools to skills of files: an overlay in the store, never an edit of the file (S0.61).
//!
//! What such a change is, and how long it counts, is in `overlay.rs`. Records are changed in
//! `records.rs`.

use std::sync::Arc;

use deft_base::Error;
use deft_model::{Authority, DisabledReason, Object};
use deft_records::{NormalisedRecord, Problem, Refusal, Target, describe_stored};
use deft_registry::LoadedSkill;
use deft_store::{NewSkill, PutResult, SkillOrigin, SkillRow, Standing, Timeline};

use crate::Library;
use crate::lookup::NamedSkill;
use crate::overlay::{Overlay, only_in_file};
use crate::records::{StoredSkill, TIMING, stop_waiting, taken};
use crate::rights::{after_change, refuse_change};
use crate::standing::{ReplacedBy, is_gone};

impl Library {
    /// Changes a file skill with the rights of the agent that does; none if a person does.
    pub(crate) async fn update_file(
        &self,
        file: &LoadedSkill,
        row: Option<&SkillRow>,
        args: &Object,
        by: Option<&Authority>,
    ) -> Result<StoredSkill, Error> {
        let (moment, now) = (self.base.moment(), self.base.now());
        let before = self.overlay_of(row).await?;
        let normalised = self.merged(&before, file, row, args);
        if let Some(field) = only_in_file(&file.skill, &normalised.record) {
            return Err(held_by_file(field, file));
        }
        let checked = self.check(&normalised).await?;
        let mut overlay = before.leading_to(&file.skill, &normalised.record, &moment);
        overlay.authority = after_change(before.authority.as_ref(), by, args);
        let changed = overlay.loaded(file, &moment);
        refuse_change(by, &changed.skill, Some(args)).map_err(Error::Agent)?;
        let key = file.skill.id.to_string();
        let revision = changed.revision.to_string();
        let text = self.text(&changed.skill, key, SkillOrigin::File, revision);
        // Whether it fires is said by its row, not by the overlay.
        let mut skill = changed.skill;
        Arc::make_mut(&mut skill.policy).enabled = checked.skill.policy.enabled;
        let content = overlay.text();
        let mut new = match row {
            Some(row) => self.replacing(&skill, text, content, row, now, ReplacedBy::ByTool),
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

    /// The fields of a file skill after a change, in the words of a record.
    fn merged(
        &self,
        before: &Overlay,
        file: &LoadedSkill,
        row: Option<&SkillRow>,
        args: &Object,
    ) -> NormalisedRecord {
        let moment = self.base.moment();
        let off = match row.filter(|row| !is_gone(row)) {
            Some(row) => row.standing.disabled,
            None => self.first_standing_of(&file.skill),
        };
        // What failed gets a new chance with its new content.
        let fires = matches!(off, None | Some(DisabledReason::Failures));
        let merged = before.merged(&file.skill, args, fires, &moment);
        let new_time = merged.record.get(TIMING) != before.patched(&file.skill).get(TIMING);
        if off == Some(DisabledReason::OneShotDone) && new_time {
            // Unless something else is said, a new time wakes it.
            return before.merged(&file.skill, args, true, &moment);
        }
        merged
    }

    /// Forgets a skill; its runs stay. The file of a skill stays too: the skill is marked as deleted,
    /// also where a record had taken its place.
    pub async fn delete_skill(&self, target: &Target) -> Result<SkillRow, Error> {
        self.delete_skill_as(target, None).await
    }

    /// The same with the rights of the agent that does.
    pub async fn delete_skill_as(
        &self,
        target: &Target,
        by: Option<&Authority>,
    ) -> Result<SkillRow, Error> {
        loop {
            let files = self.files.snapshot();
            let (key, row) = match self.look_up_target(target).await? {
                NamedSkill::Record(row) | NamedSkill::Gone(row) => {
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
                // Its file went meanwhile.
                (None, None) => Err(self.unknown(&key)),
            };
            match deleted {
                Err(Error::Store(deft_store::Error::Changed { .. })) => {}
                other => return other,
            }
        }
    }

    /// The row that a new record may take the place of: a one-shot that is done, and a file skill that
    /// does not fire and that no person switched off. None if the name is free; an error says what has
    /// it.
    pub(crate) async fn free_name(&self, name: &str, key: &str) -> Result<Option<SkillRow>, Error> {
        let row = self.store().skill(key).await?;
        let record = row
            .as_ref()
            .is_some_and(|row| row.text.origin == SkillOrigin::Record);
        let off = match &row {
            Some(row) => row.standing.disabled,
            // Names are unique for each agent, and the files are the usual one's.
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
            (false, true) => Err(taken(row.as_ref(), name)),
            (false, false) => Err(Error::NameTaken {
                name: name.to_owned(),
                by: format!("the file skill `{key}`"),
            }),
        }
    }

    /// Deletes a file skill for assistants. The file stays, and a person can bring the skill back. `row`
    /// is that of the skill, or that of a record that has its name.
    async fn delete_file(
        &self,
        file: &LoadedSkill,
        row: Option<&SkillRow>,
    ) -> Result<SkillRow, Error> {
        let own = row.filter(|row| row.text.origin == SkillOrigin::File);
        let mut overlay = self.overlay_of(own).await?;
        overlay.deleted = true;
        let changed = overlay.loaded(file, &self.base.moment());
        let key = file.skill.id.to_string();
        let revision = changed.revision.to_string();
        let new = NewSkill {
            text: self
                .text(&changed.skill, key, SkillOrigin::File, revision)
                .text,
            content: overlay.text(),
            standing: Standing {
                disabled: Some(DisabledReason::Deleted),
                ..own.map(|row| row.standing.clone()).unwrap_or_default()
            },
            timeline: Timeline::default(),
            replaces: row.map(|row| (row.id, row.version)),
            at: self.base.now(),
        };
        self.put_file(new).await
    }

    /// Drops what tools changed about a file skill, so that the file counts again. None if there is
    /// nothing to drop.
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
            let new = self.replacing(&file.skill, text, None, &row, now, ReplacedBy::ByFile);
            match self.put_file(new).await {
                Err(Error::Store(deft_store::Error::Changed { .. })) => {}
                stored => {
                    self.base.bells().ring_all();
                    return stored.map(Some);
                }
            }
        }
    }

    /// A row that a person switches on, if tools had deleted its skill or an agent had switched it on
    /// before: the skill is the person's again.
    pub(crate) async fn taken_back(&self, row: &SkillRow) -> Result<Option<NewSkill>, Error> {
        let overlay = self.overlay_of(Some(row)).await?;
        let back = overlay.taken_back();
        let files = self.files.snapshot();
        let (Some(file), true) = (files.skill(&row.text.skill), back != overlay) else {
            return Ok(None);
        };
        let loaded = back.loaded(file, &self.base.moment());
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

    /// What tools changed about the skill of a row; nothing for a record.
    async fn overlay_of(&self, row: Option<&SkillRow>) -> Result<Overlay, Error> {
        let Some(row) = row.filter(|row| row.text.origin == SkillOrigin::File) else {
            return Ok(Overlay::default());
        };
        let text = self.store().skill_content(row.id).await?;
        Ok(text.map_or_else(Overlay::default, |text| Overlay::read(&text)))
    }

    /// Stores the row of a file skill, and lets this process know of it.
    pub(crate) async fn put_file(&self, new: NewSkill) -> Result<SkillRow, Error> {
        let id = new.replaces.map_or(0, |(id, _)| id);
        let put = self.store().put_skills(vec![new]).await?.pop();
        self.read_overlays().await?;
        match put {
            Some(PutResult::Stored(row)) => Ok(*row),
            // Another caller was quicker: its row is the one to change now.
            Some(PutResult::Refused(_)) | None => {
                Err(deft_store::Error::Changed { skill: id }.into())
            }
        }
    }
}

/// A change of what only the file can say.
fn held_by_file(field: &str, file: &LoadedSkill) -> Error {
    let path = file.path.display();
    let message = "only its file says what this skill does".to_owned();
    let problem = Problem::new(field, message);
    Error::Refused(Refusal {
        problems: vec![problem.hint(format!("edit `{path}`, or store another skill"))],
    })
}

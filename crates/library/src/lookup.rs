//! Lookup of skills by name, in files and in records of the store. `choice.rs` has its rules.
//!
//! Records are read on demand and compiled once per revision, so a
//! million of them need no memory.

use std::sync::Arc;

use deft_base::Error;
use deft_model::{DEFAULT_AGENT, DisabledReason, Skill, SkillId};
use deft_records::Target;
use deft_registry::LoadedSkill;
use deft_skillfile::parse_record;
use deft_store::{SkillFilter, SkillOrigin, SkillRow};
use serde_json::Value;

use crate::Library;
use crate::choice::{NamedSkill, RowKey, row_keys};
use crate::rights::{read_record_text, unreadable_record, with_authority};
use crate::skills::{
    PinnedSkill, decode, encode, only_skill, record_revision, stored_text, unknown_skill,
};

/// Returns the id of a record: its slug, prefixed with its agent unless that is the default one (X6: names
/// are unique per agent).
pub(crate) fn record_key(agent_id: &str, slug: &str) -> String {
    if agent_id == DEFAULT_AGENT {
        slug.to_owned()
    } else {
        format!("{agent_id}/{slug}")
    }
}

/// Returns `None` if a skill does not exist or cannot be run, for a caller to which that is no failure. All
/// other failures of a lookup are errors.
pub fn skip_unknown(found: Result<PinnedSkill, Error>) -> Result<Option<PinnedSkill>, Error> {
    match found {
        Ok(pinned) => Ok(Some(pinned)),
        Err(
            Error::UnknownSkill { .. }
            | Error::BrokenSkill { .. }
            | Error::DeletedSkill { .. }
            | Error::Plan { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Library {
    /// Returns the skill with this name, compiled.
    pub async fn find(&self, name: &str) -> Result<PinnedSkill, Error> {
        match self.look_up(name).await? {
            NamedSkill::Record(row) => self.pin_row(&row).await,
            NamedSkill::File(loaded, _) => self.plans.pin(&loaded),
            NamedSkill::FileMissing(_) => Err(self.unknown(name)),
        }
    }

    /// Returns the text of a revision of a skill, as deft stores it.
    pub async fn revision_text(&self, skill: &str, revision: &str) -> Result<String, Error> {
        let pinned = self.find_pinned(skill, revision).await?;
        stored_text(&pinned.skill)
    }

    /// Returns the skill in the revision that a run has pinned: from memory, from the files, or from the
    /// store.
    pub async fn find_pinned(&self, skill: &str, revision: &str) -> Result<PinnedSkill, Error> {
        if let Some(pinned) = self.plans.get(revision) {
            return Ok(pinned);
        }
        let snapshot = self.snapshot();
        if let Ok(pinned) = self.plans.find(&snapshot, skill)
            && pinned.revision == revision
        {
            return Ok(pinned);
        }
        let lost = || Error::RevisionLost {
            skill: skill.to_owned(),
            revision: revision.to_owned(),
        };
        let content = self.store().revision(revision).await?.ok_or_else(lost)?;
        let skill = decode(&content, &self.base.moment()).map_err(|why| Error::Unreadable {
            what: format!("revision `{revision}` of skill `{skill}`"),
            why,
        })?;
        self.plans.add(Arc::new(skill), revision.to_owned())
    }

    /// Returns a loaded skill, compiled.
    pub fn pin_loaded(&self, loaded: &LoadedSkill) -> Result<PinnedSkill, Error> {
        self.plans.pin(loaded)
    }

    /// Looks up a record or file skill by id, number or name. A record replaces a file with the same id.
    pub(crate) async fn look_up(&self, name: &str) -> Result<NamedSkill, Error> {
        let file = self.snapshot().find(name).map(Arc::clone);
        let row = self.find_row(name, file.as_deref()).await?;
        let file = match &row {
            Some(row) if row.text.origin == SkillOrigin::File => self.file_of(row).await?,
            Some(_) | None => file,
        };
        NamedSkill::from_parts(row, file).ok_or_else(|| self.unknown(name))
    }

    /// Like `look_up`, for the target of a tool call.
    pub async fn look_up_target(&self, target: &Target) -> Result<NamedSkill, Error> {
        match target {
            Target::Name(name) => self.look_up(name).await,
            Target::Id(id) => match self.store().skill_by_id(*id).await? {
                Some(row) => self.look_up(&row.text.skill).await,
                None => self.look_up(&id.to_string()).await,
            },
        }
    }

    /// Returns the file skill of a row; `None` if its file was removed. Reloads the overlays if the row shows
    /// that another process has changed the skill.
    async fn file_of(&self, row: &SkillRow) -> Result<Option<Arc<LoadedSkill>>, Error> {
        let deleted = row.standing.disabled == Some(DisabledReason::Deleted);
        let known = self.snapshot().skill(&row.text.skill).map(Arc::clone);
        let current = known
            .as_ref()
            .is_some_and(|file| file.revision.to_string() == row.text.revision);
        if !current || deleted {
            self.read_overlays().await?;
        }
        match self.snapshot().skill(&row.text.skill) {
            Some(file) => Ok(Some(Arc::clone(file))),
            None if deleted => Err(Error::DeletedSkill {
                skill: row.text.skill.clone(),
            }),
            None => Ok(None),
        }
    }

    /// Returns the error for a name without a skill: its file is broken, or the name is unknown.
    pub(crate) fn unknown(&self, name: &str) -> Error {
        unknown_skill(&self.snapshot(), name)
    }

    /// Compiles a skill that exists only for this run, under a revision that is the hash of its content. The
    /// skill is read back from its stored text, so that it is the same in every process.
    pub fn ad_hoc(&self, skill: &Skill) -> Result<PinnedSkill, Error> {
        let content = encode(skill)?;
        let revision = record_revision(&content).to_string();
        if let Some(pinned) = self.plans.get(&revision) {
            return Ok(pinned);
        }
        let stored = decode(&content, &self.base.moment()).map_err(|_| Error::Unstorable {
            skill: skill.id.to_string(),
            dialect: skill.dialect.to_string(),
        })?;
        self.plans.add(Arc::new(stored), revision)
    }

    /// Returns the row of the skill called `name`. `file` is the file skill with this name.
    pub(crate) async fn find_row(
        &self,
        name: &str,
        file: Option<&LoadedSkill>,
    ) -> Result<Option<SkillRow>, Error> {
        for key in row_keys(name, file) {
            if let Some(row) = self.read_row(key).await? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    async fn read_row(&self, key: RowKey) -> Result<Option<SkillRow>, Error> {
        let store = self.store();
        let name = match key {
            RowKey::Id(id) => return Ok(store.skill(&id).await?),
            RowKey::Number(number) => return Ok(store.skill_by_id(number).await?),
            RowKey::Name(name) => name,
        };
        let by_name = SkillFilter {
            name: Some(name),
            limit: Some(2),
            ..SkillFilter::default()
        };
        let mut rows = store.skills(by_name).await?;
        Ok(rows.pop().filter(|_| rows.is_empty()))
    }

    /// Returns a skill with a row, compiled.
    pub async fn pin_row(&self, row: &SkillRow) -> Result<PinnedSkill, Error> {
        if let Some(pinned) = self.plans.get(&row.text.revision) {
            return Ok(pinned);
        }
        if row.text.origin == SkillOrigin::File {
            let file = self.file_of(row).await?;
            let file = file.ok_or_else(|| self.unknown(&row.text.skill))?;
            return self.plans.pin(&file);
        }
        let lost = || Error::RevisionLost {
            skill: row.text.skill.clone(),
            revision: row.text.revision.clone(),
        };
        let content = self.store().skill_content(row.id).await?;
        let content = content.ok_or_else(lost)?;
        let read = self.read_record(&content);
        let mut skill = read.map_err(|why| unreadable_record(row, why))?;
        skill.id = SkillId::new(row.text.skill.clone());
        self.plans.add(Arc::new(skill), row.text.revision.clone())
    }

    /// Parses a record as a skill. The error says why it is invalid, which the checks at creation rule out.
    pub fn read_record(&self, content: &str) -> Result<Skill, String> {
        let (record, authority) = read_record_text(content)?;
        let parsed = parse_record(&Value::Object(record), &self.base.moment());
        Ok(with_authority(only_skill(parsed)?, authority))
    }
}

//! Which skill a name means: one that is loaded from a file, or a record of the store.
//!
//! Files come first. Records are read when they are asked for and compiled once per revision, so
//! that a million of them need no memory.

use std::sync::Arc;

use deft_model::{Digest, Revision, Skill, SkillId};
use deft_skillfile::{Document, parse_record};
use deft_store::{SkillFilter, SkillOrigin, SkillRow};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::authority::{read_record_text, with_authority};
use crate::engine::Inner;
use crate::skills::{Pinned, decode, encode};

/// The name that the runs of a record carry: the slug, and whose it is unless it is the usual
/// agent's (X6: names are unique per agent).
pub(crate) fn record_key(agent_id: &str, slug: &str) -> String {
    if agent_id == USUAL_AGENT {
        slug.to_owned()
    } else {
        format!("{agent_id}/{slug}")
    }
}

/// Who owns a skill that does not say.
const USUAL_AGENT: &str = "thinker";

/// The revision of a record: a hash over its text.
pub(crate) fn record_revision(content: &str) -> Revision {
    Revision::new(Digest::from_bytes(Sha256::digest(content).into()))
}

impl Inner {
    /// The skill that a name means now, made ready to run.
    pub(crate) async fn find(&self, name: &str) -> Result<Pinned, Error> {
        let snapshot = self.parts.skills.snapshot();
        match self.plans.find(&snapshot, name) {
            Err(unknown @ Error::UnknownSkill { .. }) => match self.find_row(name).await? {
                Some(row) if row.text.origin == SkillOrigin::Record => self.pin_row(&row).await,
                _ => Err(unknown),
            },
            found => found,
        }
    }

    /// A skill that no file and no record holds: its content is its name. What is run is what was
    /// stored of it, here as in any other process.
    pub(crate) fn ad_hoc(&self, skill: &Skill) -> Result<Pinned, Error> {
        let content = encode(skill)?;
        let revision = record_revision(&content).to_string();
        if let Some(pinned) = self.plans.get(&revision) {
            return Ok(pinned);
        }
        let stored = decode(&content, &self.moment()).ok_or_else(|| Error::Unstorable {
            skill: skill.id.to_string(),
            dialect: skill.dialect.to_string(),
        })?;
        self.plans.add(Arc::new(stored), revision)
    }

    /// The row of a skill by its name, its number, or its name in prose.
    pub(crate) async fn find_row(&self, name: &str) -> Result<Option<SkillRow>, Error> {
        let store = &self.parts.store;
        if let Some(row) = store.skill(name).await? {
            return Ok(Some(row));
        }
        if let Ok(id) = name.parse()
            && let Some(row) = store.skill_by_id(id).await?
        {
            return Ok(Some(row));
        }
        let by_name = SkillFilter {
            name: Some(name.to_owned()),
            limit: Some(2),
            ..SkillFilter::default()
        };
        let mut rows = store.skills(by_name).await?;
        Ok(if rows.len() == 1 { rows.pop() } else { None })
    }

    /// A stored skill, made ready to run.
    pub(crate) async fn pin_row(&self, row: &SkillRow) -> Result<Pinned, Error> {
        if let Some(pinned) = self.plans.get(&row.text.revision) {
            return Ok(pinned);
        }
        if row.text.origin == SkillOrigin::File {
            return self.find_file(&row.text.skill);
        }
        let lost = || Error::RevisionLost {
            skill: row.text.skill.clone(),
            revision: row.text.revision.clone(),
        };
        let content = self.parts.store.skill_content(row.id).await?;
        let content = content.ok_or_else(lost)?;
        let mut skill = self.read_record(&content).ok_or_else(lost)?;
        skill.id = SkillId::new(row.text.skill.clone());
        self.plans.add(Arc::new(skill), row.text.revision.clone())
    }

    fn find_file(&self, skill: &str) -> Result<Pinned, Error> {
        let snapshot = self.parts.skills.snapshot();
        self.plans.find(&snapshot, skill)
    }

    /// A record as a skill; none if it is not one, which its checks at creation rule out.
    pub(crate) fn read_record(&self, content: &str) -> Option<Skill> {
        let (record, authority) = read_record_text(content)?;
        match parse_record(&Value::Object(record), &self.moment()).document? {
            Document::Skill(skill) => Some(with_authority(*skill, authority)),
            Document::Domain(_) | Document::Agent(_) => None,
        }
    }
}

//! Skills as runs see them: found by name, pinned by revision, made ready once.
//!
//! The content of a revision is stored as text, so that a run can always be continued with the
//! skill it began with, whatever has become of the file since.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use deft_base::Error;
use deft_model::{Authority, Dialect, Digest, Revision, Skill, SkillId, nearest_name};
use deft_registry::{LoadedSkill, Snapshot, State};
use deft_skillfile::{Document, Moment, Place, Profile, parse, parse_record, render};
use deft_workflow::Plan;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::rights::with_authority;

/// Where skills are found.
pub trait Skills: Send + Sync + 'static {
    /// Everything that is loaded now.
    fn snapshot(&self) -> Arc<Snapshot>;
}

impl Skills for Arc<Snapshot> {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(self)
    }
}

impl Skills for deft_registry::Registry {
    fn snapshot(&self) -> Arc<Snapshot> {
        Self::snapshot(self)
    }
}

/// A skill that is pinned for a run.
#[derive(Clone, Debug)]
pub struct PinnedSkill {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Its revision.
    pub revision: String,
    /// Its compiled plan.
    pub plan: Arc<Plan>,
}

impl PinnedSkill {
    /// Whether the store may have a row of the skill: only timed skills and records have one.
    pub fn has_row(&self) -> bool {
        self.skill.timing.is_some() || self.skill.dialect == Dialect::Record
    }
}

/// Plans by revision, so that a skill is compiled once.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    ready: Mutex<HashMap<String, PinnedSkill>>,
}

/// More than any home has revisions; beyond it the map is cleared.
const MOST_PLANS: usize = 4096;

impl Plans {
    /// The skill that a name means now.
    pub(crate) fn find(&self, snapshot: &Snapshot, name: &str) -> Result<PinnedSkill, Error> {
        match snapshot.find(name) {
            Some(loaded) => self.pin(loaded),
            None => Err(unknown_skill(snapshot, name)),
        }
    }

    pub(crate) fn pin(&self, loaded: &LoadedSkill) -> Result<PinnedSkill, Error> {
        let revision = loaded.revision.to_string();
        match self.get(&revision) {
            Some(pinned) => Ok(pinned),
            None => self.add(Arc::new(loaded.skill.clone()), revision),
        }
    }

    pub(crate) fn get(&self, revision: &str) -> Option<PinnedSkill> {
        self.lock().get(revision).cloned()
    }

    pub(crate) fn add(&self, skill: Arc<Skill>, revision: String) -> Result<PinnedSkill, Error> {
        let plan = Plan::compile(&skill, &revision).map_err(|error| Error::Plan {
            skill: skill.id.to_string(),
            why: error.message.clone(),
        })?;
        let pinned = PinnedSkill {
            skill,
            revision: revision.clone(),
            plan: Arc::new(plan),
        };
        let mut ready = self.lock();
        if ready.len() >= MOST_PLANS {
            ready.clear();
        }
        ready.insert(revision, pinned.clone());
        Ok(pinned)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, PinnedSkill>> {
        self.ready.lock()
    }
}

/// Why no skill has a name: its file is broken, or there is none.
pub(crate) fn unknown_skill(snapshot: &Snapshot, name: &str) -> Error {
    if let Some(path) = broken_file(snapshot, name) {
        return Error::BrokenSkill {
            name: name.to_owned(),
            path,
        };
    }
    let names = snapshot.skills().map(|loaded| loaded.skill.id.as_str());
    Error::UnknownSkill {
        name: name.to_owned(),
        near: nearest_name(name, names).map(str::to_owned),
    }
}

/// The broken file that should define a skill of this name, if there is one.
pub fn broken_file(snapshot: &Snapshot, name: &str) -> Option<String> {
    snapshot
        .files()
        .iter()
        .filter(|file| !file.path.ends_with("AGENT.md"))
        .find(|file| matches!(file.state, State::Broken { .. }) && is_called(&file.path, name))
        .map(|file| file.path.display().to_string())
}

/// Whether a file looks like that of a skill with this name.
pub(crate) fn is_called(path: &Path, name: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let folder = path.parent().and_then(|folder| folder.file_name());
    let folder = folder.and_then(|folder| folder.to_str());
    let action = name.rsplit('.').next();
    stem == Some(name) || folder == Some(name) || name.contains('.') && stem == action
}

/// The revision of a record: a hash over its text.
pub(crate) fn record_revision(content: &str) -> Revision {
    Revision::new(Digest::from_bytes(Sha256::digest(content).into()))
}

/// A skill as it is stored.
#[derive(Serialize, Deserialize)]
struct Content {
    file: String,
    folder: String,
    domain: Option<String>,
    /// What its runs go by, which a text need not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Its name, where the text only has its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Value>,
    /// The file it was read from, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The rights of the agent that stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authority: Option<Authority>,
}

/// The text that is stored for a skill. A skill that no text can hold has none: an empty one would
/// be the same for all of them.
pub fn encode(skill: &Skill) -> Result<String, Error> {
    write(skill, &content(skill)?)
}

/// The part of it that people read: the file, or the record as indented JSON.
pub(crate) fn stored_text(skill: &Skill) -> Result<String, Error> {
    let content = content(skill)?;
    let record = || {
        content
            .record
            .as_ref()
            .map(|record| format!("{record:#}\n"))
    };
    Ok(content.text.or_else(record).unwrap_or_default())
}

/// The same, with the file that it was read from.
pub(crate) fn encode_file(skill: &Skill, path: &Path) -> Result<String, Error> {
    let path = path.to_str().map(str::to_owned);
    write(
        skill,
        &Content {
            path,
            ..content(skill)?
        },
    )
}

/// The file that a stored skill was read from.
pub(crate) fn path_of(content: &str) -> Option<String> {
    serde_json::from_str::<Content>(content).ok()?.path
}

fn write(skill: &Skill, content: &Content) -> Result<String, Error> {
    serde_json::to_string(content).map_err(|_| unstorable(skill))
}

fn unstorable(skill: &Skill) -> Error {
    Error::Unstorable {
        skill: skill.id.to_string(),
        dialect: skill.dialect.to_string(),
    }
}

fn content(skill: &Skill) -> Result<Content, Error> {
    let lacking = || unstorable(skill);
    let (mut text, mut record, mut name) = (None, None, None);
    let file = match skill.dialect {
        Dialect::Workflow => {
            // A workflow is called by its name, which need not be what its runs go by.
            name = (skill.name != skill.id.as_str()).then(|| skill.name.clone());
            let called = Skill {
                name: skill.id.to_string(),
                ..skill.clone()
            };
            text = Some(render::workflow(&called).ok_or_else(lacking)?);
            format!("{}.yaml", skill.id)
        }
        Dialect::Record => {
            record = Some(render::record(skill).ok_or_else(lacking)?);
            format!("{}.json", skill.id)
        }
        Dialect::ManPage => {
            text = Some(render::manpage(skill));
            let action = skill.id.as_str().rsplit('.').next().unwrap_or_default();
            format!("{action}.md")
        }
        Dialect::AgentSkills => {
            text = Some(render::agentskills(skill));
            "SKILL.md".to_owned()
        }
    };
    Ok(Content {
        file,
        folder: match &skill.domain {
            Some(domain) if skill.dialect == Dialect::ManPage => domain.clone(),
            _ => skill.id.to_string(),
        },
        domain: skill.domain.clone(),
        id: Some(skill.id.to_string()),
        name,
        text,
        record,
        path: None,
        authority: skill.policy.authority.as_deref().cloned(),
    })
}

/// The skill that a stored text means.
pub(crate) fn decode(content: &str, moment: &Moment) -> Option<Skill> {
    let content: Content = serde_json::from_str(content).ok()?;
    let place = Place {
        file: &content.file,
        folder: &content.folder,
        domain: content.domain.as_deref(),
    };
    let parsed = match (&content.text, &content.record) {
        (Some(text), _) => parse(text.as_bytes(), &place, Profile::Deft, moment),
        (None, Some(record)) => parse_record(record, moment),
        (None, None) => return None,
    };
    match parsed.document? {
        Document::Skill(mut skill) => {
            skill.id = content.id.map_or(skill.id, SkillId::new);
            skill.name = content.name.unwrap_or(skill.name);
            Some(with_authority(*skill, content.authority))
        }
        Document::Domain(_) | Document::Agent(_) => None,
    }
}

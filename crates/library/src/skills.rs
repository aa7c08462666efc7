//! Skills for runs: found by name, pinned by revision, compiled once.
//!
//! The content of a revision is stored as text, so that a run can always continue with the skill it started
//! with, even if the file has changed since.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use deft_base::Error;
use deft_model::{Authority, Dialect, Digest, Revision, Skill, SkillId, nearest_name};
use deft_registry::{LoadedSkill, Snapshot, State};
use deft_skillfile::{
    Document, FileLocation, Moment, ParsedFile, Profile, Severity, parse, parse_record, render,
};
use deft_workflow::Plan;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rights::with_authority;

/// A source of file skills.
pub trait Skills: Send + Sync + 'static {
    /// Returns all skills that are loaded now.
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

/// Compiled plans by revision.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    ready: Mutex<HashMap<String, PinnedSkill>>,
}

/// Maximum number of cached plans, more than any home has revisions; beyond it the cache is cleared.
const MAX_PLANS: usize = 4096;

impl Plans {
    /// Returns the skill with this name, compiled.
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
        if ready.len() >= MAX_PLANS {
            ready.clear();
        }
        ready.insert(revision, pinned.clone());
        Ok(pinned)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, PinnedSkill>> {
        self.ready.lock()
    }
}

/// Returns the error for a name without a skill: its file is broken, or the name is unknown.
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

/// Returns the path of the broken file that should define a skill of this name, if any.
pub fn broken_file(snapshot: &Snapshot, name: &str) -> Option<String> {
    snapshot
        .files()
        .iter()
        .filter(|file| !file.path.ends_with("AGENT.md"))
        .find(|file| matches!(file.state, State::Broken { .. }) && is_called(&file.path, name))
        .map(|file| file.path.display().to_string())
}

/// Whether the path of a file looks like that of a skill with this name.
pub(crate) fn is_called(path: &Path, name: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let folder = path.parent().and_then(|folder| folder.file_name());
    let folder = folder.and_then(|folder| folder.to_str());
    let action = name.rsplit('.').next();
    stem == Some(name) || folder == Some(name) || name.contains('.') && stem == action
}

/// Returns the revision of a record: the hash of its text.
pub(crate) fn record_revision(content: &str) -> Revision {
    Revision::new(Digest::sha256(content.as_bytes()))
}

/// A skill as it is stored.
#[derive(Serialize, Deserialize)]
struct Content {
    file: String,
    folder: String,
    domain: Option<String>,
    /// The id for its runs, which the text need not contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Its name, if the text only has its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Value>,
    /// The file it was read from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The rights of the agent that stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authority: Option<Authority>,
}

/// Returns the text that is stored for a skill. A skill that cannot be expressed as text is an error: an
/// empty text would be the same for all of them.
pub fn encode(skill: &Skill) -> Result<String, Error> {
    write(skill, &content(skill)?)
}

/// Returns the readable part of the stored text: the file, or the record as indented JSON.
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

/// Like [`encode`], with the path of the file that the skill was read from.
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

/// Returns the path of the file that a stored skill was read from.
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
            // A workflow file has one name, which is the id here; a differing name is stored separately.
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

/// Parses the stored text of a skill. The error says why it cannot be read.
pub(crate) fn decode(content: &str, moment: &Moment) -> Result<Skill, String> {
    let content: Content = serde_json::from_str(content).map_err(|error| error.to_string())?;
    let location = FileLocation {
        file: &content.file,
        folder: &content.folder,
        domain: content.domain.as_deref(),
    };
    let parsed = match (&content.text, &content.record) {
        (Some(text), _) => parse(text.as_bytes(), &location, Profile::Deft, moment),
        (None, Some(record)) => parse_record(record, moment),
        (None, None) => return Err("it has no text".to_owned()),
    };
    let mut skill = only_skill(parsed)?;
    skill.id = content.id.map_or(skill.id, SkillId::new);
    skill.name = content.name.unwrap_or(skill.name);
    Ok(with_authority(skill, content.authority))
}

/// Returns the skill that was parsed. The error says why there is none.
pub(crate) fn only_skill(parsed: ParsedFile) -> Result<Skill, String> {
    match parsed.document {
        Some(Document::Skill(skill)) => Ok(*skill),
        Some(Document::Domain(_) | Document::Agent(_)) => Err("it is not a skill".to_owned()),
        None => {
            let mut problems = parsed.diagnostics.into_iter();
            let first = problems.find(|problem| problem.severity == Severity::Error);
            Err(first.map_or_else(|| "it is not a skill".to_owned(), |problem| problem.message))
        }
    }
}

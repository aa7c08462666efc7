//! The set of all skills as agents see them: skills of files and records (S0.16), playbooks ready for
//! matching, and the entries for prompts.
//!
//! A set is built once and kept until files or records change.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use deft_agent::{Classification, Classifier, MatchLimits, Playbook};
use deft_model::{Agent, PromptEntry, Skill, SkillId};
use deft_registry::{LoadedSkill, Snapshot, discovery};
use deft_store::{SkillFilter, SkillOrigin, SkillRow};
use parking_lot::Mutex;

use crate::{Commands, Library};

/// Maximum number of records in the set.
const MAX_RECORDS: u32 = 500;

/// The set that was built last.
#[derive(Default)]
pub(crate) struct SkillSetCache {
    newest: Mutex<Option<Arc<SkillSet>>>,
}

/// All skills, as agents see them.
pub struct SkillSet {
    files: Arc<Snapshot>,
    records: Vec<Record>,
    /// The rows of file skills, by id.
    rows: HashMap<String, FileRow>,
    /// File skills and records together.
    pub all: Snapshot,
    classifier: Option<Classifier>,
    entries: Mutex<HashMap<String, (EntryCacheKey, Arc<Entries>)>>,
}

/// What the entries of an agent depend on besides the skills: the agent, and the commands that cannot be run
/// now.
#[derive(Clone, PartialEq)]
struct EntryCacheKey {
    agent: Agent,
    unavailable: Vec<SkillId>,
}

/// The part of a file skill's row that affects the set.
#[derive(PartialEq, Eq)]
struct FileRow {
    id: i64,
    enabled: bool,
}

/// The part of a record that affects the set.
#[derive(PartialEq, Eq)]
struct Record {
    id: i64,
    skill: String,
    revision: String,
    enabled: bool,
}

/// Entries of an agent's prompt about what it may use.
#[derive(Clone)]
pub struct Entries {
    /// Domains.
    pub domains: Vec<PromptEntry>,
    /// Commands.
    pub commands: Vec<PromptEntry>,
    /// Skills with instructions.
    pub skills: Vec<PromptEntry>,
    /// Workflows.
    pub workflows: Vec<PromptEntry>,
}

impl Library {
    /// Returns the current set of skills.
    pub async fn all_skills(&self) -> Arc<SkillSet> {
        if let Err(error) = self.read_overlays().await {
            tracing::warn!(%error, "the overlays of skills could not be read");
        }
        let files = self.snapshot();
        let filter = SkillFilter {
            origin: Some(SkillOrigin::Record),
            limit: Some(MAX_RECORDS),
            ..SkillFilter::default()
        };
        let rows = self.list_skills(filter).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "stored skills could not be read");
            Vec::new()
        });
        let records: Vec<Record> = rows.iter().map(record).collect();
        let file_rows = self.rows_of_files().await;
        if let Some(skills) = &*self.all.newest.lock()
            && Arc::ptr_eq(&skills.files, &files)
            && skills.records == records
            && skills.rows == file_rows
        {
            return Arc::clone(skills);
        }
        let mut loaded = Vec::new();
        for row in &rows {
            let Some(mut one) = self.load_record(row).await else {
                continue;
            };
            // The row decides whether a record is enabled, not its content.
            if row.standing.disabled.is_some() {
                Arc::make_mut(&mut one.skill.policy).enabled = false;
            }
            loaded.push(one);
        }
        let skills = Arc::new(SkillSet::new(files, file_rows, records, loaded));
        *self.all.newest.lock() = Some(Arc::clone(&skills));
        skills
    }

    async fn rows_of_files(&self) -> HashMap<String, FileRow> {
        let filter = SkillFilter {
            origin: Some(SkillOrigin::File),
            ..SkillFilter::default()
        };
        let rows = self.list_skills(filter).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "stored skills could not be read");
            Vec::new()
        });
        let rows = rows.into_iter();
        let known = |row: SkillRow| {
            let enabled = row.standing.disabled.is_none();
            (
                row.text.skill,
                FileRow {
                    id: row.id,
                    enabled,
                },
            )
        };
        rows.map(known).collect()
    }
}

impl Library {
    /// Returns the skill with this name or number, without access to the store: files in their current state,
    /// records as of the last call of [`all_skills`](Self::all_skills). A record replaces a file.
    pub fn named_skill(&self, name: &str) -> Option<Arc<LoadedSkill>> {
        let files = self.snapshot();
        let file = files.find(name);
        let Some(known) = self.all.newest.lock().clone() else {
            return file.cloned();
        };
        let key = file.map_or(name, |file| file.skill.id.as_str());
        if let Some(record) = known.record(key).or_else(|| known.record(name)) {
            return Some(record);
        }
        let other = || known.all.find(name).cloned();
        let numbered = || files.skill(known.id_of_number(name)?).cloned();
        file.cloned().or_else(other).or_else(numbered)
    }
}

/// Whether a loaded skill is a record of the store.
pub fn is_record(loaded: &LoadedSkill) -> bool {
    loaded.path.as_os_str().is_empty()
}

fn record(row: &SkillRow) -> Record {
    Record {
        id: row.id,
        skill: row.text.skill.clone(),
        revision: row.text.revision.clone(),
        enabled: row.standing.disabled.is_none(),
    }
}

impl SkillSet {
    fn new(
        files: Arc<Snapshot>,
        rows: HashMap<String, FileRow>,
        records: Vec<Record>,
        loaded: Vec<LoadedSkill>,
    ) -> Self {
        let all = with_enabled_state(&files, &rows).join(loaded);
        let playbooks = all
            .skills()
            .filter_map(|loaded| Playbook::from_skill(&loaded.skill));
        let classifier = Classifier::new(playbooks).inspect_err(|error| {
            tracing::warn!(%error, "playbooks are disabled: their keywords cannot be compiled");
        });
        Self {
            files,
            records,
            rows,
            classifier: classifier.ok(),
            all,
            entries: Mutex::default(),
        }
    }

    /// Returns the playbooks whose keywords the message contains.
    pub fn playbooks(&self, message: &str) -> Classification {
        let limits = MatchLimits::default();
        let classifier = self.classifier.as_ref();
        classifier
            .map(|classifier| classifier.classify(message, &limits))
            .unwrap_or_default()
    }

    /// Returns a record by its id or its number.
    fn record(&self, name: &str) -> Option<Arc<LoadedSkill>> {
        let number: Option<i64> = name.parse().ok();
        let mut records = self.records.iter();
        let record = records.find(|record| record.skill == name || Some(record.id) == number)?;
        self.all.skill(&record.skill).cloned()
    }

    /// Returns the id of the file skill whose row has this number.
    fn id_of_number(&self, number: &str) -> Option<&str> {
        let number: i64 = number.parse().ok()?;
        let (skill, _) = self.rows.iter().find(|(_, row)| row.id == number)?;
        Some(skill)
    }

    /// Whether a skill is enabled: one that waits for its tools, or was disabled by a person, is not offered.
    fn is_on(&self, id: &str) -> bool {
        let loaded = self.all.skill(id);
        loaded.is_some_and(|loaded| loaded.skill.policy.enabled)
    }

    /// Returns the entries for the prompt of an agent, without commands that cannot be run now. Cached,
    /// because building them reads pages.
    pub fn entries(&self, agent: &Agent, commands: &Commands<'_>) -> Arc<Entries> {
        let all = self.all.skills().map(|loaded| &loaded.skill);
        let missing = all.filter(|skill| commands.unavailable(skill, false).is_some());
        let key = EntryCacheKey {
            agent: agent.clone(),
            unavailable: missing.map(|skill| skill.id.clone()).collect(),
        };
        if let Some((known, entries)) = self.entries.lock().get(&agent.id)
            && *known == key
        {
            return Arc::clone(entries);
        }
        let unavailable = |skill: &Skill| commands.unavailable(skill, false);
        let mut skills = discovery::skill_entries(&self.all, agent);
        let mut workflows = discovery::workflow_entries(&self.all, agent);
        for entries in [&mut skills, &mut workflows] {
            entries.retain(|entry| self.is_on(&entry.name));
        }
        let entries = Arc::new(Entries {
            domains: discovery::domain_entries(&self.all, agent),
            commands: discovery::command_entries(&self.all, agent, &BTreeMap::new(), &unavailable),
            skills,
            workflows,
        });
        let kept = (key, Arc::clone(&entries));
        self.entries.lock().insert(agent.id.clone(), kept);
        entries
    }
}

/// Returns file skills with the enabled state of their rows, which overrides that of the files.
fn with_enabled_state(files: &Snapshot, rows: &HashMap<String, FileRow>) -> Snapshot {
    let differs = |loaded: &&Arc<LoadedSkill>| {
        let row = rows.get(loaded.skill.id.as_str());
        row.is_some_and(|row| row.enabled != loaded.skill.policy.enabled)
    };
    let switched = files.skills().filter(differs).map(|loaded| {
        let mut skill = loaded.skill.clone();
        let policy = Arc::make_mut(&mut skill.policy);
        policy.enabled = !policy.enabled;
        let switched = LoadedSkill {
            skill,
            revision: loaded.revision,
            path: Arc::clone(&loaded.path),
            siblings: loaded.siblings.clone(),
        };
        (switched.skill.id.clone(), Some(switched))
    });
    files.with_edits(switched.collect())
}

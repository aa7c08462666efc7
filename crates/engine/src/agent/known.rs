//! What agents know of skills: those of files and those that are stored (S0.16), the playbooks among
//! them ready to be matched, and what stands of them in prompts.
//!
//! All of it is made once for a set of skills and kept as long as that stays the same.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deft_agent::{Classified, Classifier, MatchLimits, Playbook};
use deft_model::{Agent, PromptEntry, Skill, SkillId};
use deft_registry::{Loaded, Snapshot, discovery};
use deft_store::{SkillFilter, SkillOrigin, SkillRow};

use crate::Engine;
use crate::commands::Commands;

/// How many records are shown with the skills of files.
const MOST_RECORDS: u32 = 500;

/// Where it is kept.
#[derive(Default)]
pub(crate) struct Known {
    now: Mutex<Option<Arc<Skills>>>,
}

/// A set of skills.
pub(crate) struct Skills {
    files: Arc<Snapshot>,
    records: Vec<Record>,
    /// Skills of files that the store knows, and whether they are switched on.
    standing: HashMap<String, bool>,
    /// All of them.
    pub(crate) all: Snapshot,
    classifier: Option<Classifier>,
    entries: Mutex<HashMap<String, (Usable, Arc<Entries>)>>,
}

/// What the entries of an agent depend on beside the skills: what it may use, and the commands that
/// cannot be run now.
#[derive(Clone, PartialEq)]
struct Usable {
    agent: Agent,
    unavailable: Vec<SkillId>,
}

/// What of a record changes the set.
#[derive(PartialEq, Eq)]
struct Record {
    id: i64,
    revision: String,
    enabled: bool,
}

/// What an agent may use, as its prompt shows it.
pub(crate) struct Entries {
    pub(crate) domains: Vec<PromptEntry>,
    pub(crate) commands: Vec<PromptEntry>,
    pub(crate) skills: Vec<PromptEntry>,
    pub(crate) workflows: Vec<PromptEntry>,
}

impl Engine {
    /// The skills that there are now.
    pub(crate) async fn all_skills(&self) -> Arc<Skills> {
        let files = self.inner.parts.skills.snapshot();
        let filter = SkillFilter {
            origin: Some(SkillOrigin::Record),
            limit: Some(MOST_RECORDS),
            ..SkillFilter::default()
        };
        let rows = self.list_skills(filter).await.unwrap_or_default();
        let records: Vec<Record> = rows.iter().map(record).collect();
        let standing = self.standing_of_files().await;
        if let Some(skills) = &*lock(&self.inner.known.now)
            && Arc::ptr_eq(&skills.files, &files)
            && skills.records == records
            && skills.standing == standing
        {
            return Arc::clone(skills);
        }
        let mut loaded = Vec::new();
        for row in &rows {
            let Some(mut one) = self.loaded(row).await else {
                continue;
            };
            // How a record stands counts, not how it was written.
            if row.standing.disabled.is_some() {
                Arc::make_mut(&mut one.skill.policy).enabled = false;
            }
            loaded.push(one);
        }
        let skills = Arc::new(Skills {
            standing,
            ..Skills::new(files, records, loaded)
        });
        *lock(&self.inner.known.now) = Some(Arc::clone(&skills));
        skills
    }

    async fn standing_of_files(&self) -> HashMap<String, bool> {
        let filter = SkillFilter {
            origin: Some(SkillOrigin::File),
            ..SkillFilter::default()
        };
        let rows = self.list_skills(filter).await.unwrap_or_default();
        let rows = rows.into_iter();
        rows.map(|row| (row.text.skill, row.standing.disabled.is_none()))
            .collect()
    }
}

impl crate::engine::Inner {
    /// The skill that a name or the number of a record means, as far as it was seen: files as they are
    /// now, records as they were when all skills were last looked at.
    pub(crate) fn named_skill(&self, name: &str) -> Option<Arc<Loaded>> {
        if let Some(loaded) = self.parts.skills.snapshot().find(name) {
            return Some(loaded.clone());
        }
        let known = lock(&self.known.now).clone()?;
        if let Some(loaded) = known.all.find(name) {
            return Some(loaded.clone());
        }
        let id: Option<i64> = name.parse().ok();
        let numbered = known.records.iter().find(|record| Some(record.id) == id);
        let is_meant = |loaded: &&Arc<Loaded>| match numbered {
            Some(record) => loaded.revision.to_string() == record.revision,
            None => loaded.skill.name == name,
        };
        known.all.skills().find(is_meant).cloned()
    }
}

fn record(row: &SkillRow) -> Record {
    Record {
        id: row.id,
        revision: row.text.revision.clone(),
        enabled: row.standing.disabled.is_none(),
    }
}

impl Skills {
    fn new(files: Arc<Snapshot>, records: Vec<Record>, loaded: Vec<Loaded>) -> Self {
        let all = files.beside(loaded);
        let playbooks = all
            .skills()
            .filter_map(|loaded| Playbook::of(&loaded.skill));
        let classifier = Classifier::new(playbooks).inspect_err(|error| {
            tracing::warn!(%error, "no playbook is used");
        });
        Self {
            files,
            records,
            standing: HashMap::new(),
            classifier: classifier.ok(),
            all,
            entries: Mutex::default(),
        }
    }

    /// The playbooks that a message calls for.
    pub(crate) fn playbooks(&self, message: &str) -> Classified {
        let limits = MatchLimits::default();
        let classifier = self.classifier.as_ref();
        classifier
            .map(|classifier| classifier.classify(message, &limits))
            .unwrap_or_default()
    }

    /// Whether a skill is switched on: one that waits for its tools, or was switched off by a person,
    /// is nothing to offer. The store knows better than the file.
    fn is_on(&self, id: &str) -> bool {
        let written = || {
            let loaded = self.all.skill(id);
            loaded.is_some_and(|loaded| loaded.skill.policy.enabled)
        };
        self.standing.get(id).copied().unwrap_or_else(written)
    }

    /// What an agent may use, without commands that cannot be run now. Pages are read for this, so
    /// it is kept.
    pub(crate) fn entries(&self, agent: &Agent, commands: &Commands<'_>) -> Arc<Entries> {
        let all = self.all.skills().map(|loaded| &loaded.skill);
        let missing = all.filter(|skill| commands.unavailable(skill, false).is_some());
        let usable = Usable {
            agent: agent.clone(),
            unavailable: missing.map(|skill| skill.id.clone()).collect(),
        };
        if let Some((known, entries)) = lock(&self.entries).get(&agent.id)
            && *known == usable
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
        let kept = (usable, Arc::clone(&entries));
        lock(&self.entries).insert(agent.id.clone(), kept);
        entries
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

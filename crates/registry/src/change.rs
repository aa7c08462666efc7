//! Differences between two snapshots.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use deft_model::{DomainIndex, Revision, SkillId};
use deft_skillfile::Severity;

use crate::report::{FileReport, State};
use crate::snapshot::Snapshot;

/// One difference, in the order of announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A skill was added or its content changed.
    Loaded {
        /// The id of the skill.
        id: SkillId,
        /// The file that defines it.
        path: Arc<Path>,
        /// The new revision.
        revision: Revision,
    },
    /// A skill was removed.
    Removed {
        /// The id of the skill.
        id: SkillId,
    },
    /// A file is no longer valid; its last valid definition stays in use.
    Broken {
        /// The file.
        path: Arc<Path>,
        /// The skill that stays in use.
        kept: Option<SkillId>,
        /// A short description of the problem.
        reason: String,
    },
    /// An agent was added, changed or removed.
    Agent {
        /// The id of the agent.
        id: String,
    },
    /// The index of a domain changed.
    Domain {
        /// The name of the domain.
        name: String,
    },
}

/// The log line for the change (S2.20).
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loaded { id, path, .. } => {
                write!(f, "Reloaded skill: {id} from {}", path.display())
            }
            Self::Removed { id } => write!(f, "Removed skill: {id}"),
            Self::Agent { id } => write!(f, "Reloaded agent: {id}"),
            Self::Domain { name } => write!(f, "Reloaded domain: {name}"),
            Self::Broken { path, kept, reason } => {
                write!(f, "Invalid skill file {}: {reason}", path.display())?;
                kept.iter()
                    .try_for_each(|id| write!(f, "; the last valid version of `{id}` stays in use"))
            }
        }
    }
}

/// Returns the differences between two snapshots.
pub fn changes(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
    let was_broken: HashSet<&Path> = old
        .files()
        .iter()
        .filter(|file| is_broken(file))
        .map(|file| &*file.path)
        .collect();
    let is_mended: HashSet<&Path> = new
        .files()
        .iter()
        .filter(|file| !is_broken(file) && was_broken.contains(&*file.path))
        .map(|file| &*file.path)
        .collect();
    let mut changes = Vec::new();
    for loaded in new.skills() {
        let id = &loaded.skill.id;
        let before = old.skill(id.as_str());
        let same = before.is_some_and(|b| b.revision == loaded.revision && b.path == loaded.path);
        if !same || is_mended.contains(&*loaded.path) {
            changes.push(Change::Loaded {
                id: id.clone(),
                path: Arc::clone(&loaded.path),
                revision: loaded.revision,
            });
        }
    }
    let gone = old
        .skills()
        .filter(|loaded| new.skill(loaded.skill.id.as_str()).is_none());
    changes.extend(gone.map(|loaded| Change::Removed {
        id: loaded.skill.id.clone(),
    }));
    changes.extend(domains(old, new));
    changes.extend(agents(old, new));
    changes.extend(broken_changes(old, new));
    changes
}

/// Returns the agents that were added, changed or removed.
fn agents(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
    let ids: BTreeSet<&str> = (old.agents().chain(new.agents()))
        .map(|loaded| loaded.agent.id.as_str())
        .collect();
    let content = |snapshot: &Snapshot, id: &str| snapshot.agent(id).map(|one| one.revision);
    ids.into_iter()
        .filter(|id| content(old, id) != content(new, id))
        .map(|id| Change::Agent { id: id.to_owned() })
        .collect()
}

/// Returns the domains whose index was added, changed or removed.
fn domains(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
    let written = |snapshot: &Snapshot| -> BTreeMap<String, Arc<DomainIndex>> {
        let written = snapshot.domains().filter(|(_, domain)| !domain.generated);
        written
            .map(|(name, domain)| (name.to_owned(), Arc::clone(&domain.index)))
            .collect()
    };
    let (before, after) = (written(old), written(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs = |name: &&&String| before.get(**name) != after.get(**name);
    names
        .iter()
        .filter(differs)
        .map(|name| Change::Domain {
            name: (**name).clone(),
        })
        .collect()
}

fn is_broken(file: &FileReport) -> bool {
    matches!(file.state, State::Broken { .. })
}

fn broken_changes(old: &Snapshot, new: &Snapshot) -> impl Iterator<Item = Change> {
    let before: std::collections::HashMap<&Path, &[_]> = old
        .files()
        .iter()
        .map(|file| (&*file.path, &*file.diagnostics))
        .collect();
    new.files().iter().filter_map(move |file| {
        let State::Broken { kept } = &file.state else {
            return None;
        };
        if before
            .get(&*file.path)
            .is_some_and(|known| **known == *file.diagnostics)
        {
            return None;
        }
        let first = file
            .diagnostics
            .iter()
            .find(|one| one.severity == Severity::Error);
        Some(Change::Broken {
            path: Arc::clone(&file.path),
            kept: kept.clone(),
            reason: first.map(|one| one.message.clone()).unwrap_or_default(),
        })
    })
}

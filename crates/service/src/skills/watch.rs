//! Watches skill files for changes.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use deft_registry::{Change, Registry, WatchMode};
use deft_skillfile::Moment;
use deft_wire::Done;
use deft_wire::skill_files::FileEvent;
use jiff::Timestamp;

use crate::workspace::Workspace;

/// A change of the skills on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFileChange {
    /// The change for output as JSON.
    pub event: FileEvent,
    /// The change in one line.
    pub text: String,
}

/// A watch of skill files that ends when it is dropped.
pub struct SkillWatch {
    registry: Registry,
    changes: Receiver<Arc<[Change]>>,
}

impl SkillWatch {
    /// Starts to watch the skills of a workspace.
    pub fn start(workspace: &Workspace) -> Done<Self> {
        let library = workspace.library()?;
        let zone = library.moment.zone;
        let registry = Registry::open(library.options, move || Moment {
            now: Timestamp::now(),
            zone: zone.clone(),
        });
        Ok(Self {
            changes: registry.subscribe(),
            registry,
        })
    }

    /// Returns the current number of skills.
    pub fn skill_count(&self) -> usize {
        self.registry.snapshot().skill_count()
    }

    /// Returns why files are polled; `None` if the system reports changes.
    pub fn polling_reason(&self) -> Option<String> {
        match self.registry.watch_mode() {
            WatchMode::Events => None,
            WatchMode::Polling(reason) => Some(reason.clone()),
        }
    }

    /// Waits for the next changes; `None` after the end of the watch.
    pub fn wait(&self) -> Option<Vec<SkillFileChange>> {
        let batch = self.changes.recv().ok()?;
        let changes = batch.iter().map(|change| SkillFileChange {
            event: event(change),
            text: change.to_string(),
        });
        Some(changes.collect())
    }
}

fn event(change: &Change) -> FileEvent {
    match change {
        Change::Loaded { id, path, revision } => FileEvent::Loaded {
            id: id.to_string(),
            path: path.display().to_string(),
            revision: revision.to_string(),
        },
        Change::Removed { id } => FileEvent::Removed { id: id.to_string() },
        Change::Agent { id } => FileEvent::Agent { agent: id.clone() },
        Change::Domain { name } => FileEvent::Domain {
            domain: name.clone(),
        },
        Change::Broken { path, kept, reason } => FileEvent::Broken {
            path: path.display().to_string(),
            kept: kept.as_ref().map(ToString::to_string),
            reason: reason.clone(),
        },
    }
}

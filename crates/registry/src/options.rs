//! How skills are found and followed.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest file that may define a skill, unless told otherwise.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// What a registry watches, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folders of skills. A skill of an earlier folder hides one with the same
    /// id in a later folder.
    pub roots: Vec<PathBuf>,
    /// Folders of agents, each with its `AGENT.md` in a folder of its own. They
    /// count in the same way.
    pub agents: Vec<PathBuf>,
    /// The largest file that may define a skill.
    pub max_file_bytes: u64,
    /// The largest file beside a skill whose content is hashed.
    pub max_sibling_bytes: u64,
    /// How deep folders may be nested below a root.
    pub max_depth: usize,
    /// How many folders are read in one pass.
    pub max_folders: usize,
    /// How many of them may be reached through links.
    pub max_linked_folders: usize,
    /// How long a pass may take; what was not read by then stays as it was.
    pub max_scan_time: Duration,
    /// How long a file must be quiet before it is read.
    pub settle: Duration,
    /// How often everything is compared with the disk, in case an event got
    /// lost.
    pub rescan_every: Duration,
    /// How often everything is compared when there are no events at all.
    pub poll_every: Duration,
    /// How changes are noticed.
    pub watch: Watch,
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// By events of the operating system, by polling where there are none.
    Events,
    /// By polling.
    Poll,
}

impl Options {
    /// The usual settings for these folders; one that is named twice counts
    /// where it is named first.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut unique: Vec<PathBuf> = Vec::new();
        for root in roots {
            if !unique.contains(&root) {
                unique.push(root);
            }
        }
        Self {
            roots: unique,
            agents: Vec::new(),
            max_file_bytes: MAX_FILE_BYTES,
            max_sibling_bytes: 64 * 1024 * 1024,
            max_depth: 12,
            max_folders: 200_000,
            max_linked_folders: 10_000,
            max_scan_time: Duration::from_mins(2),
            settle: Duration::from_millis(40),
            rescan_every: Duration::from_mins(5),
            poll_every: Duration::from_secs(2),
            watch: Watch::Events,
        }
    }

    /// The same with folders of agents.
    #[must_use]
    pub fn with_agents(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.agents = folders.into_iter().collect();
        self
    }

    /// All folders that are read and followed.
    pub(crate) fn followed(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().chain(&self.agents)
    }

    /// Whether a folder is one of those.
    pub(crate) fn is_root(&self, path: &Path) -> bool {
        self.followed().any(|root| root == path)
    }
}

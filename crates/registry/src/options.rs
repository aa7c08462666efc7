//! Options for finding and watching skills.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default maximum size of a file that defines a skill.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The folders that a registry watches, and limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folders with skills. A skill in an earlier folder shadows one with the same id in a later folder.
    pub roots: Vec<PathBuf>,
    /// Folders with agents, each in a subfolder with an `AGENT.md`. Earlier folders take precedence as well.
    pub agents: Vec<PathBuf>,
    /// Maximum size of a file that defines a skill.
    pub max_file_bytes: u64,
    /// Maximum size of a sibling file whose content is hashed.
    pub max_sibling_bytes: u64,
    /// Maximum depth of folders below a root.
    pub max_depth: usize,
    /// Maximum number of folders read in one pass.
    pub max_folders: usize,
    /// Maximum number of folders reached through links in one pass.
    pub max_linked_folders: usize,
    /// Maximum duration of a pass; folders not read by then keep their previous state.
    pub max_scan_time: Duration,
    /// Time without changes after which a file is read.
    pub quiet_period: Duration,
    /// Interval between full comparisons with the file system, in case events are lost.
    pub rescan_every: Duration,
    /// Interval between full comparisons if events are not available.
    pub poll_every: Duration,
    /// How changes are detected.
    pub watch: Watch,
}

/// How changes are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// By events of the operating system, or by polling if they are not available.
    Events,
    /// By polling.
    Poll,
}

impl Options {
    /// Creates default options for these folders, without duplicates.
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
            quiet_period: Duration::from_millis(40),
            rescan_every: Duration::from_mins(5),
            poll_every: Duration::from_secs(2),
            watch: Watch::Events,
        }
    }

    /// Sets the folders with agents.
    #[must_use]
    pub fn with_agents(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.agents = folders.into_iter().collect();
        self
    }

    /// Returns all folders that are read and watched.
    pub(crate) fn followed_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().chain(&self.agents)
    }

    /// Returns whether a folder is one of the watched folders.
    pub(crate) fn is_root(&self, path: &Path) -> bool {
        self.followed_folders().any(|root| root == path)
    }
}

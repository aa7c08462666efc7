//! State of a scan of all folders, and its inputs and results per folder.
//!
//! Not here: reading a folder (`scan.rs`).

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use deft_skillfile::{Diagnostic, Moment, Rule};

use crate::options::Options;
use crate::stamp::FolderId;
use crate::territory::AllowedFolders;
use crate::unit::Unit;

/// State shared by all folders of one scan.
pub(crate) struct Survey<'a> {
    pub options: &'a Options,
    pub moment: &'a Moment,
    /// Whether files may be incomplete: an event may arrive between the creation of a file and its first
    /// byte.
    pub live: bool,
    /// Files that are read again even if they look unchanged, because an event named them.
    pub forced: &'a HashSet<PathBuf>,
    /// The folders that links may lead into.
    pub territory: AllowedFolders,
    /// The number of folders read so far.
    entered: AtomicUsize,
    /// The number of them that were reached through a link.
    linked: AtomicUsize,
    began: Instant,
}

impl<'a> Survey<'a> {
    pub(crate) fn new(
        options: &'a Options,
        moment: &'a Moment,
        live: bool,
        forced: &'a HashSet<PathBuf>,
    ) -> Self {
        Self {
            options,
            moment,
            live,
            forced,
            territory: AllowedFolders::new(options),
            entered: AtomicUsize::new(0),
            linked: AtomicUsize::new(0),
            began: Instant::now(),
        }
    }

    /// Counts a folder; returns a diagnostic if a limit is exceeded.
    pub(crate) fn count(&self, visit: &Visit) -> Result<(), Diagnostic> {
        let over = |count: &AtomicUsize, most: usize| count.fetch_add(1, Ordering::Relaxed) >= most;
        let message = if over(&self.entered, self.options.max_folders) {
            format!(
                "more than {} folders; the rest is not read",
                self.options.max_folders
            )
        } else if visit.links > 0 && over(&self.linked, self.options.max_linked_folders) {
            format!(
                "links lead to more than {} folders; the rest is not followed",
                self.options.max_linked_folders
            )
        } else if self.began.elapsed() > self.options.max_scan_time {
            format!(
                "reading all folders takes longer than {} s; the rest is not read",
                self.options.max_scan_time.as_secs()
            )
        } else {
            return Ok(());
        };
        let help = "remove folders without skills from `paths`, and links to such folders from \
                    the skill folders";
        Err(Diagnostic::new(Rule::TooManyFolders, message).with_help(help))
    }
}

/// A folder to read.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub path: PathBuf,
    /// The root that contains the folder.
    pub root: Arc<Path>,
    /// The depth below the root.
    pub depth: usize,
    /// The number of links on the path.
    pub links: usize,
    /// The domain of its files.
    pub domain: Option<Arc<str>>,
    /// The ids of the folders above, to detect loops.
    pub above: Arc<Vec<FolderId>>,
}

impl Visit {
    pub(crate) fn root(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            root: Arc::from(path),
            depth: 0,
            links: 0,
            domain: None,
            above: Arc::default(),
        }
    }
}

/// The contents of a folder when it was last read.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub visit: Visit,
    /// The files that define a skill, domain or agent, or should.
    pub units: Vec<Unit>,
    /// Subfolders that are read separately, by path.
    pub children: Vec<PathBuf>,
    /// Subfolders that only contain files of the skill.
    pub inner: Vec<PathBuf>,
    /// Whether the folder contains a `SKILL.md`, valid or not.
    pub has_skill_md: bool,
    /// Whether the folder is one skill, which owns everything below.
    pub is_skill: bool,
    /// The domain of subfolders, if an index or a parent folder sets it.
    pub below: Option<Arc<str>>,
    /// Problems with the folder itself.
    pub problems: Vec<Diagnostic>,
    /// Links, pipes and devices that are not read, and why.
    pub left_out: Vec<(PathBuf, Diagnostic)>,
}

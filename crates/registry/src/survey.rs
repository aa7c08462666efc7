//! A scan of all folders: what its folders share, which folder is to be read, and how one was read.
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
use crate::territory::Territory;
use crate::unit::Unit;

/// What all folders of one scan share.
pub(crate) struct Survey<'a> {
    pub options: &'a Options,
    pub moment: &'a Moment,
    /// Whether files may be in the making: an event may come between the
    /// creation of a file and its first byte.
    pub live: bool,
    /// Files that are read again even if they look unchanged, because an event
    /// named them.
    pub forced: &'a HashSet<PathBuf>,
    /// Where links may lead.
    pub territory: Territory,
    /// How many folders were entered so far.
    entered: AtomicUsize,
    /// How many of them a link led to.
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
            territory: Territory::new(options),
            entered: AtomicUsize::new(0),
            linked: AtomicUsize::new(0),
            began: Instant::now(),
        }
    }

    /// Counts a folder; says why it is one too many.
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
        let help =
            "take folders that hold no skills out of `paths`, and links to them out of the skills";
        Err(Diagnostic::new(Rule::TooManyFolders, message).with_help(help))
    }
}

/// A folder that is to be read.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub path: PathBuf,
    /// The root it is below.
    pub root: Arc<Path>,
    /// How far below its root it is.
    pub depth: usize,
    /// How many links lie on the way.
    pub links: usize,
    /// The domain that applies to its files.
    pub domain: Option<Arc<str>>,
    /// The folders above it, to notice loops.
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

/// A folder as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub visit: Visit,
    /// The files in it that define something, or should.
    pub units: Vec<Unit>,
    /// The folders below it that are read on their own, by path.
    pub children: Vec<PathBuf>,
    /// Folders below it that only hold files of its skill.
    pub inner: Vec<PathBuf>,
    /// Whether there is a `SKILL.md` of any kind in it.
    pub has_skill_md: bool,
    /// Whether it is the folder of one skill, which owns everything below.
    pub is_skill: bool,
    /// The domain of the folders below, where an index or a folder above says.
    pub below: Option<Arc<str>>,
    /// What is wrong with the folder itself.
    pub problems: Vec<Diagnostic>,
    /// Links, pipes and devices in it that are not read, and why.
    pub left_out: Vec<(PathBuf, Diagnostic)>,
}

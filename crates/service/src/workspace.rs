//! The workspace of a front end: a home, or skill folders that it names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Once;

use deft_channels::ShowLine;
use deft_config::Home;
use deft_engine::FileChange;
use deft_registry::Snapshot;
use deft_wire::Done;

use crate::kept_skills;
use crate::library::Library;
use crate::live_home::LiveHome;

/// A home, skill folders, and a function that shows lines to the user.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder of the home; `None` is the default home.
    pub home: Option<PathBuf>,
    /// Skill folders to use instead of those of the home; empty for the home's.
    pub roots: Vec<PathBuf>,
    /// Shows a line to the user, if there is one.
    pub tell: ShowLine,
    /// Whether to suppress warnings about the configuration.
    pub quiet: bool,
    /// The home if this process has it open; requests then do not open it again.
    pub live: Option<LiveHome>,
}

#[cfg(test)]
impl Workspace {
    /// Creates the workspace of a home without a user.
    pub(crate) fn for_test(home: &std::path::Path) -> Self {
        Self {
            home: Some(home.to_owned()),
            roots: Vec::new(),
            tell: |_| {},
            quiet: true,
            live: None,
        }
    }
}

impl Workspace {
    /// Returns the workspace with other skill folders.
    #[must_use]
    pub fn with_roots(&self, roots: &[PathBuf]) -> Self {
        Self {
            roots: roots.to_vec(),
            ..self.clone()
        }
    }

    /// Returns the open home, unless other skill folders are given.
    pub(crate) fn live(&self) -> Option<&LiveHome> {
        self.live.as_ref().filter(|_| self.roots.is_empty())
    }

    /// Reads files that were just written, so that the next request sees them, if this process watches them.
    pub(crate) fn note_written(&self) {
        if let Some(live) = &self.live {
            live.catch_up();
        }
    }

    /// Returns the home for requests that change something. It need not exist.
    pub fn home(&self) -> Done<Home> {
        Home::open(self.home.as_deref())
    }

    /// Returns the home for requests that only read. Invalid settings are ignored and reported once.
    pub fn home_to_read(&self) -> Done<Home> {
        static REPORTED: Once = Once::new();
        let home = Home::to_read(self.home.as_deref())?;
        if !self.quiet && !home.ignored.is_empty() {
            // A command may open the home more than once.
            REPORTED.call_once(|| home.warnings().iter().for_each(|line| (self.tell)(line)));
        }
        Ok(home)
    }

    /// Returns the path of the home without reading it.
    pub fn locate(&self) -> Done<PathBuf> {
        Home::locate(self.home.as_deref())
    }

    /// Returns the skills to work on.
    pub fn library(&self) -> Done<Library> {
        let home = self.home_to_read();
        if self.roots.is_empty() {
            return Ok(Library::of_home(&home?));
        }
        Library::of_folders(&self.roots, home.ok().as_ref())
    }

    /// Loads skills as `deft up` has them, including deleted ones: broken files of the home keep their last
    /// valid version, and overlays are applied.
    pub fn load_kept(&self, library: &Library) -> Snapshot {
        self.load_changed(library).0
    }

    /// Like [`Self::load_kept`], and also returns the overlays, by skill.
    pub fn load_changed(&self, library: &Library) -> (Snapshot, BTreeMap<String, FileChange>) {
        if let Some(live) = self.live() {
            return live.load_changed(library);
        }
        match self.home_to_read() {
            Ok(home) if self.roots.is_empty() => kept_skills::load_changed(&home, library),
            Ok(_) | Err(_) => (library.load(), BTreeMap::new()),
        }
    }

    /// Loads skills for an engine.
    pub(crate) fn load(&self, home: &Home) -> Done<Snapshot> {
        if self.roots.is_empty() {
            return Ok(kept_skills::load_kept(home, &Library::of_home(home)));
        }
        Ok(self.library()?.load())
    }
}

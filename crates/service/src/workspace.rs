//! The workspace of a front end: a home, or folders of skills that it names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Once;

use deft_channels::Tell;
use deft_config::Home;
use deft_engine::FileChange;
use deft_registry::Snapshot;
use deft_wire::Done;

use crate::kept_skills;
use crate::library::Library;
use crate::live_home::LiveHome;

/// A home, folders of skills, and a way to show lines to the person in front of it.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder of the home; the usual one when absent.
    pub home: Option<PathBuf>,
    /// Folders of skills instead of those of the home; empty for the home's.
    pub roots: Vec<PathBuf>,
    /// Shows a line to the person, if there is one.
    pub tell: Tell,
    /// Whether warnings about the configuration are left out.
    pub quiet: bool,
    /// The home as this process has it open; requests then do not open it again.
    pub live: Option<LiveHome>,
}

impl Workspace {
    /// The same with other folders of skills.
    #[must_use]
    pub fn with_roots(&self, roots: &[PathBuf]) -> Self {
        Self {
            roots: roots.to_vec(),
            ..self.clone()
        }
    }

    /// The home as this process has it open, unless other folders of skills are meant.
    pub(crate) fn live(&self) -> Option<&LiveHome> {
        self.live.as_ref().filter(|_| self.roots.is_empty())
    }

    /// Makes files that were written count in the next request, where this process follows them.
    pub(crate) fn note_written(&self) {
        if let Some(live) = &self.live {
            live.catch_up();
        }
    }

    /// The home, for requests that change something. It need not exist.
    pub fn home(&self) -> Done<Home> {
        Home::open(self.home.as_deref())
    }

    /// The home, for requests that only read: mistakes in its configuration are told, once.
    pub fn home_to_read(&self) -> Done<Home> {
        static TOLD: Once = Once::new();
        let home = Home::to_read(self.home.as_deref())?;
        if !self.quiet && !home.ignored.is_empty() {
            // A command may look at the home more than once.
            TOLD.call_once(|| home.warnings().iter().for_each(|line| (self.tell)(line)));
        }
        Ok(home)
    }

    /// Where the home is, without looking into it.
    pub fn locate(&self) -> Done<PathBuf> {
        Home::locate(self.home.as_deref())
    }

    /// The skills to work on.
    pub fn library(&self) -> Done<Library> {
        let home = self.home_to_read();
        if self.roots.is_empty() {
            return Ok(Library::of_home(&home?));
        }
        Library::of_folders(&self.roots, home.ok().as_ref())
    }

    /// Loads skills as `deft up` has them: those of the home whose file is broken are what they were
    /// before, and those that tools changed are as changed. Deleted ones are included.
    pub fn load_kept(&self, library: &Library) -> Snapshot {
        self.load_changed(library).0
    }

    /// The same, and what tools changed, by skill.
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

//! The skills that a request works on: those of the home, or those of folders named by the caller.

use std::path::PathBuf;

use deft_config::{Home, system_moment};
use deft_registry::{Options, Snapshot};
use deft_skillfile::Moment;
use deft_wire::{Done, Failure};

/// Folders of skills and agents, and the time at which their schedules are read.
pub struct Library {
    /// The folders, and how they are read.
    pub options: Options,
    /// The current time, and the zone of times that name none.
    pub moment: Moment,
}

impl Library {
    /// Returns the skills and agents of a home.
    pub fn of_home(home: &Home) -> Self {
        Self {
            options: Options::new(home.roots()).with_agents([home.agents()]),
            moment: home.moment(),
        }
    }

    /// Returns the skills of the given folders. They need no home. Fails if a folder does not exist.
    pub fn of_folders(folders: &[PathBuf], home: Option<&Home>) -> Done<Self> {
        Ok(Self {
            options: Options::new(require_folders(folders)?),
            moment: home.map_or_else(system_moment, Home::moment),
        })
    }

    /// Loads all skills and agents once.
    pub fn load(&self) -> Snapshot {
        Snapshot::load(&self.options, &self.moment)
    }
}

/// Folders named by the caller must exist: a misspelt one would look like "no skills".
fn require_folders(roots: &[PathBuf]) -> Done<Vec<PathBuf>> {
    let check = |root: &PathBuf| {
        if root.is_dir() {
            return Ok(std::path::absolute(root).unwrap_or_else(|_| root.clone()));
        }
        let message = format!("the folder `{}` does not exist", root.display());
        Err(Failure::input("no_such_folder", message))
    };
    roots.iter().map(check).collect()
}

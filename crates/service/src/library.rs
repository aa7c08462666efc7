//! The skills that a request works on: those of the home, or those of folders that the caller names.

use std::path::PathBuf;

use deft_config::{Home, system_moment};
use deft_registry::{Options, Snapshot};
use deft_skillfile::Moment;
use deft_wire::{Done, Failure};

/// Folders of skills and agents, and the present that their schedules are seen from.
pub struct Library {
    /// Which folders, and how they are read.
    pub options: Options,
    /// The present, and the zone of times that name none.
    pub moment: Moment,
}

impl Library {
    /// The skills and agents of a home.
    pub fn of_home(home: &Home) -> Self {
        Self {
            options: Options::new(home.roots()).with_agents([home.agents()]),
            moment: home.moment(),
        }
    }

    /// The skills of folders that the caller names. They need no home.
    pub fn of_folders(folders: &[PathBuf], home: Option<&Home>) -> Done<Self> {
        Ok(Self {
            options: Options::new(existing(folders)?),
            moment: home.map_or_else(system_moment, Home::moment),
        })
    }

    /// Loads everything once.
    pub fn load(&self) -> Snapshot {
        Snapshot::load(&self.options, &self.moment)
    }
}

/// Folders that the caller names must exist: a misspelt one would look like "no skills".
fn existing(roots: &[PathBuf]) -> Done<Vec<PathBuf>> {
    let check = |root: &PathBuf| {
        if root.is_dir() {
            return Ok(std::path::absolute(root).unwrap_or_else(|_| root.clone()));
        }
        let message = format!("the folder `{}` does not exist", root.display());
        Err(Failure::input("no_such_folder", message))
    };
    roots.iter().map(check).collect()
}

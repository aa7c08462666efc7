//! Agents: folders with an `AGENT.md`, and the default agent, which needs no file.
//!
//! Not here: prompts and rights of an agent beyond the contents of its file.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use deft_model::{Agent, DEFAULT_AGENT};
use deft_skillfile::{Diagnostic, Document, FileLocation, Moment, Profile, Rule, parse};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::digest::revision;
use crate::file::file_name;
use crate::list::Listing;
use crate::load::{FolderContext, load};
use crate::report::State;
use crate::survey::Folder;
use crate::unit::{LoadedAgent, Unit};

const TEXT: &str = include_str!("thinker/AGENT.md");

/// Returns the default agent. A file with the same id replaces it.
pub(crate) fn default_agent() -> Arc<LoadedAgent> {
    static DEFAULT: LazyLock<Arc<LoadedAgent>> = LazyLock::new(|| {
        let location = FileLocation {
            file: "AGENT.md",
            folder: DEFAULT_AGENT,
            domain: None,
        };
        // Nothing in the text depends on the current time.
        let moment = Moment {
            now: Timestamp::UNIX_EPOCH,
            zone: TimeZone::UTC,
        };
        let parsed = parse(TEXT.as_bytes(), &location, Profile::Deft, &moment);
        let agent = match parsed.document {
            Some(Document::Agent(agent)) => *agent,
            // A test verifies that the text is valid; the fallback agent may do nothing.
            _ => Agent::new(DEFAULT_AGENT),
        };
        Arc::new(LoadedAgent {
            agent,
            revision: revision(location.file, TEXT.as_bytes(), &[]),
            path: None,
        })
    });
    Arc::clone(&DEFAULT)
}

/// The agents of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Agents {
    loaded: BTreeMap<String, Arc<LoadedAgent>>,
    /// Ids of agents that failed to load, with the file that should define each.
    missed: BTreeMap<String, Arc<Path>>,
}

impl Default for Agents {
    fn default() -> Self {
        let default = default_agent();
        Self {
            loaded: BTreeMap::from([(default.agent.id.clone(), default)]),
            missed: BTreeMap::new(),
        }
    }
}

impl Agents {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<LoadedAgent>> {
        self.loaded.values()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Arc<LoadedAgent>> {
        self.loaded.get(id)
    }

    /// Adds an agent unless an earlier file defines the same id.
    pub(crate) fn add(&mut self, loaded: &Arc<LoadedAgent>) -> State {
        let id = loaded.agent.id.clone();
        let first = self.loaded.get(&id).and_then(|first| first.path.as_ref());
        match first.or_else(|| self.missed.get(&id)) {
            Some(by) => State::Shadowed {
                id,
                by: Arc::clone(by),
            },
            None => {
                self.loaded.insert(id.clone(), Arc::clone(loaded));
                State::Agent(id)
            }
        }
    }

    /// Records a file that was never valid. The file may be meant to set a limit, so neither the default
    /// agent nor a later file replaces it.
    pub(crate) fn miss(&mut self, path: &Arc<Path>) {
        let id = path.parent().and_then(file_name);
        let is_agent = file_name(path) == Some("AGENT.md");
        let Some(id) = id.filter(|_| is_agent) else {
            return;
        };
        let from_file = self.loaded.get(id).is_some_and(|one| one.path.is_some());
        if !from_file {
            self.loaded.remove(id);
            self.missed.insert(id.to_owned(), Arc::clone(path));
        }
    }
}

/// Loads a folder of agents: at the top level one folder for each agent, and in those an `AGENT.md`.
pub(crate) fn fill(
    context: &FolderContext<'_>,
    folder: &mut Folder,
    listing: &Listing,
    known: &HashMap<&Path, &Unit>,
) {
    if folder.visit.depth == 0 {
        folder.children.clone_from(&listing.folders);
        return;
    }
    match &listing.agent_md {
        Some(path) => {
            let unit = load(context, path, known.get(path.as_path()).copied());
            folder.units.push(unit);
        }
        None => {
            let name = file_name(&folder.visit.path).unwrap_or_default();
            let message = format!("No AGENT.md found in {name}");
            let note = Diagnostic::new(Rule::MissingSkillMd, message)
                .with_help("add one, or move the folder away from the agents");
            folder.problems.push(note);
        }
    }
}

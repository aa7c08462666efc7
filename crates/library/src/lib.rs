//! The skills that deft knows: skills of files, as changed by tools, and records that assistants store.
//! [`Library`] looks them up, caches their plans, stores and changes them, and enables and disables them.
//!
//! Not here: files themselves (`deft-registry`), runs, models, and which slots are due.

pub mod aftermath;
mod changes;
mod choice;
mod commands;
pub mod grants;
mod incident;
mod known;
mod lookup;
mod overlay;
mod overlays;
mod recall;
mod records;
mod rights;
mod skills;
mod standing;
mod surroundings;
mod sync;
mod timed;
mod zone;

use std::sync::Arc;

use deft_base::Base;
use deft_outbox::Outbox;
use deft_store::Store;
use deft_tools::Router;

pub use choice::{NamedSkill, choose};
pub use commands::{Command, CommandSkills, Commands, handler, handler_tool, is_read_only};
pub use incident::{EndedIncident, Incidents};
pub use known::{Entries, SkillSet, is_record};
pub use lookup::skip_unknown;
pub use overlay::{Overlay, fields};
pub use overlays::{FileChange, changed_files};
pub use recall::last_good;
pub use records::StoredSkill;
pub use rights::{denied_failure, is_only_off, not_named, with_authority};
pub use skills::{PinnedSkill, Skills, broken_file, encode};
pub use standing::is_file_removed;
pub use surroundings::{check_tools, known_tools};
pub use sync::SyncReport;
pub use timed::{SkillTiming, StoredSchedule, stored_schedule};

/// The id of the skill that a chat runs.
pub const CHAT_SKILL: &str = "chat";

/// The id of the skill that a background job runs.
pub const JOB_SKILL: &str = "queue_task";

/// The id of the skill that runs when a person or a program dispatches an agent.
pub const DISPATCH_SKILL: &str = "dispatch_agent";

/// Settings of the library.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Ids of default skills that wait for their tools: with `enabled: false` in their file they wait even if
    /// the tools are known already, and are never treated as disabled by a person.
    pub waiting_defaults: Vec<String>,
    /// The shortest time in minutes between two completion notices of a skill that sets none itself.
    pub notify_minutes: u32,
    /// Why the host's zone may be wrong; this remark is added when a skill with a time is stored.
    pub zone_doubt: Option<String>,
}

/// The skills that deft knows.
pub struct Library {
    base: Base,
    outbox: Outbox,
    files: Arc<dyn Skills>,
    router: Router,
    settings: Settings,
    plans: skills::Plans,
    overlays: overlays::Overlays,
    all: known::SkillSetCache,
}

impl Library {
    /// Returns a library for the skills of `files` and of the store of `base`, with the tools of `router`.
    pub fn new(base: Base, files: Arc<dyn Skills>, router: Router, settings: Settings) -> Self {
        Self {
            outbox: Outbox::new(base.clone()),
            base,
            files,
            router,
            settings,
            plans: skills::Plans::default(),
            overlays: overlays::Overlays::default(),
            all: known::SkillSetCache::default(),
        }
    }

    fn store(&self) -> &Arc<dyn Store> {
        self.base.store()
    }
}

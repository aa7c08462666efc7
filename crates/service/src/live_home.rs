//! The home of a daemon, as requests inside the daemon use it: it is open already, and its skills are loaded.
//!
//! Opening a home reads every skill file, starts threads and opens the database. A server would pay that for every
//! request.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use deft_compute::Compute;
use deft_engine::{Channel, Engine, FileChange};
use deft_registry::{Registry, Snapshot};
use jiff::tz::TimeZone;
use tokio::runtime::Handle;

use crate::library::Library;
use crate::threads::Threads;

/// A home that this process has open.
#[derive(Clone)]
pub struct LiveHome {
    pub(crate) threads: Handle,
    pub(crate) engine: Engine,
    pub(crate) zone: TimeZone,
    pub(crate) home: PathBuf,
    pub(crate) compute: Compute,
    pub(crate) channel: Arc<dyn Channel>,
    pub(crate) registry: Arc<Registry>,
    /// Whether the loops of the daemon run.
    pub(crate) schedules: Arc<AtomicBool>,
}

impl fmt::Debug for LiveHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveHome").field(&self.home).finish()
    }
}

impl LiveHome {
    /// The skills of the home with what tools changed about them, and beside them what was changed, by skill.
    pub(crate) fn load_changed(
        &self,
        library: &Library,
    ) -> (Snapshot, BTreeMap<String, FileChange>) {
        // Contents are shared, so that this copies a few pointers per skill.
        let snapshot = self.registry.snapshot().edited(BTreeMap::new());
        let threads = Threads::Shared(self.threads.clone());
        match threads.block_on(self.engine.store().changed_files()) {
            Ok(texts) => deft_engine::changed_files(texts, snapshot, &library.moment),
            Err(error) => {
                tracing::warn!(%error, "the overlays of skills cannot be read");
                (snapshot, BTreeMap::new())
            }
        }
    }

    /// Reads files that this process wrote before the next request asks for them.
    pub(crate) fn catch_up(&self) {
        self.registry.catch_up();
    }
}

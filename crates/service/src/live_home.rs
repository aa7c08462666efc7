//! The open home of a daemon, shared by the requests inside the daemon.
//!
//! Opening a home reads every skill file, starts threads and opens the database. Without this, a server would
//! repeat that for every request.

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

/// A home that this process holds open.
#[derive(Clone)]
pub struct LiveHome {
    pub(crate) threads: Handle,
    pub(crate) engine: Engine,
    pub(crate) zone: TimeZone,
    pub(crate) home: PathBuf,
    pub(crate) compute: Compute,
    pub(crate) channel: Arc<dyn Channel>,
    pub(crate) registry: Arc<Registry>,
    /// Whether the loops of the daemon are running.
    pub(crate) schedules: Arc<AtomicBool>,
}

impl fmt::Debug for LiveHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveHome").field(&self.home).finish()
    }
}

impl LiveHome {
    /// Returns the skills of the home with the overlays of assistants applied, and the changes by skill.
    pub(crate) fn load_changed(
        &self,
        library: &Library,
    ) -> (Snapshot, BTreeMap<String, FileChange>) {
        // The contents are shared, so this copies a few pointers per skill.
        let snapshot = self.registry.snapshot().with_edits(BTreeMap::new());
        let threads = Threads::Shared(self.threads.clone());
        match threads.block_on(self.engine.store().changed_files()) {
            Ok(texts) => deft_engine::changed_files(texts, snapshot, &library.moment),
            Err(error) => {
                tracing::warn!(%error, "the overlays of skills cannot be read");
                (snapshot, BTreeMap::new())
            }
        }
    }

    /// Reads files that this process has written, so that the next request sees them.
    pub(crate) fn catch_up(&self) {
        self.registry.catch_up();
    }
}

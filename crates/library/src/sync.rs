//! Synchronization of rows with skill files: new files are stored, changed ones replaced, removed ones
//! disabled. Thousands of files cost a handful of transactions.
//!
//! Not here: the state of a skill after a change, which is decided in `standing.rs`.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use deft_base::Error;
use deft_model::DisabledReason;
use deft_registry::{Snapshot, State};
use deft_store::{PutResult, SkillFilter, SkillOrigin, SkillRow};
use jiff::Timestamp;

use crate::Library;
use crate::standing::{disabled_change, is_file_removed, may_fire};

/// Number of skills stored in one transaction: enough that thousands of files cost few syncs of the disk, and
/// few enough that other writers wait only for a moment.
pub(crate) const BATCH_SIZE: usize = 1000;

/// The changes made by a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// Skills that have become timed.
    pub added: Vec<String>,
    /// Skills with new content.
    pub changed: Vec<String>,
    /// Skills whose file was removed.
    pub removed: Vec<String>,
    /// Files whose name a record already uses.
    pub clashes: Vec<String>,
}

impl Library {
    /// Updates the rows of timed file skills.
    pub async fn sync_files(&self) -> Result<SyncReport, Error> {
        loop {
            if let Some(synced) = self.sync_once().await? {
                return Ok(synced);
            }
        }
    }

    /// Syncs once; `None` if a skill was changed at the same time.
    async fn sync_once(&self) -> Result<Option<SyncReport>, Error> {
        let now = self.base.now();
        self.read_overlays().await?;
        let snapshot = self.snapshot();
        let mut synced = SyncReport::default();
        let mut puts = Vec::new();
        let mut fresh = Vec::new();
        let mut known = self.file_rows().await?;
        for loaded in snapshot
            .skills()
            .filter(|loaded| loaded.skill.timing.is_some())
        {
            let key = loaded.skill.id.to_string();
            let revision = loaded.revision.to_string();
            let row = match known.remove(&key) {
                Some(row) => Some(row),
                None => self.store().skill(&key).await?,
            };
            match row {
                // A disabled file may leave its name to a record.
                Some(row)
                    if row.text.origin == SkillOrigin::Record && !loaded.skill.policy.enabled => {}
                Some(row) if row.text.origin == SkillOrigin::Record => {
                    tracing::warn!(skill = %key, "a file and a record have the same name");
                    synced.clashes.push(key);
                }
                Some(row) if row.text.revision == revision && !is_file_removed(&row) => {}
                Some(row) => {
                    fresh.push(Arc::clone(loaded));
                    puts.push(self.changed_file(&loaded.skill, &revision, &row, now));
                    synced.changed.push(key);
                }
                None => {
                    fresh.push(Arc::clone(loaded));
                    puts.push(self.new_file(loaded, now));
                    synced.added.push(key);
                }
            }
        }
        // Before the rows, so that no row refers to content that is not stored.
        self.keep_good_files().await?;
        let broken = snapshot.files().iter();
        let broken = broken.filter(|file| matches!(file.state, State::Broken { .. }));
        let broken: HashSet<&Path> = broken.map(|file| &*file.path).collect();
        fresh.retain(|loaded| broken.contains(&*loaded.path));
        self.keep_contents(fresh).await?;
        for some in puts.chunks(BATCH_SIZE) {
            let put = self.store().put_skills(some.to_vec()).await?;
            if put.iter().any(|put| matches!(put, PutResult::Refused(_))) {
                return Ok(None);
            }
        }
        synced.removed = self.disable_removed(known, &snapshot, now).await?;
        self.base.bells().ring_all();
        Ok(Some(synced))
    }

    /// Returns the rows of file skills by id.
    async fn file_rows(&self) -> Result<BTreeMap<String, SkillRow>, Error> {
        let files = SkillFilter {
            origin: Some(SkillOrigin::File),
            ..SkillFilter::default()
        };
        let rows = self.store().skills(files).await?;
        let by_name = |row: SkillRow| (row.text.skill.clone(), row);
        Ok(rows.into_iter().map(by_name).collect())
    }

    /// Disables the skills of these rows whose file was removed or no longer timed.
    async fn disable_removed(
        &self,
        rows: BTreeMap<String, SkillRow>,
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Result<Vec<String>, Error> {
        let is_removed = |row: &SkillRow| {
            let here = snapshot.skill(&row.text.skill);
            let timed = here.is_some_and(|loaded| loaded.skill.timing.is_some());
            !timed && row.text.timing.is_some() && may_fire(row)
        };
        let removed: Vec<SkillRow> = rows.into_values().filter(is_removed).collect();
        for some in removed.chunks(BATCH_SIZE) {
            let off = some.iter().map(|row| {
                let change = disabled_change(row, DisabledReason::FileRemoved, now);
                (row.id, row.version, change)
            });
            // A row that was changed at the same time is handled by the next sync.
            self.store().change_skills(off.collect()).await?;
        }
        Ok(removed.into_iter().map(|row| row.text.skill).collect())
    }
}

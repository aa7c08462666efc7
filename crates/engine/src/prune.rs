//! Pruning of old data: runs that have ended, with their events and large results, and old costs of models.
//!
//! Not here: when to prune, session logs, and revisions of skills, which a run that is just being admitted
//! may need.

use deft_model::RunId;
use deft_store::{Prune, PruneResult};
use jiff::{SignedDuration, Timestamp};

use crate::{Engine, Error};

/// Number of runs deleted per transaction, so that other writers do not wait long.
const PIECE: u32 = 200;

/// How long costs are kept, even if their runs are deleted earlier: budgets and `deft budget` need them.
const SPENDING_RETENTION: SignedDuration = SignedDuration::from_hours(90 * 24);

impl Engine {
    /// Deletes runs that ended before an instant; with `only_count`, only reports them.
    pub async fn prune(&self, before: Timestamp, only_count: bool) -> Result<PruneResult, Error> {
        let mut all = PruneResult::default();
        loop {
            let piece = self.store().prune(Prune {
                before,
                now: self.inner.now(),
                limit: PIECE,
                only_count,
            });
            let piece = piece.await?;
            let found = piece.runs.len();
            all.runs.extend(piece.runs);
            all.events += piece.events;
            all.results += piece.results;
            if only_count || found < PIECE as usize {
                break;
            }
        }
        if !only_count {
            self.remove_results(&all.runs).await;
            let long_ago = self.inner.now().saturating_sub(SPENDING_RETENTION);
            let long_ago = long_ago.unwrap_or(Timestamp::MIN);
            self.store().forget_spent(long_ago).await?;
        }
        Ok(all)
    }

    /// Removes the folders with large results of runs, without blocking a thread of the runtime. Most runs
    /// have none; one that cannot be removed only wastes space.
    async fn remove_results(&self, runs: &[RunId]) {
        let results = &self.inner.options.spill;
        let folders: Vec<_> = runs.iter().map(|run| results.join(run.as_str())).collect();
        let removed = tokio::task::spawn_blocking(move || {
            for folder in folders {
                if let Err(error) = std::fs::remove_dir_all(&folder)
                    && error.kind() != std::io::ErrorKind::NotFound
                {
                    tracing::warn!(%error, folder = %folder.display(), "results could not be removed");
                }
            }
        });
        if let Err(error) = removed.await {
            tracing::error!(%error, "removing results failed");
        }
    }
}

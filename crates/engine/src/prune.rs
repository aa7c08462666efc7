//! Deletes what is old: runs that are over, with their events and the results that were too large
//! to be stored, and what models took long ago.
//!
//! Not here: when that happens, session logs, and revisions of skills, which a run that is about
//! to be admitted may be counting on.

use deft_model::RunId;
use deft_store::{Prune, PruneResult};
use jiff::{SignedDuration, Timestamp};

use crate::{Engine, Error};

/// Runs deleted per transaction, so that other writers do not wait long.
const PIECE: u32 = 200;

/// What was spent is kept so long, however old the runs are that go: budgets and `deft budget`
/// look back.
const SPENT: SignedDuration = SignedDuration::from_hours(90 * 24);

impl Engine {
    /// Deletes runs that ended before an instant, or only says which.
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
            all.runs.iter().for_each(|run| self.drop_results(run));
            let long_ago = self.inner.now().saturating_sub(SPENT);
            let long_ago = long_ago.unwrap_or(Timestamp::MIN);
            self.store().forget_spent(long_ago).await?;
        }
        Ok(all)
    }

    /// Most runs have no such folder. One that cannot be removed is only wasted space.
    fn drop_results(&self, run: &RunId) {
        let folder = self.inner.options.spill.join(run.as_str());
        if let Err(error) = std::fs::remove_dir_all(&folder)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %folder.display(), "results could not be removed");
        }
    }
}

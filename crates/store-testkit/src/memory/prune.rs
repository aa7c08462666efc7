//! Deletion of old rows.

use deft_model::{RunId, RunStatus};

use super::State;
use deft_store::{Prune, PruneResult, RunRow};

impl State {
    pub(super) fn prune(&mut self, request: &Prune) -> PruneResult {
        let old = |row: &RunRow| row.finished_at.is_some_and(|at| at < request.before);
        let there = (0..self.runs.len()).filter(|n| self.find(&self.runs[*n].row.id) == Some(*n));
        let found = there.filter(|n| old(&self.runs[*n].row) && self.is_deletable(*n));
        let found: Vec<usize> = if request.only_count {
            found.collect()
        } else {
            found.take(request.limit as usize).collect()
        };
        let pruned = PruneResult {
            results: self.aside.count_expired(request.now),
            ..self.count(&found)
        };
        if !request.only_count {
            found.into_iter().for_each(|n| self.forget(n));
            self.aside.drop_expired(request.now);
        }
        pruned
    }

    pub(super) fn prune_runs(&mut self, runs: &[RunId]) -> PruneResult {
        let found = runs.iter().filter_map(|run| self.find(run));
        let found: Vec<usize> = found.filter(|n| self.is_deletable(*n)).collect();
        let pruned = self.count(&found);
        found.into_iter().for_each(|n| self.forget(n));
        pruned
    }

    fn is_deletable(&self, n: usize) -> bool {
        let row = &self.runs[n].row;
        row.status == RunStatus::Done && !self.notes.waits(&row.id)
    }

    fn count(&self, found: &[usize]) -> PruneResult {
        let events = found.iter().map(|n| self.runs[*n].events.len() as u64);
        PruneResult {
            runs: found.iter().map(|n| self.runs[*n].row.id.clone()).collect(),
            events: events.sum(),
            results: 0,
        }
    }

    /// Deletes a run except for the row that its key and its slot return. It keeps its place, because other
    /// runs are addressed by index.
    fn forget(&mut self, n: usize) {
        let run = &mut self.runs[n];
        self.by_id.remove(&run.row.id);
        self.people.forget(&run.asked);
        for place in std::mem::take(&mut run.events) {
            self.events[place].body.clear();
        }
        self.notes.forget(&self.runs[n].row.id);
        self.books.forget_run(n);
        clear(&mut self.runs[n].row);
    }
}

/// Clears the fields of a row that a tombstone does not have.
fn clear(row: &mut RunRow) {
    row.outputs = None;
    row.error = None;
    row.usage = None;
    row.cancel_by = None;
}

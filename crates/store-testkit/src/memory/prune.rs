//! Deletion of old rows.

use deft_model::RunStatus;

use super::State;
use deft_store::{Prune, PruneResult, RunRow};

impl State {
    pub(super) fn prune(&mut self, request: &Prune) -> PruneResult {
        let old = |row: &RunRow| {
            row.status == RunStatus::Done && row.finished_at.is_some_and(|at| at < request.before)
        };
        let there = (0..self.runs.len()).filter(|n| self.find(&self.runs[*n].row.id) == Some(*n));
        let is_delivered = |row: &RunRow| !self.notes.waits(&row.id);
        let found = there.filter(|n| old(&self.runs[*n].row) && is_delivered(&self.runs[*n].row));
        let found: Vec<usize> = if request.only_count {
            found.collect()
        } else {
            found.take(request.limit as usize).collect()
        };
        let events = found.iter().map(|n| self.runs[*n].events.len() as u64);
        let pruned = PruneResult {
            runs: found.iter().map(|n| self.runs[*n].row.id.clone()).collect(),
            events: events.sum(),
            results: self.aside.count_expired(request.now),
        };
        if !request.only_count {
            found.into_iter().for_each(|n| self.forget(n));
            self.aside.drop_expired(request.now);
        }
        pruned
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

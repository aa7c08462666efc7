//! An in-memory store, the oracle for tests of the `SQLite` backend.
//!
//! It is one struct behind one lock, and every method completes before it returns.

mod admit;
mod aside;
mod conversations;
mod leases;
mod ledger;
mod list;
mod outbox;
mod people;
mod prune;
mod run;
mod skills;
mod traits;

use std::collections::HashMap;

use deft_model::RunId;
use jiff::Timestamp;
use parking_lot::Mutex;

use deft_store::{Answer, Error, RunRow, StoredEvent};
use run::{Index, Run};

/// A [`Store`](deft_store::Store) in the memory of the process.
#[derive(Default)]
pub struct Memory {
    state: Mutex<State>,
}

impl Memory {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn read<T: Send + 'static>(&self, ask: impl FnOnce(&State) -> T) -> Answer<'_, T> {
        let state = self.state.lock();
        ready(Ok(ask(&state)))
    }

    fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, Error>,
    ) -> Answer<'_, T> {
        let mut state = self.state.lock();
        state.version += 1;
        ready(change(&mut state))
    }
}

fn ready<'a, T: Send + 'a>(answer: Result<T, Error>) -> Answer<'a, T> {
    Box::pin(std::future::ready(answer))
}

#[derive(Default)]
struct State {
    runs: Vec<Run>,
    index: Index,
    by_id: HashMap<RunId, usize>,
    by_key: HashMap<String, usize>,
    by_slot: HashMap<(String, Timestamp), usize>,
    /// The index of an event is its sequence number minus one.
    events: Vec<StoredEvent>,
    people: people::People,
    aside: aside::Aside,
    skills: skills::Skills,
    notes: outbox::Notes,
    talks: conversations::Talks,
    books: ledger::Books,
    version: u64,
}

impl State {
    /// Changes a run and updates the index.
    fn change(&mut self, n: usize, change: impl FnOnce(&mut Run)) {
        let run = &mut self.runs[n];
        self.index.remove(n, run);
        change(run);
        self.index.add(n, run);
    }

    fn find(&self, id: &RunId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    fn row(&self, n: usize) -> RunRow {
        self.runs[n].row.clone()
    }
}

//! A store that forgets everything when it is dropped: for tests, trials and measurements.
//!
//! All of it is one struct behind one lock, and every method does its work before it returns. It
//! survives nothing and is shared with nobody outside the process.

mod admit;
mod aside;
mod conversations;
mod drive;
mod ledger;
mod list;
mod outbox;
mod people;
mod prune;
mod run;
mod skills;
mod traits;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use deft_model::RunId;
use jiff::{SignedDuration, Timestamp};

use crate::{
    Admission, Admitted, Answer, Appended, ApprovalRow, Batch, CancelState, Claim, Claimed,
    Decided, Decision, Error, GoodFile, Grant, Lease, NewEvent, PageEnd, Prune, Pruned, RunFilter,
    RunPage, RunRow, Store, StoredEvent,
};
use run::{Index, Run};

/// A [`Store`] in the memory of the process.
#[derive(Default)]
pub struct Memory {
    state: Mutex<State>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn read<T: Send + 'static>(&self, ask: impl FnOnce(&State) -> T) -> Answer<'_, T> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        ready(Ok(ask(&state)))
    }

    fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, Error>,
    ) -> Answer<'_, T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.version += 1;
        ready(change(&mut state))
    }
}

fn ready<'a, T: Send + 'a>(answer: Result<T, Error>) -> Answer<'a, T> {
    Box::pin(std::future::ready(answer))
}

/// Everything there is.
#[derive(Default)]
struct State {
    runs: Vec<Run>,
    index: Index,
    by_id: HashMap<RunId, usize>,
    by_key: HashMap<String, usize>,
    by_slot: HashMap<(String, Timestamp), usize>,
    /// An event's place in the list is its sequence number less one.
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
    /// Changes a run and keeps the lists true to it.
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

impl Store for Memory {
    fn admit(&self, run: Admission) -> Answer<'_, Admitted> {
        self.write(|state| state.admit(run))
    }

    fn claim(&self, wish: Claim) -> Answer<'_, Option<Claimed>> {
        self.write(|state| Ok(state.claim(wish)))
    }

    fn append(&self, lease: &Lease, batch: Batch) -> Answer<'_, Appended> {
        self.write(|state| state.append(lease, batch))
    }

    fn renew(&self, owner: &str, until: Timestamp) -> Answer<'_, Vec<RunId>> {
        self.write(|state| Ok(state.renew(owner, until)))
    }

    fn release(&self, dead: Vec<String>, now: Timestamp) -> Answer<'_, Vec<RunId>> {
        self.write(|state| Ok(state.release(&dead, now)))
    }

    fn owners(&self) -> Answer<'_, Vec<String>> {
        self.read(State::owners)
    }

    fn cancel_with(
        &self,
        run: &RunId,
        by: &str,
        at: Timestamp,
        closing: Vec<NewEvent>,
    ) -> Answer<'_, CancelState> {
        self.write(|state| Ok(state.cancel(run, by, at, &closing)))
    }

    fn reopen(&self, run: &RunId, event: NewEvent) -> Answer<'_, Option<RunRow>> {
        self.write(|state| state.reopen(run, event))
    }

    fn decide(&self, approval: &str, decision: Decision) -> Answer<'_, Decided> {
        self.write(|state| Ok(state.decide(approval, decision)))
    }

    fn approvals(&self, all: bool) -> Answer<'_, Vec<ApprovalRow>> {
        self.read(|state| state.people.approvals(all))
    }

    fn approval(&self, id: &str) -> Answer<'_, Option<ApprovalRow>> {
        self.read(|state| {
            let mut all = state.people.approvals(true).into_iter();
            all.find(|row| row.asked.id == id)
        })
    }

    fn grant(&self, grant: Grant) -> Answer<'_, ()> {
        self.write(|state| {
            state.people.grant(grant);
            Ok(())
        })
    }

    fn grants(&self, skill: &str) -> Answer<'_, Vec<Grant>> {
        self.read(|state| state.people.grants(|grant| grant.skill == skill))
    }

    fn all_grants(&self) -> Answer<'_, Vec<Grant>> {
        self.read(|state| state.people.grants(|_| true))
    }

    fn revoke(&self, grant: &str) -> Answer<'_, bool> {
        self.write(|state| Ok(state.people.revoke(grant)))
    }

    fn run(&self, id: &RunId) -> Answer<'_, Option<RunRow>> {
        self.read(|state| state.find(id).map(|n| state.row(n)))
    }

    fn run_page(&self, filter: RunFilter, after: Option<PageEnd>) -> Answer<'_, RunPage> {
        self.read(|state| state.list(&filter, after))
    }

    fn count_runs(&self, filter: RunFilter) -> Answer<'_, u64> {
        let all = RunFilter {
            limit: None,
            ..filter
        };
        self.read(move |state| state.list(&all, None).runs.len() as u64)
    }

    fn events(&self, run: Option<&RunId>, after: u64, limit: u32) -> Answer<'_, Vec<StoredEvent>> {
        self.read(|state| state.events_after(run, after, limit))
    }

    fn keep_revisions(&self, revisions: Vec<(String, String)>) -> Answer<'_, ()> {
        self.write(|state| {
            for (revision, content) in revisions {
                state.aside.keep_revision(&revision, &content);
            }
            Ok(())
        })
    }

    fn revision(&self, revision: &str) -> Answer<'_, Option<String>> {
        self.read(|state| state.aside.revision(revision))
    }

    fn keep_good_files(&self, files: Vec<(GoodFile, String)>, gone: Vec<String>) -> Answer<'_, ()> {
        self.write(|state| {
            for (file, content) in files {
                state.aside.keep_good_file(file, &content);
            }
            for path in &gone {
                state.aside.drop_good_file(path);
            }
            Ok(())
        })
    }

    fn good_files(&self) -> Answer<'_, Vec<GoodFile>> {
        self.read(|state| state.aside.good_files())
    }

    fn cached(&self, key: &str, now: Timestamp) -> Answer<'_, Option<String>> {
        self.read(|state| state.aside.cached(key, now))
    }

    fn keep_catalog(&self, server: &str, tools: &str, at: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            state.aside.keep_catalog(server, tools, at);
            Ok(())
        })
    }

    fn drop_catalog(&self, server: &str) -> Answer<'_, ()> {
        self.write(|state| {
            state.aside.drop_catalog(server);
            Ok(())
        })
    }

    fn catalogs(&self) -> Answer<'_, Vec<(String, String, Timestamp)>> {
        self.read(|state| state.aside.catalogs())
    }

    fn next_wake(&self) -> Answer<'_, Option<Timestamp>> {
        self.read(|state| state.index.asleep.first().map(|(at, _)| *at))
    }

    fn late_running(&self, late: SignedDuration) -> Answer<'_, u64> {
        self.read(|state| state.late_running(late))
    }

    fn wake(&self, waiting_for: &str, at: Timestamp) -> Answer<'_, u64> {
        self.write(|state| Ok(state.wake(waiting_for, at)))
    }

    fn prune(&self, wish: Prune) -> Answer<'_, Pruned> {
        self.write(|state| Ok(state.prune(&wish)))
    }

    fn version(&self) -> Answer<'_, u64> {
        self.read(|state| state.version)
    }
}

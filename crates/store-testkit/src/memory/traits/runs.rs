//! Requests for runs (queue and history) and for the whole store.

use deft_model::{RunId, WaitKind};
use jiff::{SignedDuration, Timestamp};

use super::super::{Memory, State};
use deft_store::{
    Admission, AdmissionResult, Answer, AppendResult, Batch, CancelState, Claim, ClaimedRun, Lease,
    NewEvent, PAUSES, PageEnd, Prune, PruneResult, RunFilter, RunHistory, RunPage, RunQueue,
    RunRow, Store, StoredEvent,
};

impl RunQueue for Memory {
    fn admit(&self, run: Admission) -> Answer<'_, AdmissionResult> {
        self.write(|state| state.admit(run))
    }

    fn claim(&self, request: Claim) -> Answer<'_, Option<ClaimedRun>> {
        self.write(|state| Ok(state.claim(request)))
    }

    fn append(&self, lease: &Lease, batch: Batch) -> Answer<'_, AppendResult> {
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

    fn next_wake(&self) -> Answer<'_, Option<Timestamp>> {
        self.read(|state| state.index.asleep.first().map(|(at, _)| *at))
    }

    fn late_running(&self, late: SignedDuration) -> Answer<'_, u64> {
        self.read(|state| state.late_running(late))
    }

    fn wake(&self, kind: WaitKind, run: Option<&RunId>, at: Timestamp) -> Answer<'_, u64> {
        self.write(|state| Ok(state.wake(kind, run, at)))
    }

    fn hold(&self, skill: &str, held: bool, at: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            state.notes.hold(skill, held, at);
            Ok(())
        })
    }

    fn held_since(&self, skill: &str) -> Answer<'_, Option<Timestamp>> {
        self.read(|state| state.notes.held_since(skill))
    }
}

impl RunHistory for Memory {
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

    fn newest_event(&self) -> Answer<'_, u64> {
        self.read(|state| u64::try_from(state.events.len()).unwrap_or(u64::MAX))
    }

    fn paused_runs(&self, mut runs: Vec<RunId>) -> Answer<'_, Vec<RunId>> {
        self.read(move |state| {
            runs.retain(|run| {
                let mut own = state.events.iter().filter(|event| event.run == *run);
                own.any(|event| PAUSES.contains(&event.kind.as_str()))
            });
            runs
        })
    }

    fn events(&self, run: Option<&RunId>, after: u64, limit: u32) -> Answer<'_, Vec<StoredEvent>> {
        self.read(|state| state.events_after(run, after, limit))
    }
}

impl Store for Memory {
    fn prune(&self, request: Prune) -> Answer<'_, PruneResult> {
        self.write(|state| Ok(state.prune(&request)))
    }

    fn prune_runs(&self, runs: Vec<RunId>) -> Answer<'_, PruneResult> {
        self.write(|state| Ok(state.prune_runs(&runs)))
    }

    fn version(&self) -> Answer<'_, u64> {
        self.read(|state| state.version)
    }
}

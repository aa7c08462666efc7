//! Requests for runs (queue and history) and for the whole store.

use deft_model::{RunId, WaitKind};
use jiff::{SignedDuration, Timestamp};

use super::super::{
    Sqlite, admit, append, claim, figures, finish, list, outbox, people, prune, trash,
};
use crate::{
    Admission, AdmissionResult, Answer, AppendResult, Batch, CancelState, Claim, ClaimedRun, Lease,
    NewEvent, OutcomeCount, PageEnd, Prune, PruneResult, RunFilter, RunHistory, RunPage, RunQueue,
    RunRow, Store, StoredEvent, Trash, TrashItem, UsedRevision,
};

impl RunQueue for Sqlite {
    fn admit(&self, run: Admission) -> Answer<'_, AdmissionResult> {
        self.writer.write(move |db| admit::admit(db, &run))
    }

    fn claim(&self, request: Claim) -> Answer<'_, Option<ClaimedRun>> {
        self.writer.write(move |db| claim::claim(db, &request))
    }

    fn append(&self, lease: &Lease, batch: Batch) -> Answer<'_, AppendResult> {
        let lease = lease.clone();
        self.writer
            .write(move |db| append::append(db, &lease, &batch))
    }

    fn renew(&self, owner: &str, until: Timestamp) -> Answer<'_, Vec<RunId>> {
        let owner = owner.to_owned();
        self.writer.write(move |db| claim::renew(db, &owner, until))
    }

    fn release(&self, dead: Vec<String>, now: Timestamp) -> Answer<'_, Vec<RunId>> {
        self.writer.write(move |db| claim::release(db, &dead, now))
    }

    fn owners(&self) -> Answer<'_, Vec<String>> {
        self.readers.read(list::owners)
    }

    fn cancel_with(
        &self,
        run: &RunId,
        by: &str,
        at: Timestamp,
        closing: Vec<NewEvent>,
    ) -> Answer<'_, CancelState> {
        let (run, by) = (run.clone(), by.to_owned());
        self.writer
            .write(move |db| finish::cancel(db, &run, &by, at, &closing))
    }

    fn reopen(&self, run: &RunId, event: NewEvent) -> Answer<'_, Option<RunRow>> {
        let run = run.clone();
        self.writer
            .write(move |db| finish::reopen(db, &run, &event))
    }

    fn next_wake(&self) -> Answer<'_, Option<Timestamp>> {
        self.readers.read(list::next_wake)
    }

    fn late_running(&self, late: SignedDuration) -> Answer<'_, u64> {
        self.readers.read(move |db| list::late_running(db, late))
    }

    fn wake(&self, kind: WaitKind, run: Option<&RunId>, at: Timestamp) -> Answer<'_, u64> {
        let run = run.cloned();
        self.writer
            .write(move |db| people::wake_all(db, kind, run.as_ref(), at))
    }

    fn hold(&self, skill: &str, held: bool, at: Timestamp) -> Answer<'_, ()> {
        let skill = skill.to_owned();
        self.writer
            .write(move |db| outbox::hold(db, &skill, held, at))
    }

    fn held_since(&self, skill: &str) -> Answer<'_, Option<Timestamp>> {
        let skill = skill.to_owned();
        self.readers.read(move |db| outbox::held_since(db, &skill))
    }
}

impl RunHistory for Sqlite {
    fn run(&self, id: &RunId) -> Answer<'_, Option<RunRow>> {
        let id = id.clone();
        self.readers.read(move |db| list::run(db, &id))
    }

    fn run_page(&self, filter: RunFilter, after: Option<PageEnd>) -> Answer<'_, RunPage> {
        self.readers.read(move |db| list::page(db, &filter, after))
    }

    fn count_runs(&self, filter: RunFilter) -> Answer<'_, u64> {
        self.readers.read(move |db| list::count(db, &filter))
    }

    fn outcomes(&self, since: Timestamp) -> Answer<'_, Vec<OutcomeCount>> {
        self.readers.read(move |db| figures::outcomes(db, since))
    }

    fn used_revisions(&self, skill: &str) -> Answer<'_, Vec<UsedRevision>> {
        let skill = skill.to_owned();
        self.readers.read(move |db| figures::revisions(db, &skill))
    }

    fn newest_event(&self) -> Answer<'_, u64> {
        self.readers.read(list::newest_event)
    }

    fn paused_runs(&self, runs: Vec<RunId>) -> Answer<'_, Vec<RunId>> {
        self.readers.read(move |db| list::paused_runs(db, &runs))
    }

    fn events(&self, run: Option<&RunId>, after: u64, limit: u32) -> Answer<'_, Vec<StoredEvent>> {
        let run = run.cloned();
        self.readers
            .read(move |db| list::events(db, run.as_ref(), after, limit))
    }
}

impl Store for Sqlite {
    fn prune(&self, request: Prune) -> Answer<'_, PruneResult> {
        if request.only_count {
            return self.readers.read(move |db| prune::count(db, &request));
        }
        self.writer.write(move |db| prune::prune(db, &request))
    }

    fn prune_runs(&self, runs: Vec<RunId>) -> Answer<'_, PruneResult> {
        self.writer.write(move |db| prune::prune_runs(db, &runs))
    }

    fn trash(&self) -> Option<&dyn Trash> {
        Some(self)
    }

    fn version(&self) -> Answer<'_, u64> {
        self.readers.version()
    }
}

impl Trash for Sqlite {
    fn lines(&self, what: TrashItem) -> Answer<'_, Vec<String>> {
        self.readers.read(move |db| trash::lines(db, &what))
    }

    fn restore(&self, lines: Vec<String>) -> Answer<'_, u64> {
        self.writer.write(move |db| trash::restore(db, &lines))
    }
}

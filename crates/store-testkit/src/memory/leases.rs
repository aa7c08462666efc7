//! Leases and the writes of their holders: claim, append, renew, release, reopen.
//!
//! Not here: admission (`admit.rs`), questions (`people.rs`).

use deft_model::{RunId, RunStatus, WaitKind};
use jiff::Timestamp;

use super::State;
use super::run::{Run, earlier};
use deft_store::{
    AppendResult, Batch, Claim, ClaimedRun, Error, Finish, Lease, NewEvent, RunRow, RunState,
    StoredEvent, WaitReason, Write,
};

impl State {
    pub(super) fn claim(&mut self, request: Claim) -> Option<ClaimedRun> {
        if !self.within(request.global_limit) {
            return None;
        }
        let n = match &request.only {
            Some(id) => self.find(id).filter(|n| self.is_due(*n, request.now))?,
            None => self.oldest(request.now)?,
        };
        let waited = self.runs[n].row.status == RunStatus::Waiting;
        let lease = self.lease(n, request.owner, request.until, request.now);
        let run = &self.runs[n];
        Some(ClaimedRun {
            run: run.row.clone(),
            lease,
            waited,
            events: run.events.iter().map(|e| self.events[*e].clone()).collect(),
        })
    }

    pub(super) fn within(&self, limit: Option<u32>) -> bool {
        limit.is_none_or(|limit| self.index.running.len() < limit as usize)
    }

    fn is_due(&self, n: usize, now: Timestamp) -> bool {
        let run = &self.runs[n];
        let due = match run.row.status {
            RunStatus::Queued => true,
            RunStatus::Waiting => run.row.wake_at.is_some_and(|at| at <= now),
            RunStatus::Running | RunStatus::Done => false,
        };
        due && self.notes.held_since(&run.row.skill).is_none() && self.index.admits(n, run)
    }

    fn oldest(&self, now: Timestamp) -> Option<usize> {
        let queued = self.index.queued.iter().map(|(_, _, n)| *n);
        let queued = queued.into_iter().find(|n| self.is_due(*n, now));
        let awake = self.index.asleep.iter().take_while(|(at, _)| *at <= now);
        let awake = awake.map(|(_, n)| *n).filter(|n| self.is_due(*n, now));
        queued.into_iter().chain(awake).min_by_key(|n| {
            let row = &self.runs[*n].row;
            (row.admitted_at, &row.id)
        })
    }

    pub(super) fn lease(
        &mut self,
        n: usize,
        owner: String,
        until: Timestamp,
        now: Timestamp,
    ) -> Lease {
        self.change(n, |run| {
            run.token += 1;
            run.until = Some(until);
            run.nudged = None;
            run.row.status = RunStatus::Running;
            run.row.owner = Some(owner.clone());
            run.row.started_at.get_or_insert(now);
            run.row.wake_at = None;
            run.row.waiting_for = None;
        });
        let run = &self.runs[n];
        Lease {
            run: run.row.id.clone(),
            owner,
            token: run.token,
        }
    }

    pub(super) fn append(&mut self, lease: &Lease, batch: Batch) -> Result<AppendResult, Error> {
        let held = |run: &Run| run.row.status == RunStatus::Running && run.token == lease.token;
        let n = self.find(&lease.run).filter(|n| held(&self.runs[*n]));
        let n = n.ok_or_else(|| Error::fenced_error(&lease.run))?;
        self.people.check_free(&batch.writes)?;
        if let RunState::Finish(finish) = &batch.then {
            self.skills.check(finish.aftermath.as_deref())?;
        }
        let first_seq = self.apply(n, batch);
        Ok(AppendResult {
            first_seq,
            cancel_by: self.runs[n].row.cancel_by.clone(),
            usage: self.runs[n].row.usage.clone(),
        })
    }

    /// Writes a batch that was checked before. Returns the sequence number of its first event, or 0 without
    /// events.
    pub(super) fn apply(&mut self, n: usize, batch: Batch) -> u64 {
        let first = self.events.len() as u64 + 1;
        let any = !batch.events.is_empty();
        for event in batch.events {
            self.push(n, event);
        }
        self.write_all(n, batch.writes);
        match batch.then {
            RunState::Continue => {}
            RunState::Park {
                wake_at,
                waiting_for,
            } => self.park(n, wake_at, waiting_for),
            RunState::Finish(finish) => self.finish(n, finish),
        }
        if any { first } else { 0 }
    }

    pub(super) fn push(&mut self, n: usize, event: NewEvent) {
        let run = &mut self.runs[n];
        run.events.push(self.events.len());
        self.events.push(StoredEvent {
            seq: self.events.len() as u64 + 1,
            run: run.row.id.clone(),
            at: event.at,
            kind: event.kind,
            body: event.body,
        });
    }

    pub(super) fn write_all(&mut self, n: usize, writes: Vec<Write>) {
        for write in writes {
            self.write(n, write);
        }
    }

    fn write(&mut self, n: usize, write: Write) {
        let run = &mut self.runs[n];
        match write {
            Write::Cache {
                key,
                value,
                at,
                expires_at,
            } => self.aside.keep_result(key, value, at, expires_at),
            Write::Ask(asked) => self.people.ask(n, run, asked),
            Write::Notice { key, body, at } => self.notice_of(n, key, body, at),
            Write::Fact(fact) => {
                self.notes.add_fact(fact);
            }
            Write::Open(new) => drop(self.talks.open(new)),
            Write::Say {
                conversation,
                first,
                messages,
            } => {
                let run = &run.row.id;
                self.talks.say(run, &conversation, first, messages);
            }
            Write::Spend(spend) => self.books.spend(n, spend),
            Write::Unreserve { key } => self.books.unreserve(n, key),
        }
    }

    /// Makes parked runs due that wait for `kind`; with `only`, only that run. Returns how many.
    pub(super) fn wake(&mut self, kind: WaitKind, only: Option<&RunId>, at: Timestamp) -> u64 {
        let waits = |run: &Run| {
            let what = run.row.waiting_for.as_ref();
            run.row.status == RunStatus::Waiting
                && what.is_some_and(|what| what.kind == kind)
                && only.is_none_or(|only| run.row.id == *only)
        };
        let sleeping: Vec<usize> = (0..self.runs.len())
            .filter(|n| waits(&self.runs[*n]))
            .collect();
        for n in &sleeping {
            self.change(*n, |run| {
                run.row.wake_at = earlier(run.row.wake_at, Some(at));
            });
        }
        sleeping.len() as u64
    }

    fn park(&mut self, n: usize, wake_at: Option<Timestamp>, waiting_for: WaitReason) {
        self.books.release(n);
        self.change(n, |run| {
            run.row.status = RunStatus::Waiting;
            run.row.wake_at = earlier(wake_at, run.nudged.take());
            run.row.waiting_for = Some(waiting_for);
            run.row.owner = None;
            run.until = None;
        });
    }

    pub(super) fn finish(&mut self, n: usize, finish: Finish) {
        self.people.close(&self.runs[n].asked);
        self.books.release(n);
        let usage = self.books.of_run(&self.runs[n].row.id);
        if let Some(after) = finish.aftermath {
            self.skills.change(after.id, after.version, after.change);
        }
        self.change(n, |run| {
            run.until = None;
            run.nudged = None;
            let row = &mut run.row;
            row.status = RunStatus::Done;
            row.outcome = Some(finish.outcome);
            row.outputs = finish.outputs;
            row.error = finish.error;
            row.usage = usage;
            row.finished_at = Some(finish.at);
            row.finish_ordinal += 1;
            row.owner = None;
            row.wake_at = None;
            row.waiting_for = None;
        });
    }

    pub(super) fn renew(&mut self, owner: &str, until: Timestamp) -> Vec<RunId> {
        let mut wanted = Vec::new();
        for n in &self.index.running {
            let run = &mut self.runs[*n];
            if run.row.owner.as_deref() != Some(owner) {
                continue;
            }
            run.until = Some(until);
            if run.row.cancel_by.is_some() {
                wanted.push(run.row.id.clone());
            }
        }
        wanted
    }

    pub(super) fn release(&mut self, dead: &[String], now: Timestamp) -> Vec<RunId> {
        let lost = |run: &Run| {
            let gone = run.row.owner.as_ref().is_some_and(|o| dead.contains(o));
            gone || run.until.is_some_and(|until| until < now)
        };
        let running = self.index.running.iter().copied();
        let freed: Vec<usize> = running.filter(|n| lost(&self.runs[*n])).collect();
        for n in &freed {
            self.books.spend_estimates(*n, now);
            self.change(*n, |run| {
                run.row.status = RunStatus::Queued;
                run.row.owner = None;
                run.until = None;
            });
        }
        freed.iter().map(|n| self.runs[*n].row.id.clone()).collect()
    }

    pub(super) fn reopen(&mut self, id: &RunId, event: NewEvent) -> Result<Option<RunRow>, Error> {
        let Some(n) = self.find(id) else {
            return Ok(None);
        };
        let row = &self.runs[n].row;
        if row.status != RunStatus::Done {
            return Err(Error::NotDone {
                run: id.to_string(),
                status: row.status,
            });
        }
        let turn = self.index.next_turn(&row.skill);
        self.push(n, event);
        self.change(n, |run| {
            run.turn = turn;
            let row = &mut run.row;
            row.status = RunStatus::Queued;
            row.outcome = None;
            row.outputs = None;
            row.error = None;
            row.usage = None;
            row.finished_at = None;
            row.cancel_by = None;
        });
        Ok(Some(self.row(n)))
    }
}

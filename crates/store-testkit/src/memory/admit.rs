//! Admission: keys, slots, and the overlap rule.
//!
//! Not here: driving, parking and finishing (`leases.rs`).

use deft_model::{Outcome, Overlap, RunId, RunStatus};
use jiff::Timestamp;

use super::State;
use super::run::{Run, earlier};
use deft_store::{
    Admission, AdmissionClaim, AdmissionResult, CancelState, Error, Finish, Lease, NewEvent,
    backend,
};

impl State {
    pub(super) fn admit(&mut self, mut run: Admission) -> Result<AdmissionResult, Error> {
        if let Some(n) = self.twin(&run) {
            return Ok(AdmissionResult::Existing(self.row(n)));
        }
        let claim = run.claim.take();
        let step = run.step.take();
        self.check_free(&run, claim.as_ref())?;
        if let Some(step) = &step
            && !self.step(step)
        {
            return Ok(AdmissionResult::Stale);
        }
        let (overlap, at) = (run.overlap, run.at);
        let others = match overlap {
            Overlap::Allow | Overlap::Queue => Vec::new(),
            Overlap::Skip | Overlap::CancelOther => self.index.active(&run.skill),
        };
        if let (Overlap::Skip, Some(first)) = (overlap, others.first()) {
            if let Some(step) = &step {
                self.close_if_last(step);
            }
            return Ok(self.skip(&run, *first));
        }
        let cancelled = others.iter().map(|n| self.runs[*n].row.id.clone());
        let cancelled: Vec<RunId> = cancelled.collect();
        for n in others {
            self.stop(n, &backend::newer_run(&run.run), at, &run.closing);
        }
        let aside = std::mem::take(&mut run.aside);
        let n = self.insert(&run);
        self.write_all(n, std::mem::take(&mut run.writes));
        let given = claim.and_then(|request| self.first_claim(n, request, at));
        if given.is_none() {
            aside.into_iter().for_each(|event| self.push(n, event));
        }
        let (lease, first_seq) = given.map_or((None, None), |(lease, seq)| (Some(lease), seq));
        Ok(AdmissionResult::New {
            run: self.row(n),
            lease,
            first_seq,
            cancelled,
        })
    }

    /// Returns the run that was admitted earlier under the same key or for the same slot.
    fn twin(&self, run: &Admission) -> Option<usize> {
        let by_key = run.key.as_ref().and_then(|key| self.by_key.get(key));
        let by_slot = || self.by_slot.get(&(run.skill.clone(), run.slot?));
        by_key.or_else(by_slot).copied()
    }

    fn check_free(&self, run: &Admission, claim: Option<&AdmissionClaim>) -> Result<(), Error> {
        if self.by_id.contains_key(&run.run) {
            return Err(Error::Taken {
                what: "a run",
                id: run.run.to_string(),
            });
        }
        self.people.check_free(&run.writes)?;
        claim.map_or(Ok(()), |request| {
            self.people.check_free(&request.batch.writes)
        })
    }

    fn insert(&mut self, run: &Admission) -> usize {
        let turn = self.index.next_turn(&run.skill);
        self.add_run(Run::new_queued(run, turn))
    }

    pub(super) fn add_run(&mut self, run: Run) -> usize {
        let n = self.runs.len();
        let row = &run.row;
        self.by_id.insert(row.id.clone(), n);
        if let Some(key) = &row.key {
            self.by_key.insert(key.clone(), n);
        }
        if let Some(slot) = row.slot {
            self.by_slot.insert((row.skill.clone(), slot), n);
        }
        self.index.add(n, &run);
        self.runs.push(run);
        n
    }

    fn skip(&mut self, run: &Admission, other: usize) -> AdmissionResult {
        let error = backend::in_the_way(self.runs[other].row.id.as_str());
        let at = run.at;
        let n = self.insert(run);
        self.finish(n, finish_with(Outcome::Skipped, error, at));
        AdmissionResult::New {
            run: self.row(n),
            lease: None,
            first_seq: None,
            cancelled: Vec::new(),
        }
    }

    fn first_claim(
        &mut self,
        n: usize,
        request: AdmissionClaim,
        at: Timestamp,
    ) -> Option<(Lease, Option<u64>)> {
        let held = self.notes.held_since(&self.runs[n].row.skill).is_some();
        if held || !self.within(request.global_limit) || !self.index.admits(n, &self.runs[n]) {
            return None;
        }
        let lease = self.lease(n, request.owner, request.until, at);
        let any = !request.batch.events.is_empty();
        let seq = self.apply(n, request.batch);
        Some((lease, any.then_some(seq)))
    }

    pub(super) fn cancel(
        &mut self,
        run: &RunId,
        by: &str,
        at: Timestamp,
        closing: &[NewEvent],
    ) -> CancelState {
        let Some(n) = self.find(run) else {
            return CancelState::Unknown;
        };
        let before = self.runs[n].row.status;
        self.stop(n, by, at, closing);
        let row = self.row(n);
        match before {
            RunStatus::Queued | RunStatus::Waiting => CancelState::Done(row),
            RunStatus::Running => CancelState::Asked(row),
            RunStatus::Done => CancelState::Already(row),
        }
    }

    /// Ends a run without a driver; otherwise records the request for its driver.
    fn stop(&mut self, n: usize, by: &str, at: Timestamp, closing: &[NewEvent]) {
        let run = &mut self.runs[n];
        if run.row.status == RunStatus::Done {
            return;
        }
        let by = run.row.cancel_by.get_or_insert_with(|| by.to_owned());
        let error = backend::cancelled_error(by);
        if run.row.status == RunStatus::Running {
            run.nudged = earlier(run.nudged, Some(at));
        } else {
            for event in closing {
                self.push(n, event.clone());
            }
            self.finish(n, finish_with(Outcome::Cancelled, error, at));
        }
    }
}

fn finish_with(outcome: Outcome, error: String, at: Timestamp) -> Finish {
    Finish {
        outcome,
        outputs: None,
        error: Some(error),
        aftermath: None,
        at,
    }
}

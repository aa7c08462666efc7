//! Recovery: runs whose driver process has exited become due again, and people can resume ended runs.

use deft_base::{read_stored, run_inputs};
use deft_library::skip_unknown;
use deft_model::{Cause, Outcome, RunId, RunOrigin, RunStatus, nearest};
use deft_store::{RunFilter, RunRow};
use deft_workflow::{Answer, Event};
use serde::Deserialize;

use crate::attention::Response;
use crate::event_json::{decode_events, encode};
use crate::{
    Admission, Attention, CHAT_SKILL, DISPATCH_SKILL, Engine, Error, Fire, JOB_SKILL, Parent,
    admit, ask,
};

/// Maximum number of runs that a message names.
const MAX_NAMED: u32 = 5;

/// How a person resumes a run.
#[derive(Clone, Debug, Default)]
pub struct ResumeWith {
    /// Who resumes it.
    pub by: String,
    /// Whether to use the pinned revision even if the skill has changed since.
    pub old_revision: bool,
}

/// How a run is repeated.
#[derive(Clone, Debug, Default)]
pub struct RerunWith {
    /// The step to start with: the results of earlier steps are reused.
    pub from: Option<String>,
    /// The request that asks for it.
    pub origin: RunOrigin,
}

impl Engine {
    /// Frees the runs whose owner is dead, so that they become due again. Does not drive them; only called by
    /// processes that keep running.
    pub async fn recover(&self) -> Result<Vec<RunId>, Error> {
        let owners = self.store().owners().await?;
        let (dead, others): (Vec<String>, Vec<String>) = owners
            .into_iter()
            .partition(|owner| self.inner.owner.is_dead(owner));
        let released = self.release_owners(dead, &others).await?;
        // A file that cannot be removed does no harm, and the next sweep tries again.
        if let Err(error) = self.inner.owner.sweep(&others) {
            tracing::debug!(%error, "lock files of ended processes were not removed");
        }
        Ok(released)
    }

    /// Frees the runs of an owner that is dead.
    pub(crate) async fn release_dead(&self, owner: String) -> Result<(), Error> {
        let mut others = self.store().owners().await?;
        others.retain(|other| *other != owner);
        self.release_owners(vec![owner], &others).await?;
        Ok(())
    }

    /// Frees the runs of dead owners, and runs whose lease has expired. A suspended host or a clock that was
    /// set must not take runs from an owner that holds its lock here, so the leases of these are renewed first.
    async fn release_owners(
        &self,
        dead: Vec<String>,
        others: &[String],
    ) -> Result<Vec<RunId>, Error> {
        let living = others
            .iter()
            .filter(|owner| self.inner.owner.is_here(owner));
        for owner in living {
            self.store().renew(owner, self.inner.lease_until()).await?;
        }
        Ok(self.store().release(dead, self.inner.now()).await?)
    }

    /// Finds a run by its id or a prefix of it.
    pub async fn find_run(&self, id: &str) -> Result<RunRow, Error> {
        let filter = RunFilter {
            id_prefix: Some(id.to_owned()),
            ..RunFilter::default()
        };
        let first = RunFilter {
            limit: Some(MAX_NAMED),
            ..filter.clone()
        };
        let mut runs = self.store().runs(first).await?;
        match &runs[..] {
            [] => Err(Error::UnknownRun { id: id.to_owned() }),
            [_] => Ok(runs.remove(0)),
            several => match several.iter().position(|run| run.id.as_str() == id) {
                Some(exact) => Ok(runs.remove(exact)),
                None => Err(Error::AmbiguousRun {
                    id: id.to_owned(),
                    count: self.store().count_runs(filter).await?,
                    first: several
                        .iter()
                        .map(|run| format!("{} ({})", run.id, run.skill))
                        .collect(),
                }),
            },
        }
    }

    /// Resumes an ended, waiting or orphaned run, and drives it here.
    pub async fn resume(
        &self,
        run: &RunRow,
        with: &ResumeWith,
        attention: Attention,
    ) -> Result<Admission, Error> {
        self.check_revision(run, with).await?;
        match (run.status, run.outcome) {
            (RunStatus::Done, Some(Outcome::Success | Outcome::Skipped | Outcome::Missed)) => {
                let outcome = run.outcome.map_or(String::new(), |o| o.to_string());
                return Err(refuse(
                    run,
                    &format!("cannot be resumed: it already ended as `{outcome}`"),
                    Some(format!("`deft runs rerun {}` starts a new run", run.id)),
                ));
            }
            (RunStatus::Done, _) => {
                let event = Event::Resumed {
                    by: with.by.clone(),
                };
                let event = encode(self.inner.now(), &event);
                self.store().reopen(&run.id, event).await?;
            }
            (RunStatus::Running, _) => self.take_over(run).await?,
            (RunStatus::Waiting, _) => self.answer_open(run, &attention).await?,
            (RunStatus::Queued, _) => {}
        }
        attention.note(&run.id);
        self.drive_when_due(&run.id, attention).await?;
        self.finished_row(&run.id).await
    }

    /// Asks the open questions of a parked run, if a person here can answer.
    async fn answer_open(&self, run: &RunRow, attention: &Attention) -> Result<(), Error> {
        let open = self.store().approvals(false).await?;
        for row in open.into_iter().filter(|row| row.run == run.id) {
            let by = match &attention.assume_yes {
                Some(by) => Some((Answer::Yes.into(), by.clone())),
                None => ask::at_terminal(attention, &row).await?,
            };
            if let Some((response, by)) = by {
                let Response { answer, always } = response;
                self.answer(&row, answer, &by, always).await?;
            }
        }
        Ok(())
    }

    /// Releases a run that is being driven, which is only allowed if its owner is dead.
    async fn take_over(&self, run: &RunRow) -> Result<(), Error> {
        let owner = run.owner.clone().unwrap_or_default();
        if !self.inner.owner.is_dead(&owner) {
            return Err(refuse(
                run,
                "is already running",
                Some(format!("`deft runs logs -f {}` shows it", run.id)),
            ));
        }
        self.release_dead(owner).await
    }

    async fn check_revision(&self, run: &RunRow, with: &ResumeWith) -> Result<(), Error> {
        // Jobs, chats and dispatched agents carry their own skill, which never changes.
        if with.old_revision || is_its_own_skill(run) {
            return Ok(());
        }
        let now = skip_unknown(self.inner.library.find(&run.skill).await)?;
        let now = now.map(|pinned| pinned.revision);
        if now.as_deref() == Some(run.revision.as_str()) {
            return Ok(());
        }
        let old = "`--revision old` resumes the skill as it was";
        let (why, hint) = match (now, failed_step(run)?) {
            (Some(_), Some(step)) => (
                "cannot be resumed: its skill has changed since",
                format!(
                    "`deft runs rerun {} --from {step}` runs the skill as it is now; {old}",
                    run.id
                ),
            ),
            (Some(_), None) => (
                "cannot be resumed: its skill has changed since",
                format!(
                    "`deft runs rerun {}` runs the skill as it is now; {old}",
                    run.id
                ),
            ),
            (None, _) => (
                "cannot be resumed: its skill is no longer loaded",
                old.to_owned(),
            ),
        };
        Err(refuse(run, why, Some(hint)))
    }

    /// Starts a new run with the inputs of an old one.
    pub async fn rerun(
        &self,
        run: &RunRow,
        with: &RerunWith,
        attention: Attention,
    ) -> Result<Admission, Error> {
        let inputs = run_inputs(run)?;
        let nonce = admit::nonce();
        let reused = match &with.from {
            None => Vec::new(),
            Some(step) => self.reusable(run, step, &nonce).await?,
        };
        // Jobs, chats and dispatched agents carry their own skill; others run in the current revision.
        let content = if is_its_own_skill(run) {
            let pinned = self
                .inner
                .library
                .find_pinned(&run.skill, &run.revision)
                .await?;
            Some(pinned.skill)
        } else {
            None
        };
        let fire = Fire {
            skill: run.skill.clone(),
            content,
            inputs,
            cause: Cause::Rerun,
            origin: with.origin.clone(),
            parent: Some(Parent {
                run: run.id.clone(),
                reused,
                nonce,
            }),
            ..Fire::default()
        };
        self.run(fire, attention).await
    }

    /// Returns the results of the steps before `from` in an earlier run, for a run with this nonce.
    async fn reusable(&self, run: &RunRow, from: &str, nonce: &str) -> Result<Vec<Event>, Error> {
        let plan = self.inner.library.find(&run.skill).await?.plan;
        if plan.step(from).is_none() {
            let steps = plan.steps().map(|step| step.id.as_str());
            return Err(Error::UnknownStep {
                skill: run.skill.clone(),
                step: from.to_owned(),
                near: nearest(from, steps).map(str::to_owned),
            });
        }
        let events = self.store().events(Some(&run.id), 0, u32::MAX).await?;
        let events = decode_events(&run.id, &events)?;
        let events: Vec<Event> = events.into_iter().map(|(_, event)| event).collect();
        Ok(deft_workflow::reuse(&plan, &events, from, nonce))
    }
}

/// Whether a run carries its own skill.
fn is_its_own_skill(run: &RunRow) -> bool {
    [CHAT_SKILL, DISPATCH_SKILL, JOB_SKILL].contains(&run.skill.as_str())
}

fn refuse(run: &RunRow, why: &str, hint: Option<String>) -> Error {
    Error::NotResumable {
        run: run.id.to_string(),
        why: why.to_owned(),
        hint,
    }
}

/// Returns the step of the run itself that failed, as `rerun --from` takes it.
fn failed_step(run: &RunRow) -> Result<Option<String>, Error> {
    let Some(text) = run.error.as_deref() else {
        return Ok(None);
    };
    let error: StepError = read_stored(text, || format!("the error of run `{}`", run.id))?;
    let step = error.step.as_deref();
    let step = step.and_then(|step| step.split(['/', '[']).next());
    Ok(step.map(str::to_owned))
}

/// The part of a run's error that names its step.
#[derive(Deserialize)]
struct StepError {
    step: Option<String>,
}

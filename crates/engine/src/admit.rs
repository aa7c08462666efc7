//! Admission: a fire becomes a run. The skill is found and pinned, its inputs are checked, and the run is
//! stored under its key. A caller that drives the run itself gets the lease in the same transaction.

use std::sync::Arc;

use deft_library::{PinnedSkill, encode};
use deft_model::{Object, Overlap, RunId};
use deft_store::{
    Admission as NewRun, AdmissionClaim, AdmissionResult, Batch, Lease, NewEvent, RunRow, RunState,
    SkillRow, Write,
};
use deft_workflow::{Event, Machine, RunPreparation, RunStart};
use jiff::Timestamp;
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use crate::drive::{DriveOutcome, Driver, RouterFacts};
use crate::engine::Inner;
use crate::event_json::{encode as encode_event, encode_all};
use crate::fire::{Admission, Fire};
use crate::question::{approval, question};
use crate::record::Journal;
use crate::secrets::{RunSecrets, taken_over};
use crate::transcript::has_notice;
use crate::{Attention, Engine, Error, finish};

/// Returns an existing run as the admission of a fire.
///
/// # Errors
///
/// [`Error::KeyTaken`] if the key belongs to a run of another skill.
fn admit_existing(fire: &Fire, run: RunRow) -> Result<Admission, Error> {
    if run.skill == fire.skill || fire.key.is_none() {
        return Ok(Admission::Existing(run));
    }
    Err(Error::KeyTaken {
        key: fire.key.clone().unwrap_or_default(),
        run: run.id.to_string(),
        skill: run.skill,
    })
}

/// A run that is about to be admitted.
struct Draft {
    id: RunId,
    nonce: String,
    pinned: PinnedSkill,
    machine: Machine,
    journal: Journal,
    secrets: Option<Arc<RunSecrets>>,
    then: RunState,
}

/// A run that is stored, and its next step.
pub enum AdmittedRun {
    /// It has ended at once, or existed already.
    NotLeased(Admission),
    /// The caller must drive it.
    Leased(Box<LeasedRun>),
    /// It waits for its turn.
    Queued(RunRow),
}

/// A run at its first step, with the right to drive it.
pub struct LeasedRun {
    draft: Draft,
    run: RunRow,
    lease: Lease,
    /// The row of its skill, if known.
    pub skill: Option<Arc<SkillRow>>,
    /// Its permit of the pool.
    pub permit: Option<OwnedSemaphorePermit>,
}

impl LeasedRun {
    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run.id
    }
}

/// Returns the error for a skill that has advanced past the slot of the fire.
fn stale(fire: &Fire) -> Error {
    Error::SlotAlreadyHandled {
        skill: fire.skill.clone(),
    }
}

impl Engine {
    /// Stores a run as queued, without driving it.
    pub async fn admit(&self, mut fire: Fire) -> Result<Admission, Error> {
        let pinned = self.inner.pin(&mut fire).await?;
        self.admit_pinned(fire, pinned).await
    }

    /// Like [`admit`](Self::admit), for a skill that is pinned already.
    pub async fn admit_pinned(&self, fire: Fire, pinned: PinnedSkill) -> Result<Admission, Error> {
        let inner = &self.inner;
        let inputs = inner.inputs(&pinned, &fire.inputs).await?;
        let id = new_run_id();
        let mut new = inner.new_run(&fire, &pinned, &inputs, id, None);
        new.aside = inner.prepared_event(&fire, &new_nonce(&fire));
        inner.keep(&pinned).await?;
        Ok(match inner.parts.store.admit(new).await? {
            AdmissionResult::New { run, cancelled, .. } => {
                inner.stop_replaced(&cancelled, &run.id).await?;
                inner.base.bells().runs.notify_waiters();
                Admission::Run(run)
            }
            AdmissionResult::Existing(run) => admit_existing(&fire, run)?,
            AdmissionResult::Stale => return Err(stale(&fire)),
        })
    }

    /// Stores a run and drives it here until it ends or waits for a person.
    pub async fn run(&self, fire: Fire, attention: Attention) -> Result<Admission, Error> {
        match self.begin(fire, &attention).await? {
            AdmittedRun::NotLeased(admission) => Ok(admission),
            AdmittedRun::Leased(begun) => self.drive_leased(begun, attention).await,
            AdmittedRun::Queued(run) => Box::pin(self.wait_and_drive(run, attention)).await,
        }
    }

    /// Stores a run and takes its lease, unless a limit or another run prevents that.
    pub async fn begin(&self, mut fire: Fire, attention: &Attention) -> Result<AdmittedRun, Error> {
        let pinned = self.inner.pin(&mut fire).await?;
        self.begin_pinned(fire, pinned, attention).await
    }

    /// Like [`begin`](Self::begin), for a skill that is pinned already.
    pub async fn begin_pinned(
        &self,
        fire: Fire,
        pinned: PinnedSkill,
        attention: &Attention,
    ) -> Result<AdmittedRun, Error> {
        let inner = &self.inner;
        inner.warm(&pinned);
        let inputs = inner.inputs(&pinned, &fire.inputs).await?;
        inner.learn_tools(&pinned).await;
        let draft = inner.draft(&fire, pinned, inputs.clone(), attention);
        let mut draft = draft.await;
        let (events, writes) = draft.journal.take();
        let batch = Batch {
            events: encode_all(&events),
            writes,
            then: std::mem::take(&mut draft.then),
        };
        let claim = inner.first_claim(batch);
        let mut new = inner.new_run(&fire, &draft.pinned, &inputs, draft.id.clone(), Some(claim));
        new.aside = inner.prepared_event(&fire, &draft.nonce);
        // The content first: a run must never exist without the skill it is pinned to.
        inner.keep(&draft.pinned).await?;
        let (run, lease) = match inner.parts.store.admit(new).await? {
            AdmissionResult::Existing(run) => {
                return admit_existing(&fire, run).map(AdmittedRun::NotLeased);
            }
            AdmissionResult::Stale => return Err(stale(&fire)),
            AdmissionResult::New {
                run,
                lease,
                first_seq,
                cancelled,
            } => {
                inner.stop_replaced(&cancelled, &run.id).await?;
                if let (Some(_), Some(first_seq)) = (&lease, first_seq) {
                    draft.journal.keep(&events, has_notice(&fire.writes));
                    inner.publish_all(&run.id, &run.skill, first_seq, events);
                }
                attention.note(&run.id);
                (run, lease)
            }
        };
        Ok(match lease {
            Some(lease) => AdmittedRun::Leased(Box::new(LeasedRun {
                draft,
                run,
                lease,
                skill: None,
                permit: None,
            })),
            None => AdmittedRun::Queued(run),
        })
    }

    /// Drives a run from its first step.
    pub async fn drive_leased(
        &self,
        begun: Box<LeasedRun>,
        attention: Attention,
    ) -> Result<Admission, Error> {
        let inner = &self.inner;
        let LeasedRun {
            mut draft,
            run,
            lease,
            skill,
            permit,
        } = *begun;
        let id = run.id.clone();
        if let (Some(finished), false) = (draft.machine.end(), draft.pinned.has_row()) {
            inner.log_session(&run, finished, inner.now());
        } else {
            let secrets = draft
                .secrets
                .unwrap_or_else(|| Arc::new(RunSecrets::none()));
            let begun = draft.machine.take_asks();
            let deadline = inner.deadline(&draft.pinned, inner.now());
            let tools_deadline = inner.tools_deadline(&draft.pinned, &run);
            let driven = Driver::new(inner, run, lease, draft.machine, secrets, attention)
                .with_deadline(deadline)
                .with_tools_deadline(tools_deadline)
                .with_skill_row(skill)
                .with_permit(permit)
                .drive(begun)
                .await?;
            if let DriveOutcome::Finished(row) = driven {
                return Ok(Admission::Run(*row));
            }
        }
        self.finished_row(&id).await
    }

    /// Waits until a limit or an earlier run allows this run to start, and drives it.
    async fn wait_and_drive(&self, run: RunRow, attention: Attention) -> Result<Admission, Error> {
        let id = run.id.clone();
        if run.status == deft_model::RunStatus::Done {
            return Ok(Admission::Run(run));
        }
        self.drive_when_due(&id, attention).await?;
        self.finished_row(&id).await
    }

    pub(crate) async fn finished_row(&self, id: &RunId) -> Result<Admission, Error> {
        let row = self.store().run(id).await?;
        let row = row.ok_or_else(|| Error::UnknownRun { id: id.to_string() })?;
        Ok(Admission::Run(row))
    }
}

impl Inner {
    /// Pins the skill of a fire, and sets its id in the fire, because a person may have written its name.
    pub(crate) async fn pin(&self, fire: &mut Fire) -> Result<PinnedSkill, Error> {
        Ok(match &fire.content {
            Some(skill) => self.library.ad_hoc(skill)?,
            None => {
                let pinned = self.library.find(&fire.skill).await?;
                fire.skill = pinned.skill.id.to_string();
                pinned
            }
        })
    }

    fn warm(&self, pinned: &PinnedSkill) {
        if pinned.plan.has_compute() {
            self.parts.compute.warm();
        }
    }

    /// Decides the first events of a run before it is stored, so that they can be stored with it.
    ///
    /// If a host resumes parked runs, the run waits for missing tools; otherwise a missing tool ends it.
    async fn draft(
        &self,
        fire: &Fire,
        pinned: PinnedSkill,
        inputs: Object,
        watch: &Attention,
    ) -> Draft {
        let nonce = new_nonce(fire);
        let mut names = pinned.plan.secrets().to_vec();
        if let Some(parent) = &fire.parent {
            names.extend(taken_over(&parent.reused, &nonce));
        }
        let secrets = RunSecrets::resolve(&names, &nonce, &self.parts.secrets).await;
        let now = self.now();
        let id = new_run_id();
        let started = RunStart {
            skill: pinned.skill.id.to_string(),
            revision: pinned.revision.clone(),
            execution_id: id.to_string(),
            workspace_uri: self.workspace(fire),
            inputs,
            nonce: nonce.clone(),
            check_failed: fire.check_failed.clone(),
            authority: fire.authority.clone(),
            origin: fire.origin.clone(),
        };
        let mut machine = Machine::new(Arc::clone(&pinned.plan), self.rules());
        let mut journal = Journal::kept_in(watch.transcript.clone());
        let mut events = vec![machine.start(started)];
        let parent = fire.parent.iter();
        events.extend(parent.flat_map(|parent| parent.reused.clone()));
        let missing = if watch.parks {
            None
        } else {
            self.missing_tool(&pinned)
        };
        let secrets = match (secrets, missing) {
            (Ok(secrets), None) => Some(Arc::new(secrets)),
            (Err(failure), _) | (Ok(_), Some(failure)) => {
                events.push(Event::Stopped { failure });
                None
            }
        };
        for event in events {
            // A fresh machine accepts its own start, and reused steps of the same revision.
            if machine.apply(now, &event).is_ok() {
                journal.push(now, event);
            }
        }
        let decided = machine.advance(now, &RouterFacts(self));
        journal.extend(now, decided);
        let asked = machine.asks_in_flight();
        let asked = asked.iter().filter_map(|action| question(&id, 0, action));
        journal.write(asked.map(|question| Write::Ask(approval(&question, now))));
        let then = match machine.end() {
            // The driver decides the effects of the end on a stored skill.
            Some(finished) if !pinned.has_row() => RunState::Finish(finish::row(finished, now)),
            Some(_) | None => RunState::Continue,
        };
        Draft {
            id,
            nonce,
            pinned,
            machine,
            journal,
            secrets,
            then,
        }
    }

    fn workspace(&self, fire: &Fire) -> String {
        let given = fire.workspace_uri.as_ref();
        given.unwrap_or(&self.options.workspace_uri).clone()
    }

    /// Returns the event with facts that the driver needs and the row lacks, if any.
    fn prepared_event(&self, fire: &Fire, nonce: &str) -> Vec<NewEvent> {
        let reused = fire.parent.as_ref().map(|parent| parent.reused.clone());
        let reused = reused.unwrap_or_default();
        let has_context = fire.workspace_uri.is_some()
            || fire.check_failed.is_some()
            || fire.authority.is_some()
            || !fire.origin.is_unknown();
        if reused.is_empty() && !has_context {
            return Vec::new();
        }
        let prepared = Event::Prepared(RunPreparation {
            workspace_uri: self.workspace(fire),
            nonce: nonce.to_owned(),
            reused,
            check_failed: fire.check_failed.clone(),
            authority: fire.authority.clone(),
            origin: fire.origin.clone(),
        });
        vec![encode_event(self.now(), &prepared)]
    }

    fn first_claim(&self, batch: Batch) -> AdmissionClaim {
        AdmissionClaim {
            owner: self.owner.name().to_owned(),
            until: self.lease_until(),
            global_limit: self.options.max_running,
            batch,
        }
    }

    fn new_run(
        &self,
        fire: &Fire,
        pinned: &PinnedSkill,
        inputs: &Object,
        run: RunId,
        claim: Option<AdmissionClaim>,
    ) -> NewRun {
        let policy = &pinned.skill.policy;
        // Runs of slots skip each other; a run that a person or a program requests always runs (product.md,
        // Time).
        let usual = match fire.slot {
            Some(_) => Overlap::Skip,
            None => Overlap::Allow,
        };
        let overlap = fire.overlap.or(policy.overlap).unwrap_or(usual);
        let at = self.now();
        NewRun {
            skill: pinned.skill.id.to_string(),
            revision: pinned.revision.clone(),
            tier: crate::agent::tier(&pinned.skill),
            agent_id: policy.agent_id.clone(),
            cause: fire.cause.clone(),
            slot: fire.slot,
            step: fire.step.clone(),
            key: fire.key.clone(),
            parent: fire.parent.as_ref().map(|parent| parent.run.clone()),
            inputs: serde_json::Value::Object(inputs.clone()).to_string(),
            at,
            overlap,
            skill_limit: policy.concurrency,
            claim,
            aside: Vec::new(),
            writes: fire.writes.clone(),
            closing: match overlap {
                Overlap::CancelOther => finish::closing_events(&format!("run `{run}`"), None, at)
                    .iter()
                    .map(|event| encode_event(at, event))
                    .collect(),
                Overlap::Skip | Overlap::Queue | Overlap::Allow => Vec::new(),
            },
            run,
        }
    }

    /// Stops runs that another one replaces: drivers in this process are cancelled, and listeners get the
    /// end of runs without a driver.
    async fn stop_replaced(&self, others: &[RunId], by: &RunId) -> Result<(), Error> {
        for other in others {
            // The driver of a run publishes its end.
            if !self.stop(other, &format!("run {by}, which replaces it")) {
                self.publish_end(other).await?;
            }
        }
        Ok(())
    }

    /// Stores the content of a revision, unless this process has stored it before.
    pub(crate) async fn keep(&self, pinned: &PinnedSkill) -> Result<(), Error> {
        if self.is_kept(&pinned.revision) {
            return Ok(());
        }
        let content = encode(&pinned.skill)?;
        let store = &self.parts.store;
        store.keep_revision(&pinned.revision, &content).await?;
        self.note_kept(&pinned.revision);
        Ok(())
    }

    pub(crate) fn deadline(&self, pinned: &PinnedSkill, started: Timestamp) -> Option<Timestamp> {
        let limit = pinned.skill.policy.timeout.or(self.options.run_timeout)?;
        started.saturating_add(limit).ok()
    }
}

/// Returns the nonce of a new run. Reused steps have their placeholders under the nonce of the parent
/// already.
fn new_nonce(fire: &Fire) -> String {
    let given = fire.parent.as_ref().map(|parent| parent.nonce.clone());
    given.unwrap_or_else(nonce)
}

pub(crate) fn nonce() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Returns a new run id.
pub fn new_run_id() -> RunId {
    RunId::new(format!("run_{}", Uuid::now_v7().simple()))
}

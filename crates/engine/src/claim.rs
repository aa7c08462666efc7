//! Claiming of due runs: takes the lease of a run and drives it from its journal.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use deft_base::run_inputs;
use deft_model::{Failure, FailureClass, RunId, RunOrigin, RunStatus};
use deft_store::{CancelState, Claim, ClaimedRun, RunRow};
use deft_workflow::{
    Ask, Call, Divergence, Event, Machine, Next, Path, Plan, RunPreparation, RunStart,
};
use jiff::Timestamp;

use crate::drive::{DriveOutcome, Driver};
use crate::engine::Inner;
use crate::event_json::{decode_events, encode};
use crate::secrets::{RunSecrets, taken_over};
use crate::{Attention, Engine, Error, admit, finish};

/// How often the store is checked for changes while a run waits for its turn.
const TURN_POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Engine {
    /// Claims and drives due runs, one after another, until none is due.
    pub async fn drain(&self, attention: &Attention) -> Result<Vec<RunId>, Error> {
        let mut driven = Vec::new();
        while let Some(claimed) = self.claim(None).await? {
            driven.push(claimed.run.id.clone());
            self.drive_claimed(claimed, attention.clone()).await?;
        }
        Ok(driven)
    }

    /// Claims a due run; `None` if none is due.
    pub async fn claim_due(&self) -> Result<Option<ClaimedRun>, Error> {
        self.claim(None).await
    }

    pub(crate) async fn claim(&self, only: Option<RunId>) -> Result<Option<ClaimedRun>, Error> {
        let inner = &self.inner;
        inner.give_back_all().await;
        let claim = Claim {
            owner: inner.owner.name().to_owned(),
            now: inner.now(),
            until: inner.lease_until(),
            global_limit: inner.options.max_running,
            only,
        };
        Ok(inner.parts.store.claim(claim).await?)
    }

    /// Ends a run whose driver process has exited. If the run can be claimed, its interrupted calls are resolved
    /// first.
    pub(crate) async fn close_orphan(&self, run: &RunId, by: &str) -> Result<CancelState, Error> {
        if let Some(claimed) = self.claim(Some(run.clone())).await? {
            self.drive_claimed(claimed, Attention::default()).await?;
            let row = self.store().run(run).await?;
            return Ok(row.map_or(CancelState::Unknown, CancelState::Done));
        }
        self.inner.close(run, by).await
    }

    /// Drives one run as soon as it is due, or waits until another process has ended it.
    pub(crate) async fn drive_when_due(
        &self,
        run: &RunId,
        attention: Attention,
    ) -> Result<(), Error> {
        loop {
            let bell = self.inner.base.bells().runs.notified();
            let version = self.store().version().await?;
            if let Some(claimed) = self.claim(Some(run.clone())).await? {
                self.drive_claimed(claimed, attention).await?;
                return Ok(());
            }
            let over = |row: RunRow| matches!(row.status, RunStatus::Done | RunStatus::Waiting);
            if self.store().run(run).await?.is_none_or(over) {
                return Ok(());
            }
            tokio::select! {
                () = bell => {}
                changed = self.wait_for_change(version) => changed?,
            }
        }
    }

    /// Waits until the store has another version. Reading the version needs no transaction, but a claim locks
    /// the database.
    async fn wait_for_change(&self, version: u64) -> Result<(), Error> {
        loop {
            let later = self.inner.now().saturating_add(TURN_POLL_INTERVAL);
            let later = later.unwrap_or(Timestamp::MAX);
            self.inner.parts.clock.sleep_until(later).await;
            if self.store().version().await? != version {
                return Ok(());
            }
        }
    }

    /// Drives a run from its journal, until it ends or waits.
    pub async fn drive_claimed(
        &self,
        claimed: ClaimedRun,
        attention: Attention,
    ) -> Result<DriveOutcome, Error> {
        let (lease, skill) = (claimed.lease.clone(), claimed.run.skill.clone());
        match self.load_driver(claimed, attention).await {
            Ok((driver, begun)) => driver.drive(begun).await,
            Err(error) => self.inner.handle_driver_error(&skill, &lease, error).await,
        }
    }

    /// Returns a driver for a run, and the actions that an earlier driver began.
    async fn load_driver(
        &self,
        claimed: ClaimedRun,
        attention: Attention,
    ) -> Result<(Driver, Vec<Ask>), Error> {
        let inner = &self.inner;
        let pinned = inner
            .library
            .find_pinned(&claimed.run.skill, &claimed.run.revision)
            .await?;
        if claimed.run.cancel_by.is_none() {
            inner.learn_tools(&pinned).await;
        }
        let events = decode_events(&claimed.run.id, &claimed.events)?;
        let nested = inner.nested_plans(&claimed.run.skill, &events).await?;
        let mut names = pinned.plan.secrets().to_vec();
        names.extend(nested.values().flat_map(|plan| plan.secrets().to_vec()));
        let mut replayed = ReplayedRun {
            machine: Machine::replay(
                Arc::clone(&pinned.plan),
                inner.rules(),
                nested,
                events.iter().map(|(at, event)| (*at, event)),
            )
            .map_err(|diverged| replay_error(&claimed.run.id, &diverged))?,
            at: inner.now(),
            added: Vec::new(),
        };
        let nonce = inner.begin_if_new(&mut replayed, &claimed, &events)?;
        let interrupted_at = interrupted_at(&claimed, &events);
        if let Some(interrupted_at) = interrupted_at {
            replayed.add(&claimed.run.id, Event::Recovered { interrupted_at })?;
        }
        let all = events.iter().map(|(_, event)| event);
        names.extend(taken_over(all.chain(&replayed.added), &nonce));
        let secrets = RunSecrets::resolve(&names, &nonce, &inner.parts.secrets);
        let secrets = match secrets {
            Ok(secrets) => Arc::new(secrets),
            Err(failure) => {
                replayed.add(&claimed.run.id, Event::Stopped { failure })?;
                Arc::new(RunSecrets::none())
            }
        };
        if let Some(by) = &claimed.run.cancel_by {
            let failure = Failure::new(FailureClass::Cancelled, format!("stopped by {by}"));
            replayed.add(&claimed.run.id, Event::Stopped { failure })?;
        }
        let agents = Box::pin(inner.agents.replay(&claimed.run, &events)).await?;
        inner.learn_offers(&agents).await;
        let begun = replayed.cut_off(&blocked_waits(&events));
        let ReplayedRun { machine, at, added } = replayed;
        let tools_deadline = inner.tools_deadline(&pinned, &claimed.run);
        let deadline = inner.deadline(&pinned, clock_start(&events).unwrap_or(at));
        let mut driver = Driver::new(
            inner,
            claimed.run,
            claimed.lease,
            machine,
            secrets,
            attention,
        )
        .with_deadline(deadline)
        .with_agents(agents)
        .with_tools_deadline(tools_deadline)
        .with_recovery(interrupted_at.is_some());
        tracing::debug!(run = %driver.run(), "driving");
        driver.record_applied(at, added);
        Ok((driver, begun))
    }
}

/// A run whose journal is replayed, and the events that are added to it before it is driven.
struct ReplayedRun {
    machine: Machine,
    /// The time of the added events.
    at: Timestamp,
    added: Vec<Event>,
}

impl ReplayedRun {
    fn add(&mut self, run: &RunId, event: Event) -> Result<(), Error> {
        let applied = self.machine.apply(self.at, &event);
        applied.map_err(|diverged| replay_error(run, &diverged))?;
        self.added.push(event);
        Ok(())
    }

    /// Adds an event that the machine made itself. If it rejects the event, nothing is added.
    fn add_own(&mut self, event: Event) {
        if self.machine.apply(self.at, &event).is_ok() {
            self.added.push(event);
        }
    }

    /// Resolves work that an earlier driver started: calls end as interrupted; waits, questions and agents
    /// are returned to be continued.
    fn cut_off(&mut self, blocked: &HashSet<Path>) -> Vec<Ask> {
        let mut again = Vec::new();
        for action in self.machine.asks_in_flight() {
            match action {
                // The machine of the agent knows which of its requests were in flight.
                Ask::Call { ref call, .. } if matches!(**call, Call::Agent { .. }) => {
                    again.push(action);
                }
                Ask::Call { path, attempt, .. } => {
                    let event = self.machine.interruption_event(&path, attempt, self.at);
                    self.add_own(event);
                }
                // A run that waits for a tool is claimed when the tool may be back.
                Ask::Sleep { path, .. } if blocked.contains(&path) => {
                    self.add_own(Event::Woken { path });
                }
                // Heal rules are made to be repeated; sleeps and questions have no effects.
                Ask::Heal { .. } | Ask::Sleep { .. } | Ask::Question { .. } => again.push(action),
            }
        }
        again
    }
}

fn replay_error(run: &RunId, diverged: &Divergence) -> Error {
    Error::Replay {
        run: run.to_string(),
        why: diverged.to_string(),
    }
}

/// Returns the time of the last event of a driver that disappeared. `None` for a run that had not started,
/// was waiting, or was resumed by a person.
fn interrupted_at(claimed: &ClaimedRun, events: &[(Timestamp, Event)]) -> Option<Timestamp> {
    let begun = events
        .iter()
        .any(|(_, event)| matches!(event, Event::Started(_)));
    let (at, last) = events.last().filter(|_| begun && !claimed.waited)?;
    (!matches!(last, Event::Resumed { .. })).then_some(*at)
}

/// Returns when the time limit of a run started to count: waiting for a person is excluded.
fn clock_start(events: &[(Timestamp, Event)]) -> Option<Timestamp> {
    let starts = |event: &Event| {
        matches!(
            event,
            Event::Started(_) | Event::Resumed { .. } | Event::Answered { .. }
        )
    };
    let mut newest = events.iter().rev();
    newest.find_map(|(at, event)| {
        // So is the time of a `wait:` step.
        if let Event::Begun(begun) = event
            && let Some(until) = begun.call.waits_until()
        {
            return Some(until.max(*at));
        }
        starts(event).then_some(*at)
    })
}

/// Returns the steps that wait for something that was missing.
fn blocked_waits(events: &[(Timestamp, Event)]) -> HashSet<Path> {
    let mut waiting = HashSet::new();
    for (_, event) in events {
        if let Event::Ended(ended) = event
            && matches!(ended.next, Next::Postponed { .. })
        {
            waiting.insert(ended.path.clone());
        } else if let Event::Woken { path } = event {
            waiting.remove(path);
        }
    }
    waiting
}

impl Inner {
    /// Requests a run to stop. A run without a driver ends at once, and listeners get its end.
    pub(crate) async fn close(&self, run: &RunId, by: &str) -> Result<CancelState, Error> {
        let store = &self.parts.store;
        let Some(row) = store.run(run).await? else {
            return Ok(CancelState::Unknown);
        };
        let now = self.now();
        let first = row.cancel_by.as_deref().unwrap_or(by);
        let closing = finish::closing_events(first, row.started_at, now);
        let closing = closing.iter().map(|event| encode(now, event)).collect();
        let state = store.cancel_with(run, by, now, closing).await?;
        if matches!(state, CancelState::Done(_)) {
            self.publish_end(run).await?;
        }
        Ok(state)
    }

    /// Returns the plans of the skills that a run has entered, by revision.
    pub(crate) async fn nested_plans(
        &self,
        skill: &str,
        events: &[(Timestamp, Event)],
    ) -> Result<HashMap<String, Arc<Plan>>, Error> {
        let mut nested = HashMap::new();
        for (_, event) in events {
            if let Event::Entered { revision, .. } = event
                && !nested.contains_key(revision)
            {
                let pinned = self.library.find_pinned(skill, revision).await?;
                nested.insert(revision.clone(), pinned.plan);
            }
        }
        Ok(nested)
    }

    /// Starts a run that was only admitted so far. Returns the nonce of its secrets.
    fn begin_if_new(
        &self,
        replayed: &mut ReplayedRun,
        claimed: &ClaimedRun,
        events: &[(Timestamp, Event)],
    ) -> Result<String, Error> {
        let mut prepared = None;
        for (_, event) in events {
            if let Event::Started(started) = event {
                return Ok(started.nonce.clone());
            }
            if let Event::Prepared(found) = event {
                prepared = Some(found.clone());
            }
        }
        let prepared = prepared.unwrap_or_else(|| RunPreparation {
            workspace_uri: self.options.workspace_uri.clone(),
            nonce: admit::nonce(),
            reused: Vec::new(),
            check_failed: None,
            authority: None,
            origin: RunOrigin::default(),
        });
        let started = Event::Started(RunStart {
            skill: claimed.run.skill.clone(),
            revision: claimed.run.revision.clone(),
            execution_id: claimed.run.id.to_string(),
            workspace_uri: prepared.workspace_uri,
            inputs: run_inputs(&claimed.run)?,
            nonce: prepared.nonce.clone(),
            check_failed: prepared.check_failed,
            authority: prepared.authority,
            origin: prepared.origin,
        });
        for event in std::iter::once(started).chain(prepared.reused) {
            // A fresh machine accepts its own start, and reused steps of the same revision.
            replayed.add_own(event);
        }
        Ok(prepared.nonce)
    }
}

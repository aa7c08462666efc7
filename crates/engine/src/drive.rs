//! The driver of a run: decisions of the interpreter are stored, then performed, until the run ends or waits.

mod agent_step;
mod results;
mod stop;
mod wait;

use std::collections::HashMap;
use std::sync::Arc;

use deft_model::{Authority, Effects, ExhaustedAction, Failure, Object, RunId, WaitKind};
use deft_store::{Finish, Lease, RunRow, RunState, SkillRow, WaitReason, Write};
use deft_workflow::{Ask, Call, Event, Facts, Machine, Path, Permit};
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::ask;
use crate::attention::Attention;
use crate::engine::{Inner, Stop};
use crate::finish::EndedRun;
use crate::perform::{ActionResult, Performer, Request};
use crate::question::{Question, approval, question};
use crate::record::Journal;
use crate::secrets::RunSecrets;
use crate::{Error, finish};

pub(crate) use agent_step::StepAgent;

/// The result of driving a run.
#[derive(Clone, Debug, PartialEq)]
pub enum DriveOutcome {
    /// It has ended; contains the stored row.
    Finished(Box<RunRow>),
    /// It waits, and no process holds its lease.
    Parked,
    /// Its driver failed; it has ended as interrupted, with the reason.
    GivenUp,
}

/// Why the loop of the driver ended.
enum DriverLoopEnd {
    /// With a summary of the model costs.
    Ended(Finish, Option<String>),
    Parked,
}

/// A run with the right to drive it.
pub(crate) struct Driver {
    engine: Arc<Inner>,
    run: RunRow,
    lease: Lease,
    machine: Machine,
    journal: Journal,
    performer: Performer,
    attention: Attention,
    stop: Stop,
    /// Cancels each action in flight.
    cancel_tokens: HashMap<Path, CancellationToken>,
    tasks: FuturesUnordered<BoxFuture<'static, ActionResult>>,
    /// Agents by step, and their requests to perform next.
    agents: HashMap<Path, StepAgent>,
    agent_requests: Vec<(Path, deft_agent::Request)>,
    /// Whether the step of an agent has ended, so that the interpreter must advance.
    agent_ended: bool,
    /// The reaction of the skill to a spent budget, once one is spent.
    exhausted: Option<ExhaustedAction>,
    /// An agent's step that cannot be paid for or has no work, if the run has done nothing before it.
    over_budget_step: Option<Path>,
    /// Calls and sleeps in flight; `unanswered` are questions that no one in this process can answer.
    calling: usize,
    sleeping: Vec<Timestamp>,
    /// The part of `sleeping` that `wait:` steps asked for.
    waits: Vec<Timestamp>,
    unanswered: Vec<Question>,
    /// When the time limit of the run is reached.
    deadline: Option<Timestamp>,
    /// Until when the run waits for a missing tool, and the failure that names it.
    tools_deadline: Option<Timestamp>,
    blocked_by: Option<Failure>,
    /// The row of the skill when the run started, if known.
    skill: Option<Arc<SkillRow>>,
    /// The permit of the pool, held while the run does work.
    permit: Option<OwnedSemaphorePermit>,
    /// Whether an earlier driver of the run disappeared.
    is_recovered: bool,
}

/// Facts for the interpreter, from the router and from the rights of agents.
pub(crate) struct RouterFacts<'a>(pub(crate) &'a Inner);

impl Facts for RouterFacts<'_> {
    fn effects(&self, tool: &str, args: &Object) -> Option<Effects> {
        self.0.parts.router.effects_of(tool, args)
    }

    fn permit(&self, authority: &Authority, tool: &str, args: Option<&Object>) -> Permit {
        self.0.agents.permit(authority, tool, args)
    }
}

impl Driver {
    pub(crate) fn new(
        engine: &Arc<Inner>,
        run: RunRow,
        lease: Lease,
        machine: Machine,
        secrets: Arc<RunSecrets>,
        attention: Attention,
    ) -> Self {
        let stop = engine.register(&run.id, &attention);
        let performer = Performer::new(engine, &run, &machine, secrets);
        Self {
            engine: Arc::clone(engine),
            deadline: None,
            tools_deadline: None,
            blocked_by: None,
            skill: None,
            permit: None,
            is_recovered: false,
            run,
            lease,
            machine,
            journal: Journal::kept_in(attention.transcript.clone()),
            performer,
            attention,
            stop,
            cancel_tokens: HashMap::new(),
            tasks: FuturesUnordered::new(),
            agents: HashMap::new(),
            agent_requests: Vec::new(),
            agent_ended: false,
            exhausted: None,
            over_budget_step: None,
            calling: 0,
            sleeping: Vec::new(),
            waits: Vec::new(),
            unanswered: Vec::new(),
        }
    }

    /// The run.
    pub(crate) fn run(&self) -> &RunId {
        &self.run.id
    }

    /// Sets when the time limit of the run is reached.
    pub(crate) fn with_deadline(mut self, deadline: Option<Timestamp>) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how long the run waits for missing tools instead of ending.
    pub(crate) fn with_tools_deadline(mut self, until: Option<Timestamp>) -> Self {
        self.tools_deadline = until.filter(|_| self.attention.parks);
        self
    }

    /// Sets whether an earlier driver of the run disappeared.
    pub(crate) fn with_recovery(mut self, is_recovered: bool) -> Self {
        self.is_recovered = is_recovered;
        self
    }

    /// Sets the row of the skill, so that the end of the run need not read it.
    pub(crate) fn with_skill_row(mut self, skill: Option<Arc<SkillRow>>) -> Self {
        self.skill = skill;
        self
    }

    /// Sets the permit that the run holds.
    pub(crate) fn with_permit(mut self, permit: Option<OwnedSemaphorePermit>) -> Self {
        self.permit = permit;
        self
    }

    /// Adds events that are applied already, to be stored with the next batch.
    pub(crate) fn record_applied(&mut self, at: Timestamp, events: Vec<Event>) {
        self.journal.extend(at, events);
    }

    /// Drives the run to its end, or to a wait that is long enough to park it.
    ///
    /// `begun` are actions whose intent is stored already.
    pub(crate) async fn drive(mut self, begun: Vec<Ask>) -> Result<DriveOutcome, Error> {
        if self.machine.has_authority() {
            self.engine.agents.read_grants_again().await;
        }
        let result = self.run_loop(begun).await;
        // The driver stops here, so calls in flight are cancelled.
        self.performer.halt.cancel();
        self.engine.unregister(&self.run.id);
        match result {
            Ok(DriverLoopEnd::Ended(finish, usage)) => {
                let row = finish::ended_row(self.run, finish, usage);
                Ok(DriveOutcome::Finished(Box::new(row)))
            }
            Ok(DriverLoopEnd::Parked) => Ok(DriveOutcome::Parked),
            Err(error) => {
                let (engine, skill) = (&self.engine, &self.run.skill);
                engine.handle_driver_error(skill, &self.lease, error).await
            }
        }
    }

    async fn run_loop(&mut self, mut actions: Vec<Ask>) -> Result<DriverLoopEnd, Error> {
        if self.is_recovered {
            // Before the first turn, which would store the open question of an agent a second time.
            self.commit(RunState::Continue).await?;
        }
        loop {
            let now = self.engine.now();
            let facts = RouterFacts(&self.engine);
            let decided = self.machine.advance(now, &facts);
            self.journal.extend(now, decided);
            let fresh = self.machine.take_asks();
            if let Some(finished) = self.machine.end() {
                let ending = EndedRun {
                    run: &self.run,
                    lease: &self.lease,
                    finished,
                    recovery: self.machine.recovery(),
                    notified: finish::has_notified(
                        &self.machine,
                        self.engine.options.channel_tool.as_deref(),
                    ),
                    exhausted: self.exhausted,
                    skill: self.skill.as_ref(),
                    at: now,
                };
                // Only the end is left to store. The next run that gets the permit is stored after it, in the
                // same commit when many runs end at once.
                self.permit = None;
                let (stored, usage) = self.engine.commit_end(&ending, &mut self.journal).await?;
                self.engine.log_session(&self.run, finished, now);
                return Ok(DriverLoopEnd::Ended(stored, usage));
            }
            self.note_questions(now, &fresh);
            if self.must_be_stored(&fresh) {
                self.commit(RunState::Continue).await?;
            }
            actions.extend(fresh);
            // A request to stop may have come while the batch was stored.
            if let Some(failure) = self.must_stop() {
                self.halt(failure);
                self.refuse(std::mem::take(&mut actions));
                self.end_stopping_agents();
                continue;
            }
            if self.expire() {
                let stopping = |action: &mut Ask| self.machine.is_stopping(path(action));
                let cut_off = actions.extract_if(.., stopping).collect();
                self.refuse(cut_off);
                self.end_stopping_agents();
                continue;
            }
            for action in actions.drain(..) {
                self.perform(action);
            }
            // A resumed agent may have an event to record first, or may have finished.
            let unstored = !self.journal.is_empty() && self.must_be_stored(&[]);
            if std::mem::take(&mut self.agent_ended) || unstored {
                continue;
            }
            for (path, request) in std::mem::take(&mut self.agent_requests) {
                self.perform_request(path, request);
            }
            if let Some(then) = self.parked_state(now) {
                self.notify_about_wait(now).await;
                self.commit(then).await?;
                return Ok(DriverLoopEnd::Parked);
            }
            self.wait().await?;
        }
    }

    /// Adds the questions of actions to the batch of the events that ask them.
    fn note_questions(&mut self, now: Timestamp, actions: &[Ask]) {
        let questions = actions.iter().filter_map(|action| self.question(action));
        let asked: Vec<Write> = questions
            .map(|question| Write::Ask(approval(&question, now)))
            .collect();
        self.journal.write(asked);
        self.note_agent_questions(now);
    }

    fn must_be_stored(&self, actions: &[Ask]) -> bool {
        let mut agent_requests = self.agent_requests.iter();
        actions.iter().any(must_be_stored)
            || agent_requests.any(|(_, request)| agent_step::must_be_stored(request))
    }

    fn question(&self, action: &Ask) -> Option<Question> {
        question(&self.run.id, self.run.finish_ordinal, action)
    }

    async fn commit(&mut self, then: RunState) -> Result<(), Error> {
        let appended = self
            .engine
            .commit(&self.lease, &self.run.skill, &mut self.journal, then)
            .await?;
        if let Some(by) = appended.cancel_by {
            self.stop.ask(&by);
        }
        Ok(())
    }

    fn perform(&mut self, action: Ask) {
        let mut performer = self.performer.clone();
        performer.halt = self.performer.halt.child_token();
        let halt = performer.halt.clone();
        self.cancel_tokens.insert(path(&action).clone(), halt);
        if let Ask::Call {
            path,
            attempt,
            call,
            timeout,
            ..
        } = &action
            && let Call::Agent { instructions } = &**call
        {
            return self.begin_agent(path.clone(), *attempt, instructions.clone(), *timeout);
        }
        let task = match action {
            Ask::Call {
                path,
                attempt,
                call,
                key,
                timeout,
                cache,
                ..
            } => {
                self.calling += 1;
                let request = Request {
                    code: self.machine.code(&path),
                    by_model: self.machine.is_of_record(&path),
                    authority: self.machine.authority(&path).map(Arc::new),
                    agreed: self.machine.is_agreed(&path),
                    path,
                    attempt,
                    call,
                    key,
                    timeout,
                    cache,
                };
                performer.call(request).boxed()
            }
            Ask::Heal { path, heal, key } => {
                self.calling += 1;
                let authority = self.machine.authority(&path);
                performer.heal(path, heal, key, authority).boxed()
            }
            Ask::Sleep { path, until } => {
                self.sleeping.push(until);
                if self.machine.waits_until(&path).is_some() {
                    self.begin_wait(until);
                }
                performer.sleep(path, until).boxed()
            }
            Ask::Question { .. } => match self.question(&action) {
                Some(question) => self.ask(question),
                None => return,
            },
        };
        self.tasks.push(task);
    }

    /// Looks for an answer: a stored one, a grant, `--yes`, or the person at the terminal.
    fn ask(&mut self, question: Question) -> BoxFuture<'static, ActionResult> {
        self.calling += 1;
        let engine = Arc::clone(&self.engine);
        let attention = self.attention.clone();
        let (skill, revision) = (self.run.skill.clone(), self.run.revision.clone());
        async move {
            let answer = ask::find_answer(&engine, &attention, &skill, &revision, &question).await;
            ActionResult::Answered { question, answer }
        }
        .boxed()
    }

    /// Returns the parked state if the run has nothing left to do but wait.
    fn parked_state(&self, now: Timestamp) -> Option<RunState> {
        if self.calling > 0 || self.machine.stop_reason().is_some() {
            return None;
        }
        let first = self.sleeping.iter().min().copied();
        let soon = now.saturating_add(self.engine.options.park_after).ok();
        let long = |until: &Timestamp| soon.is_some_and(|soon| *until > soon);
        let answer = |question: &Question| {
            let text = format!("approval: {}", question.message);
            (WaitKind::Answer, text)
        };
        let (kind, text) = match (self.unanswered.first(), &first) {
            (None, Some(_)) if self.blocked_by.is_some() => {
                let what = self.blocked_by.as_ref().map(|failure| &failure.message);
                let text = format!("tool: {}", what.map_or("", String::as_str));
                (WaitKind::Tool, text)
            }
            (Some(question), None) => answer(question),
            (Some(question), Some(until)) if self.attention.parks && long(until) => {
                answer(question)
            }
            (None, Some(until))
                if self.waits.contains(until) && self.is_worth_parking(now, *until) =>
            {
                (WaitKind::Time, format!("a wait until {until}"))
            }
            (None, Some(until)) if self.attention.parks && long(until) => {
                (WaitKind::Retry, format!("a retry at {until}"))
            }
            _ => return None,
        };
        Some(RunState::Park {
            wake_at: first.into_iter().chain(self.machine.next_deadline()).min(),
            waiting_for: WaitReason { kind, text },
        })
    }

    /// Waits until an action is done, and records all results that are ready.
    async fn wait(&mut self) -> Result<(), Error> {
        let first = match self.tasks.next().now_or_never() {
            Some(Some(done)) => Some(done),
            _ => {
                // Nothing is ready: store and publish progress before waiting.
                if !self.journal.is_empty() {
                    self.commit(RunState::Continue).await?;
                }
                self.next().await
            }
        };
        if let Some(done) = first {
            self.record_result(done);
        }
        while let Some(Some(done)) = self.tasks.next().now_or_never() {
            self.record_result(done);
        }
        Ok(())
    }

    /// Waits for the next result; `None` if the run has to stop.
    async fn next(&mut self) -> Option<ActionResult> {
        let stopping = self.machine.stop_reason().is_some();
        let due = self
            .deadline
            .into_iter()
            .chain(self.machine.next_deadline());
        let overdue = match due.min() {
            Some(deadline) => self.engine.parts.clock.sleep_until(deadline),
            None => Box::pin(std::future::pending()),
        };
        tokio::select! {
            done = self.tasks.next(), if !self.tasks.is_empty() => return done,
            () = self.stop.token.cancelled(), if !stopping => {}
            () = overdue, if !stopping => {}
            else => return None,
        }
        match self.must_stop() {
            Some(failure) => self.halt(failure),
            None => drop(self.expire()),
        }
        None
    }

    fn record(&mut self, event: Event) {
        let now = self.engine.now();
        match self.machine.apply(now, &event) {
            Ok(()) => self.journal.push(now, event),
            // The machine made the event or asked for it, so this is a bug.
            Err(error) => tracing::error!(
                run = %self.run.id, %error,
                "the state machine rejected an event"
            ),
        }
    }
}

/// An intent must be stored before a call whose repetition would do harm, and a question before a person
/// can answer it.
fn must_be_stored(action: &Ask) -> bool {
    match action {
        Ask::Call { effects, .. } => *effects != Effects::None,
        Ask::Heal { .. } | Ask::Question { .. } => true,
        Ask::Sleep { .. } => false,
    }
}

/// The path of the step that an action belongs to.
fn path(action: &Ask) -> &Path {
    match action {
        Ask::Call { path, .. }
        | Ask::Heal { path, .. }
        | Ask::Sleep { path, .. }
        | Ask::Question { path, .. } => path,
    }
}

//! Agents inside a run. The machine of an agent is driven beside the interpreter: its decisions go into the
//! same journal, are stored before they are performed, and their results are recorded.
//!
//! Not here: prompts of agents, the meaning of their calls, costs of models (`agent/`).

use std::time::Duration;

use deft_agent::{
    Address, Event as AgentEvent, EventKind, Machine as Agent, Request as AgentRequest,
};
use deft_agents::{AgentFacts, Brief};
use deft_model::{Effects, ExhaustedAction, Failure, Object, Tier};
use deft_store::Write;
use deft_workflow::{Event, Next, Operation, Path, ToolMark};
use futures_util::FutureExt;
use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Driver;
use crate::CHAT_SKILL;
use crate::agent::{Job, RequestAgents, answer_value};
use crate::agent_result::{AgentResult, RecordableResult, Span};
use crate::ask;
use crate::perform::{ActionResult, cancelled_failure};
use crate::question::{Question, approval, question_at};

/// The agent of a step.
pub(crate) struct StepAgent {
    machine: Agent,
    /// The attempt of the step that it works on.
    attempt: u32,
    begun: Timestamp,
    until: Option<Timestamp>,
    halt: CancellationToken,
    /// False between two attempts of the step, and after its end.
    is_running: bool,
    /// Number of its requests in flight.
    busy: usize,
}

impl StepAgent {
    /// Returns an agent in the state of its machine, with no requests in flight.
    pub(crate) fn idle(machine: Agent) -> Self {
        Self {
            machine,
            attempt: 0,
            begun: Timestamp::UNIX_EPOCH,
            until: None,
            halt: CancellationToken::new(),
            is_running: false,
            busy: 0,
        }
    }
}

impl Driver {
    /// Sets the agents of a resumed run.
    pub(crate) fn with_agents(mut self, agents: impl IntoIterator<Item = (Path, Agent)>) -> Self {
        let agents = agents.into_iter();
        self.agents = agents
            .map(|(path, machine)| (path, StepAgent::idle(machine)))
            .collect();
        self
    }

    /// Starts an agent, or resumes one that was cut off or has to try again.
    pub(super) fn begin_agent(
        &mut self,
        path: Path,
        attempt: u32,
        instructions: String,
        timeout: Option<Duration>,
    ) {
        let now = self.engine.now();
        let halt = self.performer.halt.child_token();
        self.cancel_tokens.insert(path.clone(), halt.clone());
        let known = self.agents.contains_key(&path);
        let agents = self.agents.entry(path.clone());
        let step = agents.or_insert_with(|| StepAgent::idle(Agent::new()));
        step.attempt = attempt;
        step.begun = now;
        step.until = timeout.and_then(|timeout| now.saturating_add(timeout).ok());
        step.halt = halt;
        step.is_running = true;
        step.busy = 0;
        if known && step.machine.has_begun() {
            self.resume_agent(&path);
            return;
        }
        let brief = Brief {
            run: self.run.clone(),
            step: self.machine.agent(&path).unwrap_or_default(),
            path: path.clone(),
            instructions,
            authority: self.machine.authority(&path),
        };
        let performer = self.performer_of(&path);
        // A workflow may have acted before it reaches its agent; then it is too late for the check.
        let fired = self.run.tier == Tier::Agent;
        let unchecked = fired && self.machine.check_failed().is_some();
        self.calling += 1;
        self.count(&path, 1);
        let task = async move {
            ActionResult::AgentStep {
                path,
                attempt,
                result: performer.ready(brief, unchecked).await,
            }
        };
        self.tasks.push(task.boxed());
    }

    /// Returns the number of calls that the agents of other steps have made, including finished agents.
    fn calls_elsewhere(&self, path: &Path) -> usize {
        let others = self.agents.iter().filter(|(other, _)| *other != path);
        others.map(|(_, it)| it.machine.calls_counted()).sum()
    }

    /// Resumes an agent that was cut off. One that has answered tries again, because its answer was rejected.
    fn resume_agent(&mut self, path: &Path) {
        let Some(step) = self.agents.get_mut(path) else {
            return;
        };
        let mut reopened = step.machine.retry();
        if let Some(failure) = self.machine.failed_before(path) {
            reopened.extend(step.machine.reject(failure));
        }
        let mut cut_off = Vec::new();
        let mut again = Vec::new();
        for request in step.machine.requests_in_flight() {
            match step.machine.cut_off(&request) {
                Some(event) => cut_off.push(event),
                None => again.push(request),
            }
        }
        let now = self.engine.now();
        for event in reopened {
            self.note_agent_event(now, path, event);
        }
        for event in cut_off {
            self.record_agent_event(path, event);
        }
        let again = again.into_iter().map(|request| (path.clone(), request));
        self.agent_requests.extend(again);
        self.advance_agent(path);
    }

    /// Advances the machine of an agent, and queues its new requests.
    fn advance_agent(&mut self, path: &Path) {
        let now = self.engine.now();
        let calls_elsewhere = self.calls_elsewhere(path);
        let Some(step) = self.agents.get_mut(path) else {
            return;
        };
        let facts = AgentFacts::new(&self.engine.agents, calls_elsewhere);
        let events = step.machine.advance(&facts);
        let fresh = step.machine.take_requests();
        let finished = step.machine.end().cloned();
        for event in events {
            self.note_agent_event(now, path, event);
        }
        let fresh = fresh.into_iter().map(|request| (path.clone(), request));
        self.agent_requests.extend(fresh);
        if let Some(finished) = finished {
            let result = match finished.error {
                Some(failure) => Err(failure),
                None => Ok(finished.text),
            };
            self.end_agent(path, result);
        }
    }

    /// Ends the step of an agent, for this attempt or permanently.
    fn end_agent(&mut self, path: &Path, result: Result<String, Failure>) {
        let now = self.engine.now();
        let Some(step) = self.agents.get_mut(path) else {
            return;
        };
        step.is_running = false;
        step.halt.cancel();
        self.agent_ended = true;
        let (attempt, begun) = (step.attempt, step.begun);
        let called = step.machine.called_tools();
        self.agent_requests.retain(|(other, _)| other != path);
        self.cancel_tokens.remove(path);
        let wants_json = self.machine.agent(path).is_some_and(|step| step.wants_json);
        let result = result.map(|text| answer_value(text, wants_json));
        let ms = u64::try_from(now.duration_since(begun).as_millis()).unwrap_or(0);
        let event = self.call_end_event((path, attempt), result, now, |machine, result| {
            machine.end_agent(path, attempt, result, now, ms, called)
        });
        self.record_messages(path, &event, now);
        let over_budget_step = self
            .over_budget_step
            .take()
            .filter(|over_budget_step| over_budget_step == path);
        let stopped = over_budget_step.and_then(|_| {
            let Event::Ended(ended) = &event else {
                return None;
            };
            ended.error.clone().filter(|_| ended.next == Next::Fail)
        });
        self.record(event);
        // The budget was spent from the start and the skill skips the run then, or the check found no work.
        if let Some(failure) = stopped {
            self.halt(failure);
        }
    }

    /// Adds the messages of an agent to its conversation, unless its step is retried or its answer is still
    /// to be checked.
    pub(super) fn record_messages(&mut self, path: &Path, event: &Event, now: Timestamp) {
        let (Event::Ended(ended), Some(step)) = (event, self.agents.get(path)) else {
            return;
        };
        if !matches!(
            ended.next,
            Next::Retry { .. } | Next::Postponed { .. } | Next::Heal(_) | Next::Verify { .. }
        ) {
            let failure = ended.error.as_ref();
            match deft_agents::end_messages(&step.machine, &self.run, failure, now) {
                Ok(messages) => self.journal.write(messages),
                Err(error) => tracing::error!(
                    %error,
                    "an answer could not be stored in its conversation"
                ),
            }
        }
    }

    /// Records the result of a request of an agent.
    pub(super) fn record_agent_result(&mut self, path: &Path, attempt: u32, result: AgentResult) {
        self.calling -= 1;
        let step = self.agents.get_mut(path);
        let Some(step) = step.filter(|it| it.is_running && it.attempt == attempt) else {
            return;
        };
        let busy_with = step.busy;
        if matches!(result, AgentResult::Idle(_)) {
            self.over_budget_step = Some(path.clone());
        }
        if let AgentResult::Replied {
            exhausted: Some(exhausted),
            span,
            ..
        } = &result
        {
            if exhausted.own {
                self.exhausted = Some(exhausted.then);
            }
            // Whether this is the first request of the root agent, with nothing done before it.
            let first = span.agent.is_root() && span.turn == 1 && busy_with == 1;
            let skips = exhausted.whole && exhausted.then == ExhaustedAction::Skip;
            // In a chat the person is told that no answer came.
            let fired = self.run.skill != CHAT_SKILL;
            if first && skips && fired && self.machine.is_untouched(path) {
                self.over_budget_step = Some(path.clone());
            }
        }
        step.busy = step.busy.saturating_sub(1);
        let busy = step.busy > 0;
        match result.event(&step.machine) {
            RecordableResult::Event(event, writes) => {
                self.journal.write(writes);
                self.record_agent_event(path, event);
            }
            RecordableResult::Unable(failure) => {
                self.end_agent(path, Err(failure));
                return;
            }
            RecordableResult::Unanswered(question) => self.unanswered.push(question),
        }
        match (self.machine.is_stopping(path), busy) {
            (false, _) => self.advance_agent(path),
            // Other requests in flight may have had effects, so their results are recorded first.
            (true, true) => {}
            (true, false) => self.end_agent(path, Err(cancelled_failure())),
        }
    }

    fn count(&mut self, path: &Path, more: usize) {
        if let Some(step) = self.agents.get_mut(path) {
            step.busy += more;
        }
    }

    fn record_agent_event(&mut self, path: &Path, event: AgentEvent) {
        let Some(step) = self.agents.get_mut(path) else {
            return;
        };
        if let Err(error) = step.machine.apply(&event) {
            // The machine made the event, so this is a bug.
            tracing::error!(
                run = %self.run.id, %error,
                "the state machine of an agent rejected an event"
            );
            return;
        }
        let now = self.engine.now();
        if matches!(event.what, EventKind::Began(_)) && event.agent.is_root() {
            // Readers of the conversation see the question while the agent works on it.
            let begun = deft_agents::begin_message(&step.machine, now);
            self.journal.write(begun);
        }
        self.note_agent_event(now, path, event);
    }

    /// Adds an event to the journal that the machine of the agent has already applied.
    fn note_agent_event(&mut self, now: Timestamp, path: &Path, event: AgentEvent) {
        let event = Event::Agent {
            path: path.clone(),
            event: Box::new(event),
        };
        match self.machine.apply(now, &event) {
            Ok(()) => self.journal.push(now, event),
            Err(error) => tracing::error!(
                run = %self.run.id, %error,
                "the state machine rejected an event"
            ),
        }
    }

    /// Adds the questions of agents to the batch of the events that ask them.
    pub(super) fn note_agent_questions(&mut self, now: Timestamp) {
        let questions = self.agent_requests.iter();
        let questions = questions.filter_map(|(path, request)| self.question_of(path, request));
        let asked: Vec<Write> = questions
            .map(|question| Write::Ask(approval(&question, now)))
            .collect();
        self.journal.write(asked);
    }

    fn question_of(&self, path: &Path, request: &AgentRequest) -> Option<Question> {
        let AgentRequest::Ask {
            agent,
            turn,
            call,
            tool,
            args,
            message,
        } = request
        else {
            return None;
        };
        let remember = self.tool_to_remember(path, agent, (tool, args));
        // Grants are bound to the step, so the position within the agent follows a mark that they ignore.
        let agent = agent.to_string().replace('/', "+");
        let place = Path::from_text(format!("{path}~{agent}:{turn}.{call}"));
        let operation = Operation {
            kind: "tool".to_owned(),
            name: Some(tool.clone()),
            args: Some(Value::Object(args.clone())),
            remember,
        };
        let nth = self.run.finish_ordinal;
        let message = message.clone();
        Some(question_at(&self.run.id, nth, place, message, &operation))
    }

    /// Returns the tool of a call if a person may approve all its calls at once. Only chats offer that,
    /// because their calls differ.
    fn tool_to_remember(
        &self,
        path: &Path,
        agent: &Address,
        (tool, args): (&str, &Object),
    ) -> Option<ToolMark> {
        if self.run.skill != CHAT_SKILL {
            return None;
        }
        let setup = self.agents.get(path)?.machine.setup(agent)?;
        self.engine
            .agents
            .tool_to_remember(&setup.authority, tool, args)
    }

    pub(super) fn perform_request(&mut self, path: Path, request: AgentRequest) {
        let Some(step) = self.agents.get(&path).filter(|it| it.is_running) else {
            return;
        };
        let (attempt, until) = (step.attempt, step.until);
        let question = self.question_of(&path, &request);
        let performer = self.performer_of(&path);
        let (engine, attention) = (self.engine.clone(), self.attention.clone());
        let (run, lease) = (self.run.clone(), self.lease.clone());
        let setup = step.machine.setup(&Address::root());
        let payer = setup.map_or_else(String::new, |setup| setup.agent.clone());
        let agents = RequestAgents::new(&step.machine, &request);
        let around = self.machine.enclosing_skills(&path);
        self.calling += 1;
        self.count(&path, 1);
        let task = async move {
            let result = match (request, question) {
                (
                    AgentRequest::Ask {
                        agent, turn, call, ..
                    },
                    Some(question),
                ) => {
                    let (skill, revision) = (&run.skill, &run.revision);
                    let asked = ask::find_answer(&engine, &attention, skill, revision, &question);
                    // A request to stop does not wait for the answer.
                    let asked = performer.halt.run_until_cancelled(asked).await;
                    let answer = asked.flatten();
                    AgentResult::Answered {
                        span: Span { agent, turn },
                        call,
                        question,
                        answer,
                    }
                }
                (request, _) => {
                    let job = Job {
                        lease: &lease,
                        attention: &attention,
                        attempt,
                        until,
                        agent: &payer,
                        below: agents.below.as_deref(),
                        parent: agents.parent.as_ref(),
                        around,
                        authority: agents.authority.as_ref(),
                    };
                    performer
                        .perform_agent_request(&run, &path, request, job)
                        .await
                }
            };
            ActionResult::AgentStep {
                path,
                attempt,
                result,
            }
        };
        self.tasks.push(task.boxed());
    }

    /// Returns a performer that is cancelled with the agent.
    fn performer_of(&self, path: &Path) -> crate::perform::Performer {
        let mut performer = self.performer.clone();
        if let Some(step) = self.agents.get(path) {
            performer.halt = step.halt.child_token();
        }
        performer
    }

    /// Ends idle agents of steps that are stopping.
    pub(super) fn end_stopping_agents(&mut self) {
        let stopping: Vec<Path> = self
            .agents
            .iter()
            .filter(|(_, step)| step.is_running && step.busy == 0)
            .filter(|(path, _)| self.machine.is_stopping(path))
            .map(|(path, _)| path.clone())
            .collect();
        for path in stopping {
            self.end_agent(&path, Err(cancelled_failure()));
        }
    }
}

/// An intent must be stored before a call whose repetition would do harm, a question before a person can
/// answer it, and the cost of a model's answer before the next call.
pub(super) fn must_be_stored(request: &AgentRequest) -> bool {
    match request {
        AgentRequest::CallTool { effects, .. } => *effects != Effects::None,
        AgentRequest::CallModel { .. } | AgentRequest::Ask { .. } => true,
        AgentRequest::Prepare { .. } => false,
    }
}

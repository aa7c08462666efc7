//! Performs the requests of an agent: asks its model, calls a tool, prepares another agent.
//!
//! Nothing here changes the state of a run; each function returns its result.
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use deft_agent::{Address, Coverage, Machine, Request as AgentRequest, Setup};
use deft_agents::{
    BudgetExceeded, Exhaustion, GET_SKILL, Payers, RecordTool, SKILL, Spending, payers,
};
use deft_llm::{Answer as ModelAnswer, Ask, Delta};
use deft_model::{
    Authority, CallArgs, ExhaustedAction, Failure, FailureClass, ModelReply, ModelRequest, Object,
    TraceContext, span_place,
};
use deft_store::{Batch, Error, Lease, RunRow, Write};
use deft_tools::{Call as ToolCall, Redaction};
use deft_workflow::{Answer, EnclosingSkill, Operation, Path, size};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::agent_result::{AgentResult, Span};
use crate::ask;
use crate::attention::Attention;
use crate::engine::Inner;
use crate::perform::{Performer, cancelled_failure, millis};
use crate::question::{Question, approval, question_at};

/// The context of a request of an agent.
pub(crate) struct Job<'a> {
    pub(crate) lease: &'a Lease,
    pub(crate) attention: &'a Attention,
    /// The attempt of the step.
    pub(crate) attempt: u32,
    /// The deadline of the step.
    pub(crate) until: Option<Timestamp>,
    /// `agent`: the agent of the step, whose budget pays. `below`: the dispatched agent that asks, if any.
    /// `parent`: the setup of the agent that dispatches another one.
    pub(crate) agent: &'a str,
    pub(crate) below: Option<&'a str>,
    pub(crate) parent: Option<&'a Setup>,
    /// The skills that enclose the step.
    pub(crate) around: Vec<EnclosingSkill>,
    /// The rights of the agent that asks.
    pub(crate) authority: Option<&'a Authority>,
}

/// The agents that a request is about, besides the agent of the step.
#[derive(Default)]
pub(crate) struct RequestAgents {
    /// The dispatched agent that asks a model.
    pub(crate) below: Option<String>,
    /// The setup of the agent that dispatches another one.
    pub(crate) parent: Option<Setup>,
    /// The rights of the agent that calls a tool.
    pub(crate) authority: Option<Authority>,
}

impl RequestAgents {
    pub(crate) fn new(machine: &Machine, request: &AgentRequest) -> Self {
        let setup = |agent: &Address| machine.setup(agent);
        match request {
            AgentRequest::CallModel { agent, .. } if !agent.is_root() => Self {
                below: setup(agent).map(|setup| setup.agent.clone()),
                ..Self::default()
            },
            AgentRequest::CallTool { agent, .. } => Self {
                authority: setup(agent).map(|setup| setup.authority.clone()),
                ..Self::default()
            },
            AgentRequest::Prepare { agent, .. } => Self {
                parent: agent
                    .parent()
                    .and_then(|(above, ..)| setup(&above).cloned()),
                ..Self::default()
            },
            AgentRequest::CallModel { .. } | AgentRequest::Ask { .. } => Self::default(),
        }
    }
}

/// The result of a request to a model.
enum ModelTurn {
    Answered(Box<Result<deft_llm::Answer, Failure>>, Vec<Write>),
    /// A budget is spent.
    BudgetExceeded(Failure, Option<Exhaustion>),
    /// A person has to agree to more spending first.
    Waits(Box<Question>),
}

impl ModelTurn {
    fn from_failure(failure: Failure) -> Self {
        Self::Answered(Box::new(Err(failure)), Vec::new())
    }
}

/// A request to the model of an agent.
struct Turn<'a> {
    run: &'a RunRow,
    path: &'a Path,
    span: &'a Span,
    model: &'a str,
    request: &'a ModelRequest,
}

impl Turn<'_> {
    /// Returns the key of the request for its costs. A request that is repeated after a refusal, in another
    /// attempt of the step, or after the run was resumed has another key: both are paid for.
    fn key(&self, attempt: u32) -> String {
        let Span { agent, turn } = self.span;
        let (run, path, ends) = (&self.run.id, self.path, self.run.finish_ordinal);
        format!("{run}/{path}#{agent}:{turn}@{ends}.{attempt}")
    }
}

impl Performer {
    /// Performs a request of an agent; the driver handles questions to people.
    pub(crate) async fn perform_agent_request(
        self,
        run: &RunRow,
        path: &Path,
        request: AgentRequest,
        job: Job<'_>,
    ) -> AgentResult {
        let begun = Instant::now();
        let until = job.until;
        match request {
            AgentRequest::CallModel {
                agent,
                turn,
                model,
                request,
            } => {
                let span = Span { agent, turn };
                let turn = Turn {
                    run,
                    path,
                    span: &span,
                    model: &model,
                    request: &request,
                };
                match self.ask_model(&turn, &job).await {
                    ModelTurn::Answered(result, writes) => AgentResult::Replied {
                        result: *result,
                        ms: millis(begun),
                        writes,
                        span,
                        exhausted: None,
                    },
                    ModelTurn::BudgetExceeded(failure, exhausted) => AgentResult::Replied {
                        result: Err(failure),
                        ms: 0,
                        writes: Vec::new(),
                        span,
                        exhausted,
                    },
                    ModelTurn::Waits(question) => AgentResult::Answered {
                        span,
                        call: 0,
                        question: *question,
                        answer: None,
                    },
                }
            }
            AgentRequest::CallTool {
                agent,
                turn,
                call,
                tool,
                args,
                covers,
                ..
            } => {
                let authority = job.authority.map(|mine| with_consent(mine, &tool, covers));
                let key = call_key(run, path, &agent, turn, call);
                // Each call has its own path for results that are too large.
                let place = Path::from_text(format!("{path}~{agent}:{turn}.{call}"));
                let request = AgentCall {
                    tool: &tool,
                    args,
                    key,
                    authority,
                    trace: self.trace(|| {
                        span_place::agent_call(path.as_str(), &agent.to_string(), turn, call)
                    }),
                };
                let result = self.agent_tool(request, until, &place).await;
                AgentResult::Returned {
                    span: Span { agent, turn },
                    call,
                    result,
                    ms: millis(begun),
                }
            }
            AgentRequest::Prepare { agent, dispatch } => {
                let result = self.prepare_child(&agent, &dispatch, job.parent);
                AgentResult::Prepared { agent, result }
            }
            AgentRequest::Ask {
                agent, turn, call, ..
            } => AgentResult::Returned {
                span: Span { agent, turn },
                call,
                result: Err(cancelled_failure()),
                ms: 0,
            },
        }
    }

    async fn ask_model(&self, turn: &Turn<'_>, job: &Job<'_>) -> ModelTurn {
        let engine = &self.engine;
        let deadline = match self.remaining_time(job.until) {
            Ok(deadline) => deadline,
            Err(failure) => return ModelTurn::from_failure(failure),
        };
        let key = turn.key(job.attempt);
        let above = engine.agents.payers_above(turn.run);
        let above = match self.above.get_or_try_init(|| above).await {
            Ok(above) => above,
            Err(error) => {
                let failure = Failure::new(FailureClass::Other, error.to_string());
                return ModelTurn::from_failure(failure);
            }
        };
        let mut skills = payers(turn.run, job.around.clone());
        skills.extend(above.iter().cloned());
        let paying = Payers {
            agent: job.agent,
            below: job.below,
            skills: &skills,
        };
        let spending = engine
            .agents
            .spending(turn.run, &paying, turn.model, turn.request)
            .await;
        if let Err(broke) = engine
            .agents
            .reserve(&spending, job.lease, &key, false, &self.halt)
            .await
            && let Err(asked) = self.may_overspend(turn, job, &spending, &key, broke).await
        {
            return asked;
        }
        let person = job
            .attention
            .listener
            .clone()
            .filter(|_| turn.span.agent.is_root());
        let listener = |delta: Delta| {
            if let Some(person) = &person {
                person(delta);
            }
        };
        let tries = AtomicU32::new(0);
        let ask = Ask {
            model: turn.model,
            request: turn.request,
            listener: person.is_some().then_some(&listener),
            deadline,
            cancel: self.halt.clone(),
            tries: Some(&tries),
        };
        let result = engine.agents.models().ask(ask).await;
        // Its reply is evaluated next, with the grants that people have given in the meantime.
        engine.agents.read_grants_again().await;
        let redaction = engine.parts.router.redaction().await;
        let result = result.map_err(|failure| redaction.failure(failure));
        let result = result.map(|mut answer| {
            answer.reply.text = self.hide(&answer.reply.text, &redaction);
            for call in &mut answer.reply.calls {
                let args = std::mem::replace(&mut call.args, CallArgs::Object(Object::new()));
                call.args = self.hide_args(args, &redaction);
            }
            answer
        });
        let (answer, tries) = (result.as_ref().ok(), tries.into_inner());
        let writes = engine
            .agents
            .spending_writes(&spending, &key, answer, tries)
            .await;
        // After the costs: an answer that is too large to be stored has been paid for.
        let result = match result {
            Ok(answer) => self.within_bounds(turn, answer).await,
            Err(failure) => Err(failure),
        };
        ModelTurn::Answered(Box::new(result), writes)
    }

    /// Reserves beyond a spent budget if the skill asks a person in this case and the person agrees;
    /// otherwise returns the turn that ends or suspends the agent.
    async fn may_overspend(
        &self,
        turn: &Turn<'_>,
        job: &Job<'_>,
        spending: &Spending,
        key: &str,
        broke: BudgetExceeded,
    ) -> Result<(), ModelTurn> {
        let exhausted = broke.then;
        if exhausted.is_none_or(|exhausted| exhausted.then != ExhaustedAction::Ask) {
            return Err(ModelTurn::BudgetExceeded(broke.failure, exhausted));
        }
        let (run, span) = (turn.run, turn.span);
        let agent = span.agent.to_string().replace('/', "+");
        let place = format!("{}~{agent}:{}.budget", turn.path, span.turn);
        let message = format!("{}; continue anyway?", broke.failure);
        let operation = Operation {
            kind: "budget".to_owned(),
            name: Some(broke.scope),
            args: None,
            remember: None,
        };
        let (nth, place) = (run.finish_ordinal, Path::from_text(place));
        let question = question_at(&run.id, nth, place, message, &operation);
        let engine = &self.engine;
        engine
            .ask_once(job.lease, &question)
            .await
            .map_err(|error| {
                let failure = Failure::new(FailureClass::Other, error.to_string());
                ModelTurn::from_failure(failure)
            })?;
        let (skill, revision) = (&run.skill, &run.revision);
        match ask::find_answer(engine, job.attention, skill, revision, &question).await {
            Some((Answer::Yes, _)) => engine
                .agents
                .reserve(spending, job.lease, key, true, &self.halt)
                .await
                .map_err(|broke| ModelTurn::BudgetExceeded(broke.failure, broke.then)),
            Some(_) => Err(ModelTurn::BudgetExceeded(broke.failure, exhausted)),
            None => Err(ModelTurn::Waits(Box::new(question))),
        }
    }

    /// Checks the size of a reply: it joins the journal and may become the result of its step, so the limit
    /// of results applies.
    async fn within_bounds(
        &self,
        turn: &Turn<'_>,
        answer: ModelAnswer,
    ) -> Result<ModelAnswer, Failure> {
        let ModelReply { text, calls, .. } = &answer.reply;
        let args = calls.iter().map(|call| match &call.args {
            CallArgs::Object(args) => args.values().map(size).sum(),
            CallArgs::Invalid(raw) => raw.len(),
        });
        let bytes = text.len() + args.sum::<usize>();
        if bytes <= self.engine.options.max_result_bytes {
            return Ok(answer);
        }
        let Span { agent, turn: nth } = turn.span;
        let place = Path::from_text(format!("{}~{agent}:{nth}.reply", turn.path));
        Err(self.spill(&place, &json!(answer.reply)).await)
    }

    /// Hides secrets in a reply: a tool may have leaked them to the model.
    fn hide(&self, text: &str, redaction: &Redaction) -> String {
        match self.hide_value(Value::String(text.to_owned()), redaction) {
            Value::String(text) => text,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => text.to_owned(),
        }
    }

    /// Hides the secrets of the run and of the configuration.
    fn hide_value(&self, value: Value, redaction: &Redaction) -> Value {
        let value = self.secrets.hide_value(value);
        redaction.value(value)
    }

    /// Hides secrets in the arguments of a call, so that they are not recorded.
    fn hide_args(&self, args: CallArgs, redaction: &Redaction) -> CallArgs {
        match args {
            CallArgs::Object(args) => match self.hide_value(Value::Object(args), redaction) {
                Value::Object(args) => CallArgs::Object(args),
                other @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)) => CallArgs::Invalid(other.to_string()),
            },
            CallArgs::Invalid(raw) => CallArgs::Invalid(self.hide(&raw, redaction)),
        }
    }

    async fn agent_tool(
        &self,
        request: AgentCall<'_>,
        until: Option<Timestamp>,
        path: &Path,
    ) -> Result<Value, Failure> {
        let usual = self.engine.options.tool_timeout;
        let left = self.remaining_time(until)?;
        let AgentCall {
            tool, args, key, ..
        } = request;
        let call = ToolCall {
            key,
            authority: request.authority.map(Arc::new),
            trace: request.trace,
            deadline: match (usual, left) {
                (Some(usual), Some(left)) => Some(usual.min(left)),
                (usual, left) => usual.or(left),
            },
            cancel: self.halt.clone(),
            reveal: &*self.secrets,
            // A tool that was not listed when the model chose it gets its arguments repaired now.
            by_model: true,
            ..ToolCall::new(tool, args)
        };
        let reply = self.engine.parts.router.call(call).await;
        let reply = match reply {
            Ok(reply) => reply,
            Err(failure) => return Err(self.shorten(path, failure).await),
        };
        let mut value = self.secrets.hide_value(reply.value);
        // A model that saw a placeholder could pass it to any tool, where it would be replaced by the secret.
        // Only placeholders in the instructions may be used that way.
        deft_workflow::mask_value(&mut value);
        if size(&value) > self.engine.options.max_result_bytes {
            return Err(self.spill(path, &value).await);
        }
        Ok(value)
    }

    /// Returns the time left until the deadline of the step; `None` without a deadline.
    fn remaining_time(&self, until: Option<Timestamp>) -> Result<Option<Duration>, Failure> {
        let Some(until) = until else {
            return Ok(None);
        };
        let left = until.duration_since(self.engine.now());
        match Duration::try_from(left) {
            Ok(left) if !left.is_zero() => Ok(Some(left)),
            _ => Err(out_of_time()),
        }
    }
}

impl Inner {
    /// Stores a question, unless it was stored before the run was resumed.
    async fn ask_once(&self, lease: &Lease, question: &Question) -> Result<(), Error> {
        let store = &self.parts.store;
        if store.approval(&question.approval).await?.is_some() {
            return Ok(());
        }
        let asked = Batch {
            writes: vec![Write::Ask(approval(question, self.now()))],
            ..Batch::default()
        };
        store.append(lease, asked).await?;
        Ok(())
    }
}

/// A call of an agent, with its rights.
struct AgentCall<'a> {
    tool: &'a str,
    args: Object,
    key: String,
    authority: Option<Authority>,
    trace: Option<TraceContext>,
}

/// Returns the rights of a call, extended by what a person has agreed to. Stored skills last, and so does the
/// approval of a loaded skill, so for these tools only a person's own answer counts.
fn with_consent(authority: &Authority, tool: &str, covers: Option<Coverage>) -> Authority {
    let stores = RecordTool::from_name(tool).is_some_and(RecordTool::stores_skill);
    let lasting = stores || [SKILL, GET_SKILL].contains(&tool);
    let covers = covers.filter(|covers| covers.by_person || !lasting);
    let Some(covers) = covers else {
        return authority.clone();
    };
    Authority {
        agreed: covers.tools,
        agreed_to: covers.revision,
        ..authority.clone()
    }
}

/// Returns the key of a call: run, step, agent, turn and call, without the attempt.
fn call_key(run: &RunRow, path: &Path, agent: &Address, turn: u32, call: u32) -> String {
    let (run, path) = (&run.id, path.without_attempts());
    if agent.is_root() {
        format!("{run}/{path}#{turn}.{call}")
    } else {
        format!("{run}/{path}#{agent}/{turn}.{call}")
    }
}

/// Returns the failure for a step whose time has run out.
fn out_of_time() -> Failure {
    Failure::new(
        FailureClass::Timeout,
        "the agent took longer than the `timeout` of its step",
    )
}

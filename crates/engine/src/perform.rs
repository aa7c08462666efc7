//! Performing the actions of the interpreter: calls of tools, Python, nested skills, sleeps.
//!
//! Nothing here changes the state of a run; each function returns its result.

mod large_results;

use std::sync::Arc;
use std::time::{Duration, Instant};

use deft_agents::Payer;
use deft_compute::{Error as ComputeError, Job, Kind, Session};
use deft_library::PinnedSkill;
use deft_model::{
    Authority, Failure, FailureClass, Object, RunId, TraceContext, scatter, span_place,
};
use deft_store::{RunRow, Write};
use deft_tools::Call as ToolCall;
use deft_workflow::{Answer, Call, Code, Heal, Machine, Path, check_inputs, size};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::agent_result::AgentResult;
use crate::cache;
use crate::engine::Inner;
use crate::question::Question;
use crate::secrets::RunSecrets;
use crate::trace::RunTrace;

/// The result of an action.
pub(crate) enum ActionResult {
    Called {
        path: Path,
        attempt: u32,
        result: Result<Value, Failure>,
        ms: u64,
        cached: bool,
        writes: Vec<Write>,
    },
    Loaded {
        path: Path,
        attempt: u32,
        result: Result<(PinnedSkill, Object), Failure>,
    },
    Healed {
        path: Path,
        result: Result<(), Failure>,
        ms: u64,
    },
    Woken {
        path: Path,
        until: Timestamp,
    },
    /// The result of an agent's request.
    AgentStep {
        path: Path,
        attempt: u32,
        result: AgentResult,
    },
    /// `None` if no person has answered.
    Answered {
        question: Question,
        answer: Option<(Answer, String)>,
    },
}

impl ActionResult {
    /// The path of the step that the action belongs to.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Called { path, .. }
            | Self::Loaded { path, .. }
            | Self::Healed { path, .. }
            | Self::AgentStep { path, .. }
            | Self::Woken { path, .. } => path,
            Self::Answered { question, .. } => &question.path,
        }
    }
}

/// The context shared by all actions of a run.
#[derive(Clone)]
pub(crate) struct Performer {
    pub(crate) engine: Arc<Inner>,
    pub(crate) run: RunId,
    /// The skill of the run, for log lines.
    pub(crate) skill: Arc<str>,
    pub(crate) secrets: Arc<RunSecrets>,
    pub(crate) session: Arc<Mutex<Option<SkillSession>>>,
    /// Skills outside of the run that also pay for it; read at the first model call.
    pub(crate) above: Arc<OnceCell<Vec<Payer>>>,
    /// The trace that the run belongs to, if any.
    pub(crate) trace: Option<Arc<RunTrace>>,
    /// Cancels the action, alone or with all others of the run.
    pub(crate) halt: CancellationToken,
}

/// The session that evaluates the Python of a skill in the run.
pub(crate) struct SkillSession {
    /// The path prefix of the skill that it belongs to.
    skill: String,
    session: Session,
}

/// A call from the driver.
pub(crate) struct Request {
    pub(crate) path: Path,
    pub(crate) attempt: u32,
    pub(crate) call: Arc<Call>,
    pub(crate) key: String,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cache: Option<Duration>,
    pub(crate) code: Option<Code>,
    /// Whether a model wrote the arguments.
    pub(crate) by_model: bool,
    /// The rights of the step; `None` means those of a person.
    pub(crate) authority: Option<Arc<Authority>>,
    /// Whether a person has approved the step.
    pub(crate) agreed: bool,
}

impl Performer {
    pub(crate) fn new(
        engine: &Arc<Inner>,
        run: &RunRow,
        machine: &Machine,
        secrets: Arc<RunSecrets>,
    ) -> Self {
        let (id, ends) = (&run.id, run.finish_ordinal);
        Self {
            engine: Arc::clone(engine),
            run: id.clone(),
            skill: run.skill.as_str().into(),
            secrets,
            session: Arc::new(Mutex::new(None)),
            above: Arc::default(),
            trace: RunTrace::find(id, ends, machine.trace(), engine.options.traces),
            halt: CancellationToken::new(),
        }
    }

    /// Performs a call. Everything except tool calls is boxed, so that the future of each step is small: it
    /// is moved several times.
    pub(crate) async fn call(self, request: Request) -> ActionResult {
        let begun = Instant::now();
        let Request { path, attempt, .. } = &request;
        let (path, attempt) = (path.clone(), *attempt);
        if let Call::Skill { skill, args } = &*request.call {
            let result = tokio::select! {
                result = Box::pin(self.load(skill, args)) => result,
                () = self.too_late(request.timeout) => Err(slow_to_load(skill)),
                () = self.halt.cancelled() => Err(cancelled_failure()),
            };
            return ActionResult::Loaded {
                path,
                attempt,
                result,
            };
        }
        let mut cached = false;
        let mut writes = Vec::new();
        let result = match &*request.call {
            Call::Tool { tool, args } => match self.earlier(&request, tool, args).await {
                Some(value) => {
                    cached = true;
                    Ok(value)
                }
                None => self.tool(&request, tool, args, &mut writes).await,
            },
            Call::Compute | Call::Condition | Call::Expect { .. } => {
                Box::pin(self.python(&request)).await
            }
            // Agents, skills and waits are performed elsewhere.
            Call::Agent { .. } | Call::Skill { .. } | Call::Wait { .. } => not_a_call(),
        };
        ActionResult::Called {
            path,
            attempt,
            result,
            ms: millis(begun),
            cached,
            writes,
        }
    }

    /// Returns the trace context for a call at a place.
    pub(crate) fn trace(&self, place: impl FnOnce() -> String) -> Option<TraceContext> {
        self.trace.as_ref().map(|trace| trace.context_at(&place()))
    }

    /// The id of the run's trace, for log lines.
    pub(crate) fn trace_id(&self) -> Option<String> {
        self.trace.as_ref().map(|trace| trace.id().to_string())
    }

    async fn tool(
        &self,
        request: &Request,
        tool: &str,
        args: &Object,
        writes: &mut Vec<Write>,
    ) -> Result<Value, Failure> {
        let authority = request.authority.as_deref();
        self.engine
            .agents
            .decide_call(authority, tool, args, request.agreed)?;
        let call = ToolCall {
            key: request.key.clone(),
            deadline: request.timeout.or(self.engine.options.tool_timeout),
            cancel: self.halt.clone(),
            reveal: &*self.secrets,
            by_model: request.by_model,
            authority: request.authority.clone(),
            trace: self.trace(|| span_place::call(request.path.as_str(), request.attempt)),
            ..ToolCall::new(tool, args.clone())
        };
        let reply = self.engine.parts.router.call(call).await;
        let reply = match reply {
            Ok(reply) => reply,
            Err(failure) => return Err(self.shorten(&request.path, failure).await),
        };
        // Secrets in the result are hidden first, so that nothing later can see more than the store.
        let value = self.secrets.hide_value(reply.value);
        if size(&value) > self.engine.options.max_result_bytes {
            return Err(self.spill(&request.path, &value).await);
        }
        if let Some(ttl) = request.cache {
            let at = self.engine.now();
            writes.push(Write::Cache {
                key: cache::key(tool, args, self.secrets.nonce()),
                value: cache::write(&value, self.secrets.nonce()),
                at,
                expires_at: at.saturating_add(ttl).unwrap_or(Timestamp::MAX),
            });
        }
        Ok(value)
    }

    /// Returns a cached result, if the step allows one. An unreadable cache entry counts as missing.
    async fn earlier(&self, request: &Request, tool: &str, args: &Object) -> Option<Value> {
        request.cache?;
        let nonce = self.secrets.nonce();
        let key = cache::key(tool, args, nonce);
        let store = &self.engine.parts.store;
        let found = store.read_cached(&key, self.engine.now()).await.ok()??;
        // A secret in it that this run does not know could not be revealed to a tool.
        cache::read(&found, nonce).filter(|value| self.secrets.knows_all(value))
    }

    async fn python(&self, request: &Request) -> Result<Value, Failure> {
        let Some(code) = request.code.clone() else {
            return Err(Failure::new(FailureClass::Other, "there is no code to run"));
        };
        let kind = if request.call.is_expression() {
            Kind::Condition
        } else {
            Kind::Block
        };
        let job = Job {
            code: code.source,
            kind,
            scope: code.scope,
            now: code.now,
            zone: self.engine.base.zone_name().to_string(),
            // The same step of the same run gets the same random numbers.
            seed: scatter(request.key.bytes()),
        };
        // Steps of one run take turns.
        let mut session = self.session.lock().await;
        let session = self.session_of(&request.path, &mut session);
        let work = session.run(job, request.timeout);
        let result = tokio::select! {
            result = work => result,
            () = self.halt.cancelled() => return Err(cancelled_failure()),
        };
        match result {
            Ok(output) => {
                if !output.printed.is_empty() {
                    let (skill, step) = (&*self.skill, &request.path);
                    let trace_id = self.trace_id();
                    let printed = output.printed.trim_end();
                    tracing::info!(run = %self.run, skill, %step, trace_id, "{printed}");
                }
                Ok(output.value)
            }
            Err(error) => {
                let mut failure = Failure::new(error.class(), error.to_string());
                let skipped = code.skipped.first().filter(|_| error.is_about_none());
                failure.hint = match skipped {
                    Some(name) => Some(skipped_hint(name)),
                    None => error.hint().map(str::to_owned),
                };
                // Without its check a result is neither accepted nor rejected.
                let judging = matches!(*request.call, Call::Expect { .. });
                failure.blocked = judging && matches!(error, ComputeError::Unavailable { .. });
                Err(failure)
            }
        }
    }

    /// Returns the session for a step. Steps of one skill share a child process; a nested or enclosing skill
    /// gets another one, because code may change modules for all code that runs after it.
    fn session_of<'a>(
        &self,
        path: &Path,
        session: &'a mut Option<SkillSession>,
    ) -> &'a mut Session {
        let skill = path.skill();
        let other = session.take_if(|session| session.skill != skill);
        // Dropped before the next session is created: a run has one child process at a time.
        drop(other);
        let session = session.get_or_insert_with(|| SkillSession {
            skill: skill.to_owned(),
            session: self.engine.parts.compute.session(),
        });
        &mut session.session
    }

    /// Waits until the timeout of a step is reached.
    async fn too_late(&self, timeout: Option<Duration>) {
        let clock = &self.engine.parts.clock;
        let until = timeout.and_then(|timeout| clock.now().saturating_add(timeout).ok());
        match until {
            Some(until) => clock.sleep_until(until).await,
            None => std::future::pending().await,
        }
    }

    /// Pins the skill that a step runs, and checks its arguments.
    async fn load(&self, skill: &str, args: &Object) -> Result<(PinnedSkill, Object), Failure> {
        let pinned = self.engine.library.find(skill).await.map_err(|error| {
            let mut failure = Failure::new(FailureClass::NotFound, error.to_string());
            failure.hint = error.hint();
            failure
        })?;
        let inputs = check_inputs(pinned.plan.inputs(), args).map_err(|problems| {
            let error = crate::Error::Inputs(problems);
            let mut failure =
                Failure::new(FailureClass::Invalid, format!("skill `{skill}`: {error}"));
            failure.hint = error.hint();
            failure
        })?;
        let source = &self.engine.parts.secrets;
        self.secrets.add(pinned.plan.secrets(), source).await?;
        self.engine.learn_tools(&pinned).await;
        if pinned.skill.policy.authority.is_some() {
            self.engine.agents.read_grants_again().await;
        }
        self.engine
            .keep(&pinned)
            .await
            .map_err(|error| Failure::new(FailureClass::Other, error.to_string()))?;
        Ok((pinned, inputs))
    }

    pub(crate) async fn heal(
        self,
        path: Path,
        heal: Arc<Heal>,
        key: String,
        authority: Option<Authority>,
    ) -> ActionResult {
        let begun = Instant::now();
        let allowed = self
            .engine
            .agents
            .refuse_unasked(authority.as_ref(), &heal.tool, &heal.args);
        if let Err(failure) = allowed {
            return ActionResult::Healed {
                path,
                result: Err(failure),
                ms: millis(begun),
            };
        }
        let call = ToolCall {
            key,
            deadline: self.engine.options.tool_timeout,
            cancel: self.halt.clone(),
            reveal: &*self.secrets,
            authority: authority.map(Arc::new),
            trace: self.trace(|| span_place::heal(path.as_str(), heal.ordinal)),
            ..ToolCall::new(&heal.tool, heal.args.clone())
        };
        let result = self.engine.parts.router.call(call).await;
        let result = match result {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.shorten(&path, failure).await),
        };
        ActionResult::Healed {
            path,
            result,
            ms: millis(begun),
        }
    }

    pub(crate) async fn sleep(self, path: Path, until: Timestamp) -> ActionResult {
        let sleep = self.engine.parts.clock.sleep_until(until);
        tokio::select! {
            () = sleep => {}
            () = self.halt.cancelled() => {}
        }
        ActionResult::Woken { path, until }
    }
}

pub(crate) fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Returns the hint for code that used the value of a skipped step.
fn skipped_hint(name: &str) -> String {
    format!(
        "the step of `{name}` was skipped, so `{name}` is None; test it first, such as `if {name}:`, \
         or write `({name} or {{}}).get('key')`"
    )
}

pub(crate) fn cancelled_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, "the run was stopped")
}

fn slow_to_load(skill: &str) -> Failure {
    let message = format!("skill `{skill}` could not start within the `timeout` of its step");
    Failure::new(FailureClass::Timeout, message)
}

fn not_a_call() -> Result<Value, Failure> {
    let message = "agents and skills are not called like tools";
    Err(Failure::new(FailureClass::Other, message))
}

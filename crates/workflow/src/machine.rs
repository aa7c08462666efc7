//! The interpreter as a state machine: events go in, asks come out.
//!
//! A machine performs nothing, reads no clock and has no store. Its driver calls [`Machine::advance`] for the
//! events that follow from its state, stores them, performs the [`Ask`]s, and converts their results to
//! events with [`Machine::end_call`].

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use deft_model::{Effects, Failure, StepKind, TraceContext};
use deft_template::Condition;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::Path;
use crate::call::Call;
use crate::code::Code;
use crate::event::{Event, Heal, Operation, RunEnd, RunStart};
use crate::expect::Expectation;
use crate::facts::Facts;
use crate::plan::Plan;
use crate::planned::Remedy;
use crate::scope::NameScope;
use crate::state::{Frame, Origin, Phase, Position, TryState};

/// One thing that the interpreter asks its driver to do. A [`StepKind`] is what the file says a step does; an
/// ask is one attempt of it, or a heal, a sleep or a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Make a call, and report the result with [`Machine::end_call`].
    Call {
        /// The step or item.
        path: Path,
        /// Number of the try.
        attempt: u32,
        /// The call.
        call: Arc<Call>,
        /// What repeating the call would do.
        effects: Effects,
        /// Idempotency key of the call, the same for all attempts.
        key: String,
        /// Timeout of the call.
        timeout: Option<Duration>,
        /// Maximum age of an earlier result that may be used instead.
        cache: Option<Duration>,
    },
    /// Call the tool of a heal rule, and report the result with [`Machine::heal_event`].
    Heal {
        /// The step or item.
        path: Path,
        /// The heal rule with its arguments rendered.
        heal: Arc<Heal>,
        /// Idempotency key of the call.
        key: String,
    },
    /// Wake the step at an instant.
    Sleep {
        /// The step or item.
        path: Path,
        /// When to wake it.
        until: Timestamp,
    },
    /// Ask a person.
    Question {
        /// The step.
        path: Path,
        /// The question.
        message: String,
        /// The preselected answer.
        default: bool,
        /// The operation that the question is about.
        operation: Operation,
    },
}

/// The recorded events do not fit the plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal does not fit the skill: {0}")]
pub struct Divergence(pub(crate) String);

/// Settings that apply to all runs.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Heal rules of the host, tried after those of the skill.
    pub heals: Vec<Remedy>,
    /// Maximum nesting depth of skills.
    pub max_depth: u32,
    /// Maximum number of items of a loop.
    pub max_items: usize,
    /// Maximum size of all results of a run, in bytes.
    pub max_results: usize,
    /// Time zone of the host, for instants without an offset.
    pub zone: TimeZone,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            heals: Vec::new(),
            max_depth: 8,
            max_items: 10_000,
            max_results: 64 << 20,
            zone: TimeZone::UTC,
        }
    }
}

/// The state of a run.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) plan: Arc<Plan>,
    pub(crate) rules: Arc<Rules>,
    /// Plans of nested skills by revision.
    pub(crate) nested: HashMap<String, Arc<Plan>>,
    pub(crate) origin: Option<Origin>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) prefixes: HashMap<String, usize>,
    pub(crate) todo: VecDeque<Todo>,
    /// Frames that may have ended; checked when there is nothing else to do.
    pub(crate) leaving: VecDeque<usize>,
    /// Tries whose ask has not been taken yet.
    pub(crate) fresh: Vec<Position>,
    /// Frames whose outputs the worker has to check, and whose ask has not been taken yet.
    pub(crate) fresh_outputs: Vec<usize>,
    /// Frames that have not ended and have a deadline.
    pub(crate) timed: Vec<usize>,
    pub(crate) stopped: Option<Failure>,
    /// Size of all results so far, in bytes.
    pub(crate) results: usize,
    pub(crate) finished: Option<RunEnd>,
    pub(crate) recovered: Option<Recovery>,
}

/// The takeover of a run by another process, after the process that drove it died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// When the dead process was last known to be alive.
    pub interrupted_at: Timestamp,
    /// When the other process continued the run.
    pub resumed_at: Timestamp,
}

/// A step or loop to check when the machine advances. Stale entries are harmless: each is compared with the
/// state when its turn comes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Todo {
    Step { frame: usize, step: usize },
    Item(Position),
    Close { frame: usize, step: usize },
}

/// Two machines are equal if they behave the same from here on; their queues may differ.
impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        self.origin == other.origin
            && self.frames.len() == other.frames.len()
            && self.frames.iter().zip(&other.frames).all(same_frame)
            && self.stopped == other.stopped
            && self.results == other.results
            && self.finished == other.finished
    }
}

fn same_frame((one, two): (&Frame, &Frame)) -> bool {
    one.prefix == two.prefix
        && one.parent == two.parent
        && one.inputs == two.inputs
        && one.steps == two.steps
        && (one.leading, one.open, one.left) == (two.leading, two.open, two.left)
        && one.failure == two.failure
        && one.healed_before == two.healed_before
        && (one.limit, one.asking, one.paused_at) == (two.limit, two.asking, two.paused_at)
        && one.stopped == two.stopped
        && one.called == two.called
        && (&one.verdict, one.asked) == (&two.verdict, two.asked)
}

impl Machine {
    /// Creates a run that has not begun.
    pub fn new(plan: Arc<Plan>, rules: Arc<Rules>) -> Self {
        Self {
            plan,
            rules,
            nested: HashMap::new(),
            origin: None,
            frames: Vec::new(),
            prefixes: HashMap::new(),
            todo: VecDeque::new(),
            leaving: VecDeque::new(),
            fresh: Vec::new(),
            fresh_outputs: Vec::new(),
            timed: Vec::new(),
            stopped: None,
            results: 0,
            finished: None,
            recovered: None,
        }
    }

    /// Rebuilds a run from its events. `nested` has the plans of the skills that it entered, by revision.
    pub fn replay<'e>(
        plan: Arc<Plan>,
        rules: Arc<Rules>,
        nested: HashMap<String, Arc<Plan>>,
        events: impl IntoIterator<Item = (Timestamp, &'e Event)>,
    ) -> Result<Self, Divergence> {
        let mut machine = Self::new(plan, rules);
        machine.nested = nested;
        for (at, event) in events {
            machine.apply(at, event)?;
        }
        machine.fresh.clear();
        machine.fresh_outputs.clear();
        Ok(machine)
    }

    /// Returns the event that begins a run.
    pub fn start(&self, started: RunStart) -> Event {
        Event::Started(started)
    }

    /// Returns why the preflight check failed to run, if it did.
    pub fn check_failed(&self) -> Option<&str> {
        let origin = self.origin.as_ref()?;
        origin.started.check_failed.as_deref()
    }

    /// Returns the trace context of the run's caller, if the caller traces.
    pub fn trace(&self) -> Option<&Arc<TraceContext>> {
        self.origin.as_ref()?.started.origin.trace.as_ref()
    }

    /// Applies and returns all events that follow from the state: skipped steps, intents, the end. The caller
    /// must store them before it performs anything.
    pub fn advance(&mut self, now: Timestamp, facts: &dyn Facts) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.decide(now, facts) {
            // The event was decided from this state, so it fits.
            if self.apply(now, &event).is_err() {
                break;
            }
            events.push(event);
        }
        events
    }

    /// Returns how the run ended, if it has.
    pub fn end(&self) -> Option<&RunEnd> {
        self.finished.as_ref()
    }

    /// Returns the latest interruption of the run, if any.
    pub fn recovery(&self) -> Option<Recovery> {
        self.recovered
    }

    /// Whether a step or an agent called the tool successfully.
    pub fn has_called(&self, tool: &str) -> bool {
        self.frames.iter().any(|frame| frame.called.contains(tool))
    }

    /// Returns why the run is stopping, if it is.
    pub fn stop_reason(&self) -> Option<&Failure> {
        self.stopped.as_ref()
    }

    /// Returns the asks that are new since the last call.
    pub fn take_asks(&mut self) -> Vec<Ask> {
        let fresh = std::mem::take(&mut self.fresh);
        let outputs = std::mem::take(&mut self.fresh_outputs);
        let outputs = outputs
            .into_iter()
            .filter_map(|frame| self.output_ask(frame));
        let steps = fresh.into_iter().filter_map(|at| self.open_ask(at));
        steps.chain(outputs).collect()
    }

    /// Returns every ask that has begun and not ended, in the order of the steps.
    pub fn asks_in_flight(&self) -> Vec<Ask> {
        let mut asks = Vec::new();
        for (frame, state) in self.frames.iter().enumerate() {
            for (step, state) in state.steps.iter().enumerate() {
                let looped = state.items.is_some();
                let count = state
                    .tries
                    .len()
                    .max(usize::from(state.phase == Phase::Asking));
                for item in 0..count {
                    let item = looped.then_some(item);
                    asks.extend(self.open_ask(Position { frame, step, item }));
                }
            }
            asks.extend(self.output_ask(frame));
        }
        asks
    }

    fn open_ask(&self, at: Position) -> Option<Ask> {
        let frame = &self.frames[at.frame];
        let state = &frame.steps[at.step];
        let path = self.path(at);
        if state.phase == Phase::Asking {
            let asked = state.asked.as_ref()?;
            return Some(Ask::Question {
                path,
                message: asked.message.clone(),
                default: asked.default,
                operation: asked.operation.clone(),
            });
        }
        let tried = state.tries.get(at.item.unwrap_or(0))?;
        let step = &frame.plan.steps[at.step].step;
        match &tried.state {
            TryState::Calling { call, .. } if call.waits_until().is_some() => {
                let until = self.waits_until(&path)?;
                Some(Ask::Sleep { path, until })
            }
            TryState::Calling { call, effects, .. } => Some(Ask::Call {
                key: self.key(&path),
                path,
                attempt: tried.attempts,
                call: Arc::clone(call),
                effects: *effects,
                timeout: step.timeout,
                cache: step.cache.filter(|_| matches!(**call, Call::Tool { .. })),
            }),
            TryState::Healing { heal, .. } => Some(Ask::Heal {
                key: format!("{}#heal{}", self.key(&path), heal.ordinal),
                path,
                heal: Arc::clone(heal),
            }),
            TryState::Waiting { until } => Some(Ask::Sleep {
                path,
                until: *until,
            }),
            TryState::Idle
            | TryState::Ready
            | TryState::Inside { .. }
            | TryState::Ended(_)
            | TryState::Failed(_)
            | TryState::Skipped => None,
        }
    }

    /// Returns the idempotency key of a call: the run and the path with its items, without attempts.
    pub(crate) fn key(&self, path: &Path) -> String {
        let run = self
            .origin
            .as_ref()
            .map_or("", |origin| &origin.started.execution_id);
        [run, "/", &path.without_attempts()].concat()
    }

    pub(crate) fn path(&self, at: Position) -> Path {
        let frame = &self.frames[at.frame];
        Path::new(&frame.prefix, &frame.plan.steps[at.step].step.id, at.item)
    }

    pub(crate) fn locate(&self, path: &Path) -> Result<Position, Divergence> {
        let (prefix, step, item) = path.parts();
        let unknown = || Divergence(format!("unknown step `{path}`"));
        let frame = if prefix.is_empty() {
            0
        } else {
            *self.prefixes.get(prefix).ok_or_else(unknown)?
        };
        let plan = &self.frames.get(frame).ok_or_else(unknown)?.plan;
        let step = *plan.ids.get(step).ok_or_else(unknown)?;
        Ok(Position { frame, step, item })
    }

    pub(crate) fn view(&self, frame: usize, at: Option<Position>) -> Option<NameScope<'_>> {
        Some(NameScope {
            origin: self.origin.as_ref()?,
            frame: &self.frames[frame],
            at,
        })
    }

    /// Returns the Python code of a compute step, condition or post-condition that is being run: the source,
    /// the names it mentions, and the recorded start.
    pub fn code(&self, path: &Path) -> Option<Code> {
        if let Some(frame) = self.frame_of(path) {
            return self.output_code(frame);
        }
        let at = self.locate(path).ok()?;
        let frame = &self.frames[at.frame];
        let planned = &frame.plan.steps[at.step];
        let tried = frame.steps[at.step].tries.get(at.item.unwrap_or(0))?;
        let TryState::Calling { call, at: now, .. } = &tried.state else {
            return None;
        };
        if let Call::Expect { of } = **call {
            return self.expect_code(at, of, tried.held.as_ref()?, *now);
        }
        let source = if matches!(**call, Call::Condition) {
            planned.condition.as_ref().map(Condition::source)?
        } else {
            planned.work.source()?
        };
        Some(self.view(at.frame, Some(at))?.code(source, *now))
    }

    /// Whether a step belongs to a record. Then a model wrote its arguments, and they are repaired like those
    /// of its calls (S0.42, S0.48).
    pub fn is_of_record(&self, path: &Path) -> bool {
        let at = self.locate(path);
        at.is_ok_and(|at| self.frames[at.frame].plan.of_record)
    }

    /// Returns the latest failure of a step or an item.
    pub fn failed_before(&self, path: &Path) -> Option<&Failure> {
        let at = self.locate(path).ok()?;
        let tries = &self.frames[at.frame].steps[at.step].tries;
        tries.get(at.item.unwrap_or(0))?.failure.as_ref()
    }

    /// Returns the settings of an agent step.
    pub fn agent(&self, path: &Path) -> Option<AgentStep> {
        let at = self.locate(path).ok()?;
        let plan = &self.frames[at.frame].plan;
        let planned = &plan.steps[at.step];
        let StepKind::Agent {
            tools, max_steps, ..
        } = &planned.step.kind
        else {
            return None;
        };
        // If a skill consists only of its agent, the agent has to meet the post-condition of the skill.
        let alone = plan.steps.len() == 1;
        let of_skill = alone.then_some(&plan.expect);
        let must_call = [Some(&planned.expect), of_skill].into_iter().flatten();
        Some(AgentStep {
            skill: plan.skill.clone(),
            revision: plan.revision.clone(),
            tools: tools.clone(),
            max_steps: *max_steps,
            wants_json: planned.expect.has_schema()
                || of_skill.is_some_and(Expectation::has_schema),
            must_call: must_call
                .flat_map(|expect| expect.called_tools().to_vec())
                .collect(),
        })
    }
}

/// The settings of an agent step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStep {
    /// The skill of the step, which may be nested in another one.
    pub skill: String,
    /// Revision of the skill.
    pub revision: String,
    /// The only tools that the agent may call.
    pub tools: Vec<String>,
    /// Maximum number of requests to the model.
    pub max_steps: Option<u32>,
    /// Whether the answer is checked against a schema.
    pub wants_json: bool,
    /// Tools that must have been called successfully.
    pub must_call: Vec<String>,
}

//! The state of a run: frames of steps, and the tries of each step.
//!
//! Data only. It changes when an event is applied (`apply.rs` and the files that it calls), and by no other
//! code.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use deft_model::{Effects, Failure, Object};
use jiff::Timestamp;
use serde_json::Value;

use crate::call::{Call, ExpectLevel};
use crate::event::{Answer, Heal, Operation, RunStart};
use crate::plan::Plan;

/// The steps of the skill of the run, or of a nested skill.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) plan: Arc<Plan>,
    /// Prefix of the paths of its steps: empty, or for example `outer/`.
    pub(crate) prefix: String,
    /// The try of the outer step that runs the skill.
    pub(crate) parent: Option<Position>,
    pub(crate) depth: u32,
    pub(crate) inputs: Arc<Value>,
    /// Inputs whose values are untrusted.
    pub(crate) untrusted_inputs: BTreeSet<String>,
    pub(crate) steps: Vec<StepState>,
    /// Number of leading steps that have ended.
    pub(crate) leading: usize,
    /// Number of steps that have begun and not ended.
    pub(crate) open: usize,
    /// The failure that ends the frame once all steps that do not wait for it have ended.
    pub(crate) failure: Option<Fatal>,
    /// Whether one of its failures left something in doubt.
    pub(crate) in_doubt: bool,
    /// Number of heals of its outer step itself when the frame was last entered.
    pub(crate) healed_before: u32,
    /// The deadline, if the frame is nested and has one.
    pub(crate) limit: Option<Limit>,
    /// Why it has to stop although the run continues: its deadline or that of a skill around it has passed.
    pub(crate) stopped: Option<Failure>,
    /// Number of open questions and waits in it and inside it; its deadline is paused meanwhile.
    pub(crate) asking: usize,
    pub(crate) paused_at: Option<Timestamp>,
    /// Tools that were called successfully, here and inside.
    pub(crate) called: HashSet<String>,
    /// The verdict of the worker on its outputs, and how often the worker was asked.
    pub(crate) verdict: Verdict,
    pub(crate) asked: u32,
    pub(crate) left: bool,
}

/// The time limit of a nested skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
}

/// A failure that is not tolerated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fatal {
    pub(crate) at: Position,
    pub(crate) failure: Failure,
    pub(crate) kind: FatalKind,
    /// Whether the call may have taken effect and must not be repeated without asking.
    pub(crate) in_doubt: bool,
}

impl Fatal {
    /// Returns the rank of a failure; a frame reports the failure with the lowest one. Failures rank by the
    /// order of steps, not by time. A failure that only waits for a tool ranks last, because such a run is
    /// continued without asking.
    pub(crate) fn rank(&self) -> (bool, Position) {
        (self.kind == FatalKind::Blocked, self.at)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FatalKind {
    Error,
    Interrupted,
    Blocked,
    Declined,
}

/// The position of a try: frame, step, item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position {
    pub(crate) frame: usize,
    pub(crate) step: usize,
    pub(crate) item: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StepState {
    pub(crate) phase: Phase,
    /// Number of its `depends_on` that have not ended.
    pub(crate) waits: usize,
    /// The result of the condition, once it is known.
    pub(crate) judged: Option<bool>,
    pub(crate) asked: Option<Arc<Question>>,
    pub(crate) answer: Option<Answer>,
    /// The items of a loop.
    pub(crate) items: Option<Vec<Arc<Value>>>,
    /// One try, or one for each item.
    pub(crate) tries: Vec<Try>,
    /// Number of leading items that have ended well. Items begin in order, and none begins more than the
    /// loop's width ahead of these, so which items begin never depends on which item was quicker.
    pub(crate) head: usize,
    /// Number of items that have begun, and number of those that have not ended.
    pub(crate) begun: usize,
    pub(crate) going: usize,
    pub(crate) value: Option<Arc<Value>>,
    pub(crate) error: Option<Failure>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ms: u64,
}

impl StepState {
    /// Advances `head` over the leading items that have ended well.
    pub(crate) fn advance_head(&mut self) {
        let ended_well =
            |tried: &Try| matches!(tried.state, TryState::Ended(_) | TryState::Skipped);
        while self.tries.get(self.head).is_some_and(ended_well) {
            self.head += 1;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Waits for other steps, or is about to begin.
    #[default]
    Pending,
    /// Waits for the answer of a person.
    Asking,
    Open,
    Success,
    /// Failed, and the failure is tolerated.
    Error,
    Skipped,
    /// Failed permanently: steps that wait for it never begin.
    Failed,
    /// A person declined it, or the run was stopped before the answer.
    Refused,
}

impl Phase {
    /// Whether steps that wait for this one may begin.
    pub(crate) fn has_ended(self) -> bool {
        matches!(self, Self::Success | Self::Error | Self::Skipped)
    }

    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Asking)
    }
}

/// The tries of a step or of one item.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Try {
    pub(crate) state: TryState,
    /// Number of attempts.
    pub(crate) attempts: u32,
    /// Number of attempts that count against `retry:N`, and number of those that were cut off.
    pub(crate) retries: u32,
    pub(crate) cut_offs: u32,
    /// Number of heals of this try itself, and number including those of its nested steps.
    pub(crate) heals: u32,
    pub(crate) heals_inside: u32,
    /// Its value, until the worker has checked it.
    pub(crate) held: Option<Arc<HeldValue>>,
    /// The latest failure.
    pub(crate) failure: Option<Failure>,
    /// The result of the condition for this item.
    pub(crate) judged: Option<bool>,
    /// The frame of the nested skill it runs.
    pub(crate) inner: Option<usize>,
}

impl Try {
    /// Returns the failure that ended it permanently, if any.
    pub(crate) fn final_failure(&self) -> Option<&Failure> {
        let TryState::Failed(failure) = &self.state else {
            return None;
        };
        Some(failure)
    }
}

/// A value whose post-condition has not been checked yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeldValue {
    pub(crate) of: ExpectLevel,
    pub(crate) value: Arc<Value>,
    /// The tools that were called successfully.
    pub(crate) called: Vec<String>,
    /// What repeating the call would do, and whether an agent made it.
    pub(crate) effects: Effects,
    pub(crate) by_agent: bool,
    pub(crate) cached: bool,
    pub(crate) ms: u64,
}

/// The verdict of the worker on the outputs of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Verdict {
    /// The worker has not been asked.
    #[default]
    Open,
    Asked {
        at: Timestamp,
    },
    Met,
    Unmet(Failure),
}

impl Try {
    pub(crate) fn is_opened(&self) -> bool {
        self.state != TryState::Idle
    }
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) message: String,
    pub(crate) default: bool,
    pub(crate) operation: Operation,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum TryState {
    /// Never begun.
    #[default]
    Idle,
    /// To be begun again.
    Ready,
    Calling {
        call: Arc<Call>,
        effects: Effects,
        at: Timestamp,
    },
    /// A nested skill is running.
    Inside {
        frame: usize,
        since: Timestamp,
    },
    Healing {
        heal: Arc<Heal>,
        failure: Failure,
        attempt: u32,
    },
    Waiting {
        until: Timestamp,
    },
    Ended(Result<Arc<Value>, Failure>),
    /// Ended by a failure that is not tolerated.
    Failed(Failure),
    Skipped,
}

impl TryState {
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::Failed(_) | Self::Skipped)
    }
}

/// The beginning of the run, shared by all frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) started: RunStart,
    pub(crate) at: Timestamp,
}

impl Frame {
    pub(crate) fn new(plan: Arc<Plan>, inputs: &Object) -> Self {
        let steps = plan
            .steps
            .iter()
            .map(|planned| StepState {
                waits: match &planned.waits {
                    crate::order::Prerequisites::For(others) => others.len(),
                    crate::order::Prerequisites::Leading(_) => 0,
                },
                ..StepState::default()
            })
            .collect();
        Self {
            plan,
            prefix: String::new(),
            parent: None,
            depth: 0,
            inputs: Arc::new(Value::Object(inputs.clone())),
            untrusted_inputs: BTreeSet::new(),
            steps,
            leading: 0,
            open: 0,
            failure: None,
            in_doubt: false,
            healed_before: 0,
            limit: None,
            stopped: None,
            asking: 0,
            paused_at: None,
            called: HashSet::new(),
            verdict: Verdict::Open,
            asked: 0,
            left: false,
        }
    }
}

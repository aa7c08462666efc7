//! The state of a run: frames of steps, and the tries of each step.
//!
//! Data only: `apply.rs`, `follow.rs` and `resume.rs` change it, and no other file does.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use deft_model::{Effects, Failure, Object};
use jiff::Timestamp;
use serde_json::Value;

use crate::call::{Call, ExpectLevel};
use crate::event::{Answer, Heal, Operation, RunStart};
use crate::plan::Plan;

/// The steps of the skill, or of a skill that one of its steps runs.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) plan: Arc<Plan>,
    /// What the paths of its steps begin with: nothing, or `outer/`.
    pub(crate) prefix: String,
    /// The try of an outer step that it stands for.
    pub(crate) parent: Option<Position>,
    pub(crate) depth: u32,
    pub(crate) inputs: Arc<Value>,
    /// Inputs whose values were written by others.
    pub(crate) untrusted_inputs: BTreeSet<String>,
    pub(crate) steps: Vec<StepState>,
    /// How many leading steps have ended.
    pub(crate) leading: usize,
    /// How many steps have begun and not ended.
    pub(crate) open: usize,
    /// The failure that ends the frame once everything that does not wait for it has ended.
    pub(crate) failure: Option<Fatal>,
    /// One of its failures left something in doubt.
    pub(crate) in_doubt: bool,
    /// How many remedies its outer step itself had taken when the frame was last entered.
    pub(crate) healed_before: u32,
    /// How long it may take, if it is nested and not for ever.
    pub(crate) limit: Option<Limit>,
    /// Why it has to stop although the run goes on: it, or a skill around it, took too long.
    pub(crate) stopped: Option<Failure>,
    /// How many questions are open in it and inside it; its time stands still meanwhile.
    pub(crate) asking: usize,
    pub(crate) paused_at: Option<Timestamp>,
    /// Tools that were called with success, here and inside.
    pub(crate) called: HashSet<String>,
    /// Whether its outputs are as expected, where the worker has to say, and how often it was asked.
    pub(crate) verdict: Verdict,
    pub(crate) asked: u32,
    pub(crate) left: bool,
}

/// The time that a nested skill has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
}

/// A failure that nothing tolerates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fatal {
    pub(crate) at: Position,
    pub(crate) failure: Failure,
    pub(crate) kind: FatalKind,
    /// The call may have happened and must not be repeated unasked.
    pub(crate) in_doubt: bool,
}

impl Fatal {
    /// Which of several failures a frame reports: the first in order, whichever came first in
    /// time. One that only waits for a tool comes last, since such a run is continued unasked.
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

/// The place of a try: frame, step, item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position {
    pub(crate) frame: usize,
    pub(crate) step: usize,
    pub(crate) item: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StepState {
    pub(crate) phase: Phase,
    /// How many of its `depends_on` have not ended.
    pub(crate) waits: usize,
    /// What the condition came to, once it is known.
    pub(crate) judged: Option<bool>,
    pub(crate) asked: Option<Arc<Question>>,
    pub(crate) answer: Option<Answer>,
    /// The list of a loop.
    pub(crate) items: Option<Vec<Arc<Value>>>,
    /// One, or one for each item.
    pub(crate) tries: Vec<Try>,
    /// How many leading items have ended well. Items begin in order, and none begins more than
    /// the loop's width ahead of these, so what begins never depends on which item was quicker.
    pub(crate) head: usize,
    /// How many items have begun, and how many of them are going on.
    pub(crate) begun: usize,
    pub(crate) going: usize,
    pub(crate) value: Option<Arc<Value>>,
    pub(crate) error: Option<Failure>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ms: u64,
}

impl StepState {
    /// Counts the leading items that have ended well.
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
    /// It waits for other steps, or is about to begin.
    #[default]
    Pending,
    /// A person was asked.
    Asking,
    Open,
    Success,
    /// It failed, and that is tolerated.
    Error,
    Skipped,
    /// It failed for good: what waits for it never begins.
    Failed,
    /// A person said no, or the run was stopped before the answer.
    Refused,
}

impl Phase {
    /// True when steps that wait for this one may begin.
    pub(crate) fn is_over(self) -> bool {
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
    /// How often it was begun.
    pub(crate) attempts: u32,
    /// How many of them count against `retry:N`, and how many were cut off.
    pub(crate) retries: u32,
    pub(crate) cut_offs: u32,
    /// Remedies for this very try, and those with the ones of its nested steps.
    pub(crate) heals: u32,
    pub(crate) heals_inside: u32,
    /// Its value, as long as the worker has not checked it.
    pub(crate) held: Option<Arc<HeldValue>>,
    /// Why it failed the last time.
    pub(crate) failure: Option<Failure>,
    /// What the condition came to for this item.
    pub(crate) judged: Option<bool>,
    /// The frame of the nested skill it runs.
    pub(crate) inner: Option<usize>,
}

impl Try {
    /// Why it failed for good, if it did.
    pub(crate) fn failed(&self) -> Option<&Failure> {
        let TryState::Failed(failure) = &self.state else {
            return None;
        };
        Some(failure)
    }
}

/// A value that may not be as expected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeldValue {
    pub(crate) of: ExpectLevel,
    pub(crate) value: Arc<Value>,
    /// The tools that were called with success.
    pub(crate) called: Vec<String>,
    /// What repeating the call would do, and whether it was an agent.
    pub(crate) effects: Effects,
    pub(crate) by_agent: bool,
    pub(crate) cached: bool,
    pub(crate) ms: u64,
}

/// The verdict of the worker on the outputs of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Verdict {
    /// Nothing yet.
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

/// What a person was asked.
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
    /// A nested skill is going on.
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
    /// Ended by a failure that nothing tolerates.
    Failed(Failure),
    Skipped,
}

impl TryState {
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::Failed(_) | Self::Skipped)
    }
}

/// How the run began, and what all frames share.
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

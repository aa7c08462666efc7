//! The state of agents. Nothing is decided here.

use std::sync::Arc;

use deft_model::{
    CallArgs, Effects, Failure, FailureClass, ModelReply, Object, StopReason, ToolCall, ToolSpec,
};
use serde_json::Value;

use super::words;
use crate::address::Address;
use crate::event::{AgentEnd, Interpretation, WrittenCommand};
use crate::request::Coverage;
use crate::setup::{Dispatch, Mode, Setup};

/// The state of one agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Agent {
    pub address: Address,
    pub setup: Arc<Setup>,
    /// Descriptions of its tools for the model, created once.
    pub specs: Arc<[ToolSpec]>,
    pub turns: Vec<Turn>,
    /// Tools that came off the shelf, by their names in the router, with the turn in which they did.
    pub opened: Vec<(String, usize)>,
    /// Whether it was reminded of calls that it must make.
    pub reminded_of_calls: bool,
    /// Whether it was reminded to answer.
    pub reminded_to_speak: bool,
    /// Whether it was told that commands are not run in tool mode.
    pub told_of_commands: bool,
    /// Number of turns that do not count for the limit of steps, because the agent was resumed after them.
    pub steps_from: usize,
    /// The first call that counts for the loop breaker: turn and call.
    pub watched_from: (usize, usize),
    /// Number of turns whose calls are not made again, because an answer was rejected after them.
    pub rejected_at: usize,
    /// Total duration of its model requests and its calls, in milliseconds.
    pub ms: u64,
    pub finished: Option<AgentEnd>,
}

/// One request to the model and everything that follows from the reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub state: TurnState,
    pub commands: Vec<WrittenCommand>,
    /// One for each command and tool call of the reply.
    pub calls: Vec<Call>,
    pub reminder: Option<Reminder>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TurnState {
    Asked,
    NoReply(Failure),
    Replied(Box<ModelReply>),
}

/// A message to the model in the role of the user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reminder {
    pub text: String,
    /// Whether the model must make a call next.
    pub required: bool,
    /// Why its answer was rejected, if it was.
    pub rejected: Option<Failure>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    pub state: CallState,
    /// What it resolves to, once that is recorded.
    pub target: Option<Target>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    Tool {
        tool: String,
        args: Object,
        effects: Effects,
        skill: Option<String>,
        covers: Option<Coverage>,
    },
    Dispatch(Dispatch),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum CallState {
    /// It was not resolved yet.
    #[default]
    Pending,
    /// A person was asked.
    Asking { message: String },
    /// The person answered.
    Answered { yes: bool, by: String },
    /// It is to be made again.
    Retry,
    /// A tool is being called.
    Calling,
    /// The agent is being prepared.
    Preparing,
    /// The agent could not be prepared.
    Unable(Failure),
    /// The agent is running.
    Running,
    /// It has ended.
    Ended(CallEnd),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallEnd {
    TextReply { how: Interpretation, text: String },
    Value(Value),
    Failed(Failure),
}

/// A call in the reply of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ModelCall<'a> {
    Call(&'a ToolCall),
    /// A tool call by a model in command mode.
    Stray(&'a ToolCall),
    Command(&'a WrittenCommand),
}

impl<'a> ModelCall<'a> {
    /// Returns the name of the tool or the command line, as the model wrote it.
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Call(call) | Self::Stray(call) => &call.name,
            Self::Command(written) => &written.line,
        }
    }

    /// Returns the name of the tool, or of the skill of a command.
    pub(crate) fn first_word(self) -> &'a str {
        let first = self.name().split_whitespace().next().unwrap_or_default();
        first.trim_end_matches(':')
    }

    /// Whether both have the same name and arguments. Ids of calls always differ, so they are ignored.
    pub(crate) fn is_like(self, other: Self) -> bool {
        self.name() == other.name() && self.args() == other.args()
    }

    fn args(self) -> Option<&'a CallArgs> {
        match self {
            Self::Call(call) | Self::Stray(call) => Some(&call.args),
            Self::Command(_) => None,
        }
    }
}

impl Agent {
    pub(crate) fn new(address: Address, setup: &Setup) -> Self {
        Self {
            address,
            setup: Arc::new(setup.clone()),
            specs: setup.tools.iter().map(|offer| offer.spec.clone()).collect(),
            turns: Vec::new(),
            opened: Vec::new(),
            reminded_of_calls: false,
            reminded_to_speak: false,
            told_of_commands: false,
            steps_from: 0,
            watched_from: (0, 0),
            rejected_at: 0,
            ms: 0,
            finished: None,
        }
    }

    /// Whether the model may be asked once more.
    pub(crate) fn may_ask(&self) -> bool {
        self.turns.len() < self.steps_from + self.setup.limits.max_steps as usize
    }

    /// Returns the number of calls in its replies. A reply counts as a whole once its first call has begun.
    pub(crate) fn calls_made(&self) -> usize {
        let begun = self.turns.iter().filter(|turn| !turn.is_untouched());
        begun.map(|turn| turn.calls.len()).sum()
    }

    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.finished.as_ref()?.error.as_ref()
    }

    pub(crate) fn last_call(&mut self, call: usize) -> Option<&mut Call> {
        self.turns.last_mut()?.calls.get_mut(call)
    }

    /// Returns the names of successful calls, in order. A dispatched agent, or a text that a tool call asked
    /// for, counts by the name of the called tool; a page does not count as the command it describes.
    pub(crate) fn called_names(&self) -> impl Iterator<Item = &str> {
        let calls = self.turns.iter().flat_map(|turn| {
            let calls = turn.calls.iter().enumerate();
            calls.filter_map(|(index, call)| Some((turn.want(index, self.setup.mode)?, call)))
        });
        calls.flat_map(|(want, call)| self.names(want, call).into_iter().flatten())
    }

    fn names<'a>(&'a self, want: ModelCall<'a>, call: &'a Call) -> [Option<&'a str>; 2] {
        match (call.end(), &call.target, want) {
            (Some(CallEnd::Value(_)), Some(Target::Tool { tool, skill, .. }), _) => {
                [Some(tool), skill.as_deref()]
            }
            (Some(CallEnd::Value(_)), _, ModelCall::Command(_)) => [Some(want.first_word()), None],
            (Some(CallEnd::Value(_)), _, ModelCall::Call(call)) => [self.tool(&call.name), None],
            (Some(CallEnd::TextReply { how, .. }), _, ModelCall::Call(call))
                if *how == Interpretation::Text =>
            {
                [self.tool(&call.name), None]
            }
            _ => [None, None],
        }
    }

    /// Returns the name in the router of an offered tool.
    fn tool(&self, name: &str) -> Option<&str> {
        let offer = self.setup.tools.iter().find(|it| it.spec.name == name);
        offer.map(|offer| offer.tool.as_str())
    }

    /// Resumes the agent: see [`EventKind::Reopened`](crate::EventKind::Reopened). An agent that reached a
    /// limit gets a new allowance. Calls that have not ended are reset, so that they begin again.
    pub(crate) fn reopen(&mut self) {
        let finished = self.finished.take();
        let Some(turn) = self.turns.last_mut() else {
            return;
        };
        // A reply with more calls than a whole run may make is requested again, not carried out.
        let too_long = turn.calls.len() > self.setup.limits.max_calls as usize;
        let void = turn.is_void(finished.is_some()) || too_long;
        turn.calls.iter_mut().for_each(Call::rewind);
        let failure = finished.and_then(|finished| finished.error);
        if failure.is_some_and(|failure| failure.class == FailureClass::Limit) {
            let over = turn
                .calls
                .iter()
                .take_while(|call| call.has_ended())
                .count();
            self.watched_from = (self.turns.len() - 1, over);
            self.steps_from = self.turns.len();
        }
        if void {
            self.turns.pop();
        }
    }
}

impl Turn {
    pub(crate) fn new_request() -> Self {
        Self {
            state: TurnState::Asked,
            commands: Vec::new(),
            calls: Vec::new(),
            reminder: None,
        }
    }

    /// Whether no call of its reply has begun.
    pub(crate) fn is_untouched(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.all(|call| call.state == CallState::Pending)
    }

    pub(crate) fn reply(&self) -> Option<&ModelReply> {
        match &self.state {
            TurnState::Replied(reply) => Some(reply),
            TurnState::Asked | TurnState::NoReply(_) => None,
        }
    }

    /// Returns why its answer was rejected, if it was.
    pub(crate) fn rejection(&self) -> Option<&Failure> {
        self.reminder.as_ref()?.rejected.as_ref()
    }

    pub(crate) fn record_reply(&mut self, reply: &ModelReply, commands: &[WrittenCommand]) {
        self.calls = vec![Call::default(); commands.len() + reply.calls.len()];
        self.commands = commands.to_vec();
        self.state = TurnState::Replied(Box::new(reply.clone()));
    }

    pub(crate) fn want(&self, call: usize, mode: Mode) -> Option<ModelCall<'_>> {
        if let Some(written) = self.commands.get(call) {
            return Some(ModelCall::Command(written));
        }
        let call = self.reply()?.calls.get(call - self.commands.len())?;
        Some(match mode {
            Mode::Tools => ModelCall::Call(call),
            Mode::Cmd => ModelCall::Stray(call),
        })
    }

    /// Whether nothing of it is done again, even after a failure.
    pub(crate) fn is_final(&self) -> bool {
        let over = |call: &Call| call.has_ended() && call.fatal().is_none();
        !self.is_void(true) && self.calls.iter().all(over)
    }

    /// Whether the model gave nothing to continue with, so that it is asked again. This includes a refusal or
    /// an empty reply that ended the agent.
    fn is_void(&self, ended: bool) -> bool {
        match &self.state {
            TurnState::Asked | TurnState::NoReply(_) => true,
            TurnState::Replied(reply) => {
                let said_nothing = self.calls.is_empty() && self.reminder.is_none();
                ended && (reply.stop == StopReason::Refused || said_nothing)
            }
        }
    }
}

impl Call {
    pub(crate) fn end(&self) -> Option<&CallEnd> {
        match &self.state {
            CallState::Ended(end) => Some(end),
            CallState::Pending
            | CallState::Asking { .. }
            | CallState::Answered { .. }
            | CallState::Retry
            | CallState::Calling
            | CallState::Preparing
            | CallState::Unable(_)
            | CallState::Running => None,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end().is_some()
    }

    /// Whether it is being performed.
    pub(crate) fn is_busy(&self) -> bool {
        match self.state {
            CallState::Asking { .. }
            | CallState::Calling
            | CallState::Preparing
            | CallState::Unable(_)
            | CallState::Running => true,
            CallState::Pending
            | CallState::Answered { .. }
            | CallState::Retry
            | CallState::Ended(_) => false,
        }
    }

    /// Returns a failure that ends the agent: nothing was tried, or it is unknown whether the call took
    /// effect.
    pub(crate) fn fatal(&self) -> Option<&Failure> {
        let Some(CallEnd::Failed(failure)) = self.end() else {
            return None;
        };
        let repeatable = match &self.target {
            Some(Target::Tool { effects, .. }) => *effects != Effects::Once,
            Some(Target::Dispatch(_)) | None => false,
        };
        (failure.blocked || failure.in_doubt && !repeatable).then_some(failure)
    }

    /// Resets a call for a resumption. A failure that ended the agent is dropped. A call that was in flight
    /// when the agent ended begins again, unless it must not be repeated: then it is in doubt.
    fn rewind(&mut self) {
        let next = match (&self.state, &self.target) {
            (CallState::Ended(_), _) if self.fatal().is_some() => CallState::Retry,
            (CallState::Calling, Some(Target::Tool { tool, effects, .. }))
                if *effects == Effects::Once =>
            {
                CallState::Ended(CallEnd::Failed(words::cut_off(tool)))
            }
            (CallState::Calling | CallState::Preparing, _) => CallState::Retry,
            (CallState::Asking { .. }, _) => {
                self.target = None;
                CallState::Pending
            }
            (
                CallState::Pending
                | CallState::Answered { .. }
                | CallState::Retry
                | CallState::Unable(_)
                | CallState::Running
                | CallState::Ended(_),
                _,
            ) => return,
        };
        self.state = next;
    }
}

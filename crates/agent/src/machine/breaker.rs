//! The loop breaker: it detects an agent that repeats the same call, or the same few calls in turn, always
//! with the same results.
//!
//! Refused and invalid calls count like others, because a model that insists on them is in a loop too.
//! Results are compared too: polling for something that never becomes ready trips the breaker, reading a file
//! that changes does not. Not here: limits of steps.

use deft_model::{Failure, FailureClass};

use super::state::{Agent, CallEnd, ModelCall, Target};
use super::words;

/// Maximum length of a detected loop, in calls.
const MAX_LOOP_CALLS: usize = 4;

/// A call that has ended.
#[derive(Clone, Copy)]
pub(super) struct EndedCall<'a> {
    pub want: ModelCall<'a>,
    pub target: Option<&'a Target>,
    pub end: &'a CallEnd,
}

/// Returns the failure that ends the agent if its latest calls are a loop.
pub(super) fn detect_loop(agent: &Agent) -> Option<Failure> {
    // A single call is no loop.
    let repeats = match agent.setup.limits.repeats as usize {
        0 => return None,
        repeats => repeats.max(2),
    };
    let latest: Vec<EndedCall<'_>> = latest(agent).take(repeats * MAX_LOOP_CALLS).collect();
    let length = (1..=MAX_LOOP_CALLS).find(|length| is_circle(&latest, *length, repeats))?;
    let names: Vec<String> = latest[..length].iter().rev().map(words::call).collect();
    let message = match names.as_slice() {
        [name] => format!("the call `{name}` was made {repeats} times with the same result"),
        names => format!(
            "the calls `{}` were made in turn {repeats} times with the same results",
            names.join("`, `")
        ),
    };
    let failure = Failure::new(FailureClass::Limit, message);
    Some(failure.hint(
        "in the instructions, say what to do when a call returns the same result \
         again",
    ))
}

/// Returns the calls that ended since watching began, the latest first.
fn latest(agent: &Agent) -> impl Iterator<Item = EndedCall<'_>> {
    let mode = agent.setup.mode;
    let turns = agent.turns.iter().enumerate().rev();
    let calls = turns.flat_map(move |(number, turn)| {
        let calls = turn.calls.iter().enumerate().rev();
        calls.filter_map(move |(index, call)| {
            let ended = EndedCall {
                want: turn.want(index, mode)?,
                target: call.target.as_ref(),
                end: call.end()?,
            };
            Some(((number, index), ended))
        })
    });
    let watched = calls.take_while(|(place, _)| *place >= agent.watched_from);
    watched.map(|(_, made)| made)
}

/// Whether the latest calls repeat a sequence of this length this many times.
fn is_circle(latest: &[EndedCall<'_>], length: usize, repeats: usize) -> bool {
    let all = length * repeats;
    latest.len() >= all && (length..all).all(|at| latest[at].is_like(latest[at % length]))
}

impl EndedCall<'_> {
    fn is_like(self, other: Self) -> bool {
        let same = match (self.target, other.target) {
            (Some(one), Some(two)) => one == two,
            (None, None) => self.want.is_like(other.want),
            _ => false,
        };
        same && self.end == other.end
    }
}

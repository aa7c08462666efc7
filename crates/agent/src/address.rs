//! Addresses: which agent of a step an event or a request belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The address of an agent in a step: empty for the step's own agent, `3.1` for the agent that call 1 of turn
/// 3 dispatched, `3.1/2.0` for an agent below that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// Returns the address of the step's own agent.
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns the address of the agent that a call of this one dispatches.
    #[must_use]
    pub fn child(&self, turn: u32, call: u32) -> Self {
        match self.0.as_str() {
            "" => Self(format!("{turn}.{call}")),
            above => Self(format!("{above}/{turn}.{call}")),
        }
    }

    /// Returns the agent that dispatched this one, with turn and call; `None` for the step's own agent.
    pub fn parent(&self) -> Option<(Self, u32, u32)> {
        let (above, last) = self.0.rsplit_once('/').unwrap_or(("", &self.0));
        let (turn, call) = last.split_once('.')?;
        Some((
            Self(above.to_owned()),
            turn.parse().ok()?,
            call.parse().ok()?,
        ))
    }

    /// Returns the turn of the step's own agent in which this agent, or the first one above it, was
    /// dispatched.
    pub(crate) fn first_turn(&self) -> Option<u32> {
        self.0.split_once('.')?.0.parse().ok()
    }

    /// Returns the number of agents above it.
    pub fn depth(&self) -> usize {
        match self.0.as_str() {
            "" => 0,
            text => text.split('/').count(),
        }
    }

    /// Whether it is the step's own agent.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

//! Which agent of a step an event or a request belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which agent of a step: empty for the step's own, `3.1` for the one that call 1 of turn 3 sent
/// out, `3.1/2.0` for one below that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// The agent of the step itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The agent that a call of this one sends out.
    #[must_use]
    pub fn child(&self, turn: u32, call: u32) -> Self {
        match self.0.as_str() {
            "" => Self(format!("{turn}.{call}")),
            above => Self(format!("{above}/{turn}.{call}")),
        }
    }

    /// The agent that sent this one out, with turn and call.
    pub fn parent(&self) -> Option<(Self, u32, u32)> {
        let (above, last) = self.0.rsplit_once('/').unwrap_or(("", &self.0));
        let (turn, call) = last.split_once('.')?;
        Some((
            Self(above.to_owned()),
            turn.parse().ok()?,
            call.parse().ok()?,
        ))
    }

    /// The turn of the step's own agent in which it, or the first above it, was sent out.
    pub(crate) fn first_turn(&self) -> Option<u32> {
        self.0.split_once('.')?.0.parse().ok()
    }

    /// How many agents are above it.
    pub fn depth(&self) -> usize {
        match self.0.as_str() {
            "" => 0,
            text => text.split('/').count(),
        }
    }

    /// True for the agent of the step itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

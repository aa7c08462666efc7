//! Facts outside the machine that its decisions depend on.

use deft_model::{Authority, Effects, Failure, Object};

/// Facts outside the machine that its decisions depend on.
pub trait Facts {
    /// Returns what repeating a call of `tool` would do, if the tool declares it.
    fn effects(&self, tool: &str, args: &Object) -> Option<Effects>;

    /// Returns whether a tool may be called with the rights of an agent. Arguments that are known only for
    /// each item of a loop are absent.
    fn permit(&self, authority: &Authority, tool: &str, args: Option<&Object>) -> Permit;
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq)]
pub enum Permit {
    /// It may be made.
    Free,
    /// It may be made once a person has agreed to this question.
    Ask(String),
    /// It may not be made.
    Denied(Failure),
}

//! What a machine has to be told about the world.

use deft_model::{Authority, Effects, Failure, Object};

/// What a machine has to be told about the world before it decides.
pub trait Facts {
    /// What repeating a call of a tool would do, as far as the tool says.
    fn effects(&self, tool: &str, args: &Object) -> Option<Effects>;

    /// Whether a tool may be called on the authority of an agent. Arguments that are only known for
    /// each item of a loop are absent.
    fn permit(&self, authority: &Authority, tool: &str, args: Option<&Object>) -> Permit;
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq)]
pub enum Permit {
    /// It may.
    Free,
    /// It may once a person has agreed to this question.
    Ask(String),
    /// It may not.
    Denied(Failure),
}

//! Conversion of engine errors to failures for people and programs.

use deft_model::{Choice, ProblemCode};
use deft_wire::Failure;

use crate::store;

/// Converts an engine error to a failure with a code, a message and a hint.
pub fn failure(error: &deft_engine::Error) -> Failure {
    use deft_engine::Error;
    let code = match error {
        Error::UnknownSkill { .. } | Error::DeletedSkill { .. } => "unknown_skill",
        Error::BrokenSkill { .. } | Error::Plan { .. } => "broken_skill",
        Error::UnknownAgent { .. } => "unknown_agent",
        Error::UnknownConversation { .. } => "unknown_conversation",
        Error::Agent(_) => "agent",
        Error::KeyTaken { .. } => "key_taken",
        Error::Refused(_) => "refused",
        Error::NameTaken { .. } => "name_taken",
        Error::NotARecord { .. } => "not_a_record",
        Error::NotEnabled { .. } => "not_enabled",
        Error::Inputs(_) => "invalid_input",
        Error::Flags(_) => error
            .problem_code()
            .map_or("invalid_input", ProblemCode::word),
        Error::UnknownRun { .. } => "unknown_run",
        Error::AmbiguousRun { .. } => "ambiguous",
        Error::UnknownStep { .. } => "unknown_step",
        Error::NotResumable { .. } => "not_resumable",
        Error::Store(problem) => return store::failure(problem),
        Error::Pattern { .. } => "invalid_pattern",
        Error::NotExact { .. } => "not_exact",
        Error::NoTarget => "no_target",
        Error::SlotAlreadyHandled { .. } => "slot_gone",
        Error::Heal { .. } => "config",
        Error::Owner { .. } => "file",
        // Data stored by deft itself can no longer be used.
        Error::Replay { .. }
        | Error::RevisionLost { .. }
        | Error::Unreadable { .. }
        | Error::Unstorable { .. } => {
            return Failure::internal("engine", error.to_string()).maybe_hint(error.hint());
        }
    };
    Failure::input(code, error.to_string()).maybe_hint(error.hint())
}

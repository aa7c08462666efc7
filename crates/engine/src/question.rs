//! Questions of runs to people, as values.

use deft_model::{Digest, RunId};
use deft_store::NewApproval;
use deft_wire::approval::ApprovalAnswer;
use deft_workflow::{Ask, Operation, Path};
use jiff::Timestamp;

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The id of the approval.
    pub approval: String,
    /// The run that waits.
    pub run: RunId,
    /// The step.
    pub path: Path,
    /// The text.
    pub message: String,
    /// The preselected answer.
    pub default: bool,
    /// The operation to approve.
    pub operation: Operation,
}

/// Returns the id of a question at a step. It stays the same after a crash.
fn approval_id(run: &RunId, path: &Path, nth: u32) -> String {
    let text = format!("{run}\n{path}\n{nth}");
    format!("apr_{}", &Digest::sha256(text.as_bytes()).to_string()[..12])
}

/// Returns the question that an action asks; `None` for other actions. `nth` is the number of times the run
/// has ended, so that a resumed run asks again.
pub(crate) fn question(run: &RunId, nth: u32, action: &Ask) -> Option<Question> {
    let Ask::Question {
        path,
        message,
        default,
        operation,
    } = action
    else {
        return None;
    };
    let mut question = question_at(run, nth, path.clone(), message.clone(), operation);
    question.default = *default;
    Some(question)
}

/// Returns a question at a step of a run.
pub(crate) fn question_at(
    run: &RunId,
    nth: u32,
    path: Path,
    message: String,
    operation: &Operation,
) -> Question {
    Question {
        approval: approval_id(run, &path, nth),
        run: run.clone(),
        path,
        message: deft_workflow::mask(&message).unwrap_or(message),
        default: false,
        operation: mask_secrets(operation),
    }
}

/// Returns the operation with secrets replaced by their names, for people and for grants.
fn mask_secrets(operation: &Operation) -> Operation {
    let mut operation = operation.clone();
    if let Some(args) = &mut operation.args {
        deft_workflow::mask_value(args);
    }
    operation
}

pub(crate) fn approval(question: &Question, at: Timestamp) -> NewApproval {
    NewApproval {
        id: question.approval.clone(),
        path: question.path.to_string(),
        message: question.message.clone(),
        options: serde_json::to_string(&ApprovalAnswer::ALL).unwrap_or_default(),
        operation: serde_json::to_string(&question.operation).unwrap_or_default(),
        at,
    }
}

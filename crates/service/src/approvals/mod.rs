//! Approvals: questions to a person, and their answers.

mod grants;

pub use grants::{grants, revoke};

use std::cmp::Reverse;

use deft_engine::AnswerReceipt;
use deft_model::Object;
use deft_store::ApprovalRow;
use deft_wire::approval::{ApprovalAnswer, ApprovalView};
use deft_wire::{Done, Failure};
use deft_workflow::Answer;
use serde_json::Value;

use crate::app::{self, App};
use crate::ids::{IdKind, LAST};
use crate::shape::read_stored;
use crate::store;

/// Lists the pending questions, and also the answered ones if `also_answered` is set.
pub fn list(app: &App, also_answered: bool) -> Done<Vec<ApprovalView>> {
    rows(app, also_answered)?.iter().map(view).collect()
}

/// Returns the question that `id` names: an id or a prefix of one, the run that asks, or `last`.
pub fn show(app: &App, id: &str) -> Done<ApprovalView> {
    view(&find(app, id)?)
}

/// Answers the question that `id` names. With `always`, a yes also approves later calls of the same
/// operation. `by` is recorded as the person who answered.
pub fn answer(
    app: &App,
    id: &str,
    answer: ApprovalAnswer,
    always: bool,
    by: &str,
) -> Done<ApprovalView> {
    let row = find(app, id)?;
    let answer = match answer {
        ApprovalAnswer::Yes => Answer::Yes,
        ApprovalAnswer::No => Answer::No,
        ApprovalAnswer::Skip => Answer::Skip,
    };
    accept_answer(
        id,
        app.block_on(app.engine.answer(&row, answer, by, always)),
    )
}

/// The values of an argument that later calls may have: an exact value, or a text with `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentPattern {
    /// The name of the argument.
    pub name: String,
    /// The pattern as it was typed.
    pub allowed: String,
}

/// Answers yes and approves later calls that differ only as `patterns` allow.
pub fn allow(app: &App, id: &str, patterns: &[ArgumentPattern], by: &str) -> Done<ApprovalView> {
    let row = find(app, id)?;
    let operation = view(&row)?.operation;
    let mut pattern = Object::new();
    for ArgumentPattern { name, allowed } in patterns {
        // A number in the call must be a number in the pattern.
        let given = operation.args.as_ref().and_then(|args| args.get(name));
        let is_text = given.is_some_and(Value::is_string);
        let read = serde_json::from_str(allowed).ok().filter(|_| !is_text);
        let read = read.unwrap_or_else(|| Value::String(allowed.clone()));
        pattern.insert(name.clone(), read);
    }
    accept_answer(id, app.block_on(app.engine.allow_like(&row, by, &pattern)))
}

/// Returns the answered question. Fails if it was already answered or no longer exists.
fn accept_answer(
    id: &str,
    answered: Result<AnswerReceipt, deft_engine::Error>,
) -> Done<ApprovalView> {
    match answered.map_err(|error| app::failure(&error))? {
        AnswerReceipt::Accepted(row) => view(&row),
        AnswerReceipt::Already(row) => {
            let by = row.decision.as_ref();
            let by = by.map_or(String::new(), |made| format!(" by {}", made.by));
            let message = format!("`{}` was already answered{by}", row.asked.id);
            let hint = format!("`deft runs show {}` shows the run", row.run);
            Err(Failure::input("already_answered", message).hint(hint))
        }
        AnswerReceipt::Gone => Err(IdKind::Question.unknown(id)),
    }
}

fn rows(app: &App, also_answered: bool) -> Done<Vec<ApprovalRow>> {
    let rows = app.block_on(app.engine.store().approvals(also_answered));
    rows.map_err(|error| store::failure(&error))
}

/// Finds the question that `id` names: its id or a prefix of it, the id of the run that asks, or `last` for
/// the newest pending question.
fn find(app: &App, id: &str) -> Done<ApprovalRow> {
    let mut rows = rows(app, id != LAST)?;
    rows.sort_by_key(|row| Reverse(row.asked.at));
    // A run asks one question at a time.
    let asks = |row: &ApprovalRow| row.run.as_str() == id && row.decision.is_none();
    if let Some(at) = rows.iter().position(asks) {
        return Ok(rows.swap_remove(at));
    }
    let about = |row: &ApprovalRow| format!("{}: {}", row.skill, row.asked.message);
    IdKind::Question.pick(id, rows, |row| (row.asked.id.clone(), about(row)))
}

fn view(row: &ApprovalRow) -> Done<ApprovalView> {
    let what = format!("approval `{}`", row.asked.id);
    let decision = row.decision.as_ref();
    Ok(ApprovalView {
        id: row.asked.id.clone(),
        run: row.run.clone(),
        skill: row.skill.clone(),
        revision: row.revision.clone(),
        step_id: row.asked.path.clone(),
        message: row.asked.message.clone(),
        options: read_stored(&what, &row.asked.options)?,
        operation: read_stored(&what, &row.asked.operation)?,
        asked_at: row.asked.at,
        answer: decision.map(|made| made.answer.clone()),
        by: decision.map(|made| made.by.clone()),
        answered_at: decision.map(|made| made.at),
    })
}

//! `deft approvals …`: questions that wait for an answer.

use std::process::ExitCode;

use deft_engine::AnswerReceipt;
use deft_store::ApprovalRow;
use deft_workflow::{Answer, Operation};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::args::{Approvals, Global};
use crate::commands::up::Lock;
use crate::failure::{Done, Failure};
use crate::output::{Fit, Output, local, table_of};

mod grants;

/// Who answers, as the record says.
const BY: &str = "deft approvals";

pub(crate) fn run(command: &Approvals, global: &Global, output: &Output) -> Done {
    let app = match command {
        Approvals::List { .. } | Approvals::Grants => App::to_read(global)?,
        _ => App::without_skills(global)?,
    };
    match command {
        Approvals::List { all } => list(&app, *all, output),
        Approvals::Approve { id, always, allow } if allow.is_empty() => {
            answer(&app, id, Answer::Yes, *always, output)
        }
        Approvals::Approve { id, allow, .. } => grants::allow(&app, id, allow, output),
        Approvals::Reject { id, skip } => {
            let answer_given = if *skip { Answer::Skip } else { Answer::No };
            answer(&app, id, answer_given, false, output)
        }
        Approvals::Grants => grants::list(&app, output),
        Approvals::Revoke { id } => grants::revoke(&app, id, output),
    }
}

fn list(app: &App, all: bool, output: &Output) -> Done {
    let rows = app.block_on(app.engine.store().approvals(all));
    let rows = rows.map_err(|error| app::store(&error))?;
    if output.json {
        let shown: Vec<Value> = rows.iter().map(shown).collect();
        output.document(&json!({ "approvals": shown }))?;
    } else if rows.is_empty() {
        output.note("nothing waits for an answer");
    } else {
        let mut lines = vec![
            ["id", "run", "skill", "step", "asked", "question", "answer"]
                .map(str::to_owned)
                .to_vec(),
        ];
        lines.extend(rows.iter().map(|row| line(row, &app.zone)));
        let fits = [Fit::Id, Fit::Id, Fit::Cut, Fit::Cut, Fit::Keep];
        output.data(table_of(&lines, &fits, output.width()))?;
        output.note("hint: `deft approvals approve ID` or `deft approvals reject ID`");
    }
    Ok(ExitCode::SUCCESS)
}

fn line(row: &ApprovalRow, zone: &TimeZone) -> Vec<String> {
    let decision = row.decision.as_ref();
    vec![
        row.asked.id.clone(),
        row.run.to_string(),
        row.skill.clone(),
        row.asked.path.clone(),
        local(row.asked.at, zone),
        row.asked.message.replace('\n', " "),
        decision.map_or(String::new(), |made| {
            format!("{} by {}", made.answer, made.by)
        }),
    ]
}

fn shown(row: &ApprovalRow) -> Value {
    let text = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    json!({
        "id": row.asked.id,
        "run": row.run.as_str(),
        "skill": row.skill,
        "revision": row.revision,
        "step_id": row.asked.path,
        "message": row.asked.message,
        "options": text(&row.asked.options),
        "operation": text(&row.asked.operation),
        "asked_at": row.asked.at.to_string(),
        "answer": row.decision.as_ref().map(|made| made.answer.clone()),
        "by": row.decision.as_ref().map(|made| made.by.clone()),
        "answered_at": row.decision.as_ref().map(|made| made.at.to_string()),
    })
}

fn answer(app: &App, id: &str, given: Answer, always: bool, output: &Output) -> Done {
    let row = find(app, id)?;
    let answered = app.block_on(app.engine.answer(&row, given, BY, always));
    tell(app, id, answered, always, output)
}

/// Says what became of an answer.
fn tell(
    app: &App,
    id: &str,
    answered: Result<AnswerReceipt, deft_engine::Error>,
    always: bool,
    output: &Output,
) -> Done {
    let answered = answered.map_err(|error| app::failure(&error))?;
    let (row, said) = match answered {
        AnswerReceipt::Accepted(row) => (row, "the answer counts"),
        AnswerReceipt::Already(row) => {
            let by = row
                .decision
                .as_ref()
                .map_or("somebody", |made| made.by.as_str());
            let message = format!("`{}` was answered already by {by}", row.asked.id);
            let hint = format!("`deft runs show {}` says what became of it", row.run);
            return Err(Failure::input("already_answered", message).hint(hint));
        }
        AnswerReceipt::Gone => {
            return Err(unknown(id));
        }
    };
    if output.json {
        output.document(&json!({ "approval": shown(&row) }))?;
    } else {
        let next = match Lock::holder(app.home()) {
            Some(_) => "`deft up` goes on from there".to_owned(),
            None => format!("`deft runs resume {}` goes on from there", row.run),
        };
        output.note(&format!("{said}: {next}"));
        if always {
            let operation: Operation =
                serde_json::from_str(&row.asked.operation).unwrap_or_default();
            output.note(&match operation.remember {
                Some(mark) => format!("chats will not ask again before they call `{}`", mark.tool),
                None => "it will not be asked again for this revision and operation".to_owned(),
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The question that an id, or the beginning of one, means.
fn find(app: &App, id: &str) -> Done<ApprovalRow> {
    let rows = app.block_on(app.engine.store().approvals(true));
    let rows = rows.map_err(|error| app::store(&error))?;
    let mut found = rows.into_iter().filter(|row| row.asked.id.starts_with(id));
    let Some(row) = found.next() else {
        return Err(unknown(id));
    };
    match found.next() {
        Some(_) => Err(
            Failure::input("ambiguous", format!("`{id}` fits several questions"))
                .hint("give more of the id"),
        ),
        None => Ok(row),
    }
}

fn unknown(id: &str) -> Failure {
    Failure::input("unknown_approval", format!("there is no question `{id}`"))
        .hint("`deft approvals list` shows what waits")
}

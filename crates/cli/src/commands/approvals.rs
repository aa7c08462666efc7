//! `deft approvals …`: pending approvals.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::args::{Approvals, Global};
use crate::failure::Done;
use crate::output::Output;
use crate::question_text::question_lines;
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::when;
use deft_service::Lock;
use deft_service::{App, approvals};
use deft_wire::approval::{ApprovalAnswer, ApprovalDocument, ApprovalList, ApprovalView};

mod grants;

/// The name stored as the author of an answer.
const BY: &str = "deft approvals";

pub(crate) fn run(command: &Approvals, global: &Global, output: &Output) -> Done {
    let app = match command {
        Approvals::List { .. } | Approvals::Grants => App::to_read(&global.workspace())?,
        Approvals::Approve { .. } | Approvals::Revoke { .. } | Approvals::Reject { .. } => {
            App::without_skills(&global.workspace())?
        }
    };
    match command {
        Approvals::List { all } => list(&app, *all, output),
        Approvals::Approve { id, always, allow } if allow.is_empty() => {
            let answered = approvals::answer(&app, id, ApprovalAnswer::Yes, *always, BY)?;
            say_answered(&app, answered, *always, output)
        }
        Approvals::Approve { id, allow, .. } => {
            let patterns = grants::patterns(allow)?;
            let answered = approvals::allow(&app, id, &patterns, BY)?;
            say_answered(&app, answered, true, output)
        }
        Approvals::Reject { id, skip } => {
            let answer = if *skip {
                ApprovalAnswer::Skip
            } else {
                ApprovalAnswer::No
            };
            let answered = approvals::answer(&app, id, answer, false, BY)?;
            say_answered(&app, answered, false, output)
        }
        Approvals::Grants => grants::list(&app, output),
        Approvals::Revoke { id } => grants::revoke(&app, id, output),
    }
}

fn list(app: &App, all: bool, output: &Output) -> Done {
    let approvals = approvals::list(app, all)?;
    if output.json {
        output.document(&json!(ApprovalList { approvals }))?;
    } else if approvals.is_empty() {
        output.note("no pending approvals");
    } else {
        output.page();
        let columns = [
            Column::id("id"),
            Column::keep("skill"),
            Column::keep("asked"),
            Column::keep("answer"),
            Column::extra("step"),
            Column::extra("run"),
        ];
        let rows = approvals.iter().map(|approval| row(approval, &app.zone));
        output.table(&Table::new(columns, rows))?;
        output.note("hint: `deft approvals approve ID` or `deft approvals reject ID`");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(approval: &ApprovalView, zone: &TimeZone) -> Row {
    let decision = approval.answer.as_ref().zip(approval.by.as_ref());
    let decision = decision.map_or(String::new(), |(answer, by)| format!("{answer} by {by}"));
    let cells = [
        approval.id.as_str().into(),
        approval.skill.as_str().into(),
        when::short(approval.asked_at, Timestamp::now(), zone).into(),
        decision.into(),
        approval.step_id.as_str().into(),
        approval.run.to_string().into(),
    ];
    let (question, call) = question_lines(approval);
    Row::new(cells)
        .with_below(Some(question))
        .line_below(call.map(|call| Cell::with_tone(call, Tone::Dim)))
}

/// Prints the answered approval and what continues the run.
fn say_answered(app: &App, approval: ApprovalView, always: bool, output: &Output) -> Done {
    if output.json {
        output.document(&json!(ApprovalDocument { approval }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let next = match Lock::holder(app.home()) {
        Some(_) => "the daemon continues the run".to_owned(),
        None => format!("`deft runs resume {}` continues the run", approval.run),
    };
    output.note(&format!("answered; {next}"));
    if always {
        output.note(&match approval.operation.remember {
            Some(mark) => format!("chats will not ask again before they call `{}`", mark.tool),
            None => "deft will not ask again for this operation of this revision".to_owned(),
        });
    }
    Ok(ExitCode::SUCCESS)
}

//! `deft approvals grants` and `deft approvals revoke`: standing approvals.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::table::{Column, Row, Table};
use crate::when;
use deft_service::App;
use deft_service::approvals::{self, ArgumentPattern};
use deft_wire::approval::{GrantList, GrantRevoked, GrantView};

pub(super) fn list(app: &App, output: &Output) -> Done {
    let grants = approvals::grants(app)?;
    if output.json {
        output.document(&json!(GrantList { grants }))?;
    } else if grants.is_empty() {
        output.note("no standing approvals; `deft approvals approve ID --always` creates one");
    } else {
        let columns = [
            Column::keep("id"),
            Column::keep("skill"),
            Column::keep("given"),
            Column::text("what"),
            Column::extra("by"),
            Column::extra("revision"),
        ];
        let rows = grants.iter().map(|grant| row(grant, &app.zone));
        output.table(&Table::new(columns, rows))?;
        output.note("hint: `deft approvals revoke ID` revokes one");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn revoke(app: &App, id: &str, output: &Output) -> Done {
    let grant = approvals::revoke(app, id)?;
    if output.json {
        let document = GrantRevoked {
            grant,
            revoked: true,
        };
        output.document(&json!(document))?;
    } else {
        output.note(&format!(
            "revoked `{}`: {} ({})",
            grant.id,
            asks_again(&grant),
            grant.describes
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn asks_again(grant: &GrantView) -> String {
    match (&grant.tool, &grant.skill) {
        (Some(tool), _) => format!("chats ask again before they call `{tool}`"),
        (None, skill) => format!("`{}` asks again", skill.as_deref().unwrap_or_default()),
    }
}

/// Parses the values of `--allow NAME=PATTERN`.
pub(super) fn patterns(texts: &[String]) -> Done<Vec<ArgumentPattern>> {
    let pattern = |text: &String| {
        let (name, allowed) = text.split_once('=').ok_or_else(|| unreadable(text))?;
        Ok(ArgumentPattern {
            name: name.to_owned(),
            allowed: allowed.to_owned(),
        })
    };
    texts.iter().map(pattern).collect()
}

fn unreadable(text: &str) -> Failure {
    let message = format!("`{text}` is not of the form `ARGUMENT=PATTERN`");
    Failure::input("invalid_input", message).hint("write `--allow 'to=*@example.com'`")
}

fn row(grant: &GrantView, zone: &TimeZone) -> Row {
    let revision = &grant.revision;
    let what = match &grant.pattern {
        Some(pattern) => format!("{} (also {})", grant.describes, json!(pattern)),
        None => grant.describes.clone(),
    };
    Row::new([
        grant.id.as_str().into(),
        grant.skill.as_deref().unwrap_or("(any)").into(),
        when::short(grant.granted_at, Timestamp::now(), zone).into(),
        what.into(),
        grant.by.as_str().into(),
        revision.get(..12).unwrap_or(revision).into(),
    ])
}

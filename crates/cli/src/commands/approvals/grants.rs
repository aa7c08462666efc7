//! `deft approvals grants` and `deft approvals revoke`: answers that stand.

use std::process::ExitCode;

use deft_model::Object;
use deft_store::Grant;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::failure::{Done, Failure};
use crate::output::{Output, local, table};
use deft_service::app::{self, App};

pub(super) fn list(app: &App, output: &Output) -> Done {
    let grants = all(app)?;
    if output.json {
        let shown: Vec<Value> = grants.iter().map(shown).collect();
        output.document(&json!({ "grants": shown }))?;
    } else if grants.is_empty() {
        output.note("no answer stands; `deft approvals approve ID --always` makes one that does");
    } else {
        let header = ["id", "skill", "revision", "given", "by", "what"];
        let mut lines = vec![header.map(str::to_owned).to_vec()];
        lines.extend(grants.iter().map(|grant| line(grant, &app.zone)));
        output.data(table(&lines, output.width()))?;
        output.note("hint: `deft approvals revoke ID` takes one back");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn revoke(app: &App, id: &str, output: &Output) -> Done {
    let grant = find(app, id)?;
    let revoked = app.block_on(app.engine.store().revoke(&grant.id));
    if !revoked.map_err(|error| app::store(&error))? {
        // Somebody else was quicker.
        return Err(unknown(id));
    }
    if output.json {
        output.document(&json!({ "grant": shown(&grant), "revoked": true }))?;
    } else {
        output.note(&format!(
            "`{}` is taken back: {} ({})",
            grant.id,
            asks_again(&grant),
            grant.describes
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn asks_again(grant: &Grant) -> String {
    match grant.tool() {
        Some(tool) => format!("chats ask again before they call `{tool}`"),
        None => format!("`{}` asks again", grant.skill),
    }
}

/// Says yes for good, also to calls that differ as the patterns say.
pub(super) fn allow(app: &App, id: &str, patterns: &[String], output: &Output) -> Done {
    let row = super::find(app, id)?;
    let operation: Value = serde_json::from_str(&row.asked.operation).unwrap_or_default();
    let mut pattern = Object::new();
    for text in patterns {
        let (name, allowed) = text.split_once('=').ok_or_else(|| unreadable(text))?;
        // A number in the call is a number in the pattern.
        let is_text = operation["args"][name].is_string();
        let read = serde_json::from_str(allowed).ok().filter(|_| !is_text);
        let read = read.unwrap_or_else(|| Value::String(allowed.to_owned()));
        pattern.insert(name.to_owned(), read);
    }
    let answered = app.block_on(app.engine.allow_like(&row, super::BY, &pattern));
    super::tell(app, id, answered, true, output)
}

fn unreadable(text: &str) -> Failure {
    let message = format!("`{text}` is no pattern for an argument");
    Failure::input("invalid_input", message).hint("write `--allow 'to=*@example.com'`")
}

fn all(app: &App) -> Done<Vec<Grant>> {
    let grants = app.block_on(app.engine.store().all_grants());
    grants.map_err(|error| app::store(&error))
}

/// The grant that an id, or the beginning of one, means.
fn find(app: &App, id: &str) -> Done<Grant> {
    let mut found = all(app)?
        .into_iter()
        .filter(|grant| grant.id.starts_with(id));
    let grant = found.next().ok_or_else(|| unknown(id))?;
    match found.next() {
        Some(_) => Err(
            Failure::input("ambiguous", format!("`{id}` fits several grants"))
                .hint("give more of the id"),
        ),
        None => Ok(grant),
    }
}

fn unknown(id: &str) -> Failure {
    Failure::input("unknown_grant", format!("there is no grant `{id}`"))
        .hint("`deft approvals grants` lists them")
}

fn line(grant: &Grant, zone: &TimeZone) -> Vec<String> {
    vec![
        grant.id.clone(),
        match grant.tool() {
            Some(_) => "(any)".to_owned(),
            None => grant.skill.clone(),
        },
        grant
            .revision
            .get(..12)
            .unwrap_or(&grant.revision)
            .to_owned(),
        local(grant.at, zone),
        grant.by.clone(),
        match &grant.pattern {
            Some(pattern) => format!("{} (also {pattern})", grant.describes),
            None => grant.describes.clone(),
        }
        .replace('\n', " "),
    ]
}

fn read(pattern: &str) -> Option<Value> {
    serde_json::from_str(pattern).ok()
}

fn shown(grant: &Grant) -> Value {
    json!({
        "id": grant.id,
        "skill": grant.tool().is_none().then_some(&grant.skill),
        "tool": grant.tool(),
        "revision": grant.revision,
        "operation": grant.operation,
        "pattern": grant.pattern.as_deref().and_then(read),
        "describes": grant.describes,
        "by": grant.by,
        "granted_at": grant.at.to_string(),
    })
}

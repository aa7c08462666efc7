//! A person's yes to all calls of a tool in chats: shown with the tool, and taken back.

use std::process::ExitCode;

use deft_engine::allows_tool;
use deft_store::{Grant, Store};
use deft_tools::ToolInfo;
use serde_json::{Value, json};

use crate::failure::{Done, Failure};
use crate::output::{Output, local};
use deft_config::Home;
use deft_service::app;

/// The grant for all calls of a tool, if a person gave one, also if the tool has changed since.
pub(super) async fn find(store: &dyn Store, tool: &ToolInfo) -> Option<Grant> {
    let full = tool.full_name();
    let grants = store.all_grants().await.ok()?;
    let mut for_tool = grants.into_iter().filter(|it| it.tool() == Some(&full));
    // One that still holds counts before one for the tool as it was.
    let first = for_tool.next()?;
    if allows_tool(&first, tool) {
        return Some(first);
    }
    Some(for_tool.find(|it| allows_tool(it, tool)).unwrap_or(first))
}

/// What a chat does before it calls a tool, in words; nothing if it never asks.
pub(super) fn line(tool: &ToolInfo, grant: Option<&Grant>, home: &Home) -> Option<String> {
    let name = &tool.shown;
    match grant {
        _ if !tool.annotations.leaves_open() => None,
        Some(grant) if allows_tool(grant, tool) => Some(format!(
            "always, since {} by {} (`deft tools forget {name}` takes it back)",
            local(grant.at, &home.moment().zone),
            grant.by
        )),
        Some(_) => Some("asked about in chats: it has changed since you said always".to_owned()),
        None => Some(
            "asked about in chats: its server does not say whether it changes or deletes something"
                .to_owned(),
        ),
    }
}

/// The same for programs.
pub(super) fn document(tool: &ToolInfo, grant: Option<&Grant>) -> Value {
    let holds = grant.filter(|grant| allows_tool(grant, tool));
    json!({
        "asked_in_chats": tool.annotations.leaves_open() && holds.is_none(),
        "always": holds.map(|grant| json!({
            "grant": grant.id, "by": grant.by, "granted_at": grant.at.to_string(),
        })),
    })
}

/// Takes back what is remembered of a tool. It need not be there any more.
pub(super) async fn forget(name: &str, home: &Home, output: &Output) -> Done {
    let store = app::open_store(home)?;
    let forgotten = revoke(&*store, name).await?;
    if forgotten.is_empty() {
        let message = format!("no `always` is stored for the tool `{name}`");
        return Err(Failure::input("not_remembered", message)
            .hint("`deft approvals grants` lists standing answers"));
    }
    if output.json {
        output.document(&json!({ "forgotten": forgotten }))?;
    } else {
        for tool in &forgotten {
            output.note(&format!("chats ask again before they call `{tool}`"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn revoke(store: &dyn Store, name: &str) -> Done<Vec<String>> {
    let failed = |error| app::store(&error);
    let mut forgotten: Vec<String> = Vec::new();
    for grant in store.all_grants().await.map_err(failed)? {
        let Some(tool) = grant.tool().filter(|tool| is_called(tool, name)) else {
            continue;
        };
        if store.revoke(&grant.id).await.map_err(failed)? && !forgotten.iter().any(|it| it == tool)
        {
            forgotten.push(tool.to_owned());
        }
    }
    Ok(forgotten)
}

/// Whether a tool goes by a name: its full one, or the one without its server.
fn is_called(tool: &str, name: &str) -> bool {
    tool == name || tool.split_once('.').is_some_and(|(_, bare)| bare == name)
}

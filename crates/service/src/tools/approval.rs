//! A person's `always` for all calls of a tool in chats: shown with the tool, and taken back.

use deft_engine::allows_tool;
use deft_store::{Grant, Store};
use deft_tools::ToolInfo;
use deft_wire::tool::{ForgottenTools, ToolApproval, ToolGrant};
use deft_wire::{Done, Failure};

use crate::store;
use crate::workspace::Workspace;

/// Whether a chat asks before it calls a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// It calls the tool: the server says what the tool does.
    NotNeeded,
    /// It calls the tool: a person said `always`.
    Always(ToolGrant),
    /// It asks: the tool has changed since a person said `always`.
    Changed,
    /// It asks: the server does not say what the tool does.
    Asked,
}

impl ApprovalState {
    pub(super) fn new(tool: &ToolInfo, grant: Option<&Grant>) -> Self {
        match grant {
            _ if !tool.annotations.leaves_open() => Self::NotNeeded,
            Some(grant) if allows_tool(grant, tool) => Self::Always(granted(grant)),
            Some(_) => Self::Changed,
            None => Self::Asked,
        }
    }
}

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

/// The approval of a tool as programs read it.
pub(super) fn view(tool: &ToolInfo, grant: Option<&Grant>) -> ToolApproval {
    let holds = grant.filter(|grant| allows_tool(grant, tool));
    ToolApproval {
        asked_in_chats: tool.annotations.leaves_open() && holds.is_none(),
        always: holds.map(granted),
    }
}

fn granted(grant: &Grant) -> ToolGrant {
    ToolGrant {
        grant: grant.id.clone(),
        by: grant.by.clone(),
        granted_at: grant.at,
    }
}

/// Takes back every `always` for a tool. The tool need not exist any more.
pub async fn forget(workspace: &Workspace, name: &str) -> Done<ForgottenTools> {
    let store = store::open(&workspace.home()?)?;
    let forgotten = revoke(&*store, name).await?;
    if forgotten.is_empty() {
        let message = format!("no `always` is stored for the tool `{name}`");
        return Err(Failure::input("not_remembered", message)
            .hint("`deft approvals grants` lists standing answers"));
    }
    Ok(ForgottenTools { forgotten })
}

async fn revoke(store: &dyn Store, name: &str) -> Done<Vec<String>> {
    let failed = |error| store::failure(&error);
    let mut forgotten: Vec<String> = Vec::new();
    for grant in store.all_grants().await.map_err(failed)? {
        let Some(tool) = grant.tool().filter(|tool| has_name(tool, name)) else {
            continue;
        };
        if store.revoke(&grant.id).await.map_err(failed)? && !forgotten.iter().any(|it| it == tool)
        {
            forgotten.push(tool.to_owned());
        }
    }
    Ok(forgotten)
}

/// Whether a name means a tool: its full name, or the one without its server.
fn has_name(tool: &str, name: &str) -> bool {
    tool == name || tool.split_once('.').is_some_and(|(_, bare)| bare == name)
}

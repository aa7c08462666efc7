//! Standing grants for all calls of a tool in chats (`always`): shown with the tool, and revoked.

use deft_engine::{allows_tool, read_or_log};
use deft_store::{Grant, Store};
use deft_tools::ToolInfo;
use deft_wire::tool::{ForgottenTools, ToolApproval, ToolGrant};
use deft_wire::{Done, Failure};

use crate::store;
use crate::workspace::Workspace;

/// Whether a chat asks for approval before it calls a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// It does not ask: the server declares the effects of the tool.
    NotNeeded,
    /// It does not ask: a person answered `always`.
    Always(ToolGrant),
    /// It asks: the tool has changed since a person answered `always`.
    Changed,
    /// It asks: the server does not declare the effects of the tool.
    Asked,
}

impl ApprovalState {
    pub(super) fn new(tool: &ToolInfo, grant: Option<&Grant>) -> Self {
        match grant {
            _ if !tool.annotations.leaves_open() => Self::NotNeeded,
            Some(grant) if allows_tool(grant, tool) => Self::Always(grant_view(grant)),
            Some(_) => Self::Changed,
            None => Self::Asked,
        }
    }
}

/// Returns the grant for all calls of a tool, even if the tool has changed since.
pub(super) async fn find(store: &dyn Store, tool: &ToolInfo) -> Option<Grant> {
    let full = tool.full_name();
    let grants = read_or_log(store.all_grants().await, "the grants of a tool")?;
    let mut for_tool = grants.into_iter().filter(|it| it.tool() == Some(&full));
    // A valid grant has precedence over one for an older version of the tool.
    let first = for_tool.next()?;
    if allows_tool(&first, tool) {
        return Some(first);
    }
    Some(for_tool.find(|it| allows_tool(it, tool)).unwrap_or(first))
}

/// Converts the approval of a tool for output as JSON.
pub(super) fn view(tool: &ToolInfo, grant: Option<&Grant>) -> ToolApproval {
    let holds = grant.filter(|grant| allows_tool(grant, tool));
    ToolApproval {
        asked_in_chats: tool.annotations.leaves_open() && holds.is_none(),
        always: holds.map(grant_view),
    }
}

fn grant_view(grant: &Grant) -> ToolGrant {
    ToolGrant {
        grant: grant.id.clone(),
        by: grant.by.clone(),
        granted_at: grant.at,
    }
}

/// Revokes all `always` grants for a tool, which need not exist any more.
pub async fn forget(workspace: &Workspace, name: &str) -> Done<ForgottenTools> {
    let store = store::open(&workspace.home()?)?;
    let forgotten = revoke(&*store, name).await?;
    if forgotten.is_empty() {
        let message = format!("no standing approval is stored for the tool `{name}`");
        return Err(Failure::input("not_remembered", message)
            .hint("`deft approvals grants` lists standing approvals"));
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

/// Whether `name` is the full name of a tool, or the name without its server.
fn has_name(tool: &str, name: &str) -> bool {
    tool == name || tool.split_once('.').is_some_and(|(_, bare)| bare == name)
}

//! Lists tools, and shows one tool in full.

use deft_config::Home;
use deft_model::{Failure as ToolFailure, nearest};
use deft_tools::{Router, ServerState, ToolInfo, ToolLookup};
use deft_wire::tool::{
    DisabledTool, FailedServer, ToolAnnotations, ToolCatalog, ToolList, ToolSummary, ToolView,
};
use deft_wire::{Done, Failure};
use serde_json::Value;

use super::WithWarnings;
use super::approval::{self, ApprovalState};
use crate::app::App;
use crate::doorbell::{self, Ring};
use crate::router::CatalogRouter;
use crate::store;
use crate::workspace::Workspace;

/// A query for tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolQuery {
    /// Words that must occur in the name or the description.
    pub words: Vec<String>,
    /// Limits the list to tools of this server.
    pub server: Option<String>,
    /// Whether to query the servers instead of using the stored catalogs.
    pub refresh: bool,
    /// Maximum number of results.
    pub limit: Option<usize>,
}

/// A tool, and whether chats ask before calling it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownTool {
    /// The tool.
    pub view: ToolView,
    /// Whether a chat asks before it calls the tool.
    pub approval: ApprovalState,
}

/// The catalog for models, and the servers that are missing from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogView {
    /// The catalog.
    pub catalog: ToolCatalog,
    /// Enabled servers that have never answered.
    pub not_asked: Vec<String>,
}

/// Lists the tools of a home.
pub async fn list(workspace: &Workspace, query: &ToolQuery) -> Done<WithWarnings<ToolList>> {
    // The answers of servers are stored.
    let home = if query.refresh {
        workspace.home()?
    } else {
        workspace.home_to_read()?
    };
    if let Some(server) = &query.server {
        check_server(server, &home)?;
    }
    let (opened, failed) = if query.refresh {
        let opened = CatalogRouter::to_ask(&home, workspace.tell).await?;
        let failed = opened.router.list_servers().await;
        // Tell a running daemon to query its own connections again.
        doorbell::ring(&home.path, Ring::Tools);
        (opened, failed)
    } else {
        (
            CatalogRouter::to_read(&home, workspace.tell).await?,
            Vec::new(),
        )
    };
    let mut tools = opened.router.list();
    tools.retain(|tool| matches_query(tool, query));
    tools.truncate(query.limit.unwrap_or(usize::MAX));
    let list = ToolList {
        tools: tools.iter().map(summary).collect(),
        disabled: disabled_tools(&opened.router, query),
        not_asked: never_asked(&opened.router, &home),
        failed: failed.into_iter().map(failed_server).collect(),
    };
    Ok(WithWarnings::close(list, opened).await)
}

/// Returns a tool, as far as it is known without querying a server.
pub async fn show(workspace: &Workspace, name: &str) -> Done<WithWarnings<ShownTool>> {
    let home = workspace.home_to_read()?;
    let opened = CatalogRouter::to_read(&home, workspace.tell).await?;
    let tool = find(&opened.router, name)?;
    let grant = match store::read(&home) {
        Ok(store) => approval::find(&*store, &tool).await,
        // The warnings already report that the store cannot be read.
        Err(_) => None,
    };
    let shown = ShownTool {
        view: view(&tool, approval::view(&tool, grant.as_ref())),
        approval: ApprovalState::new(&tool, grant.as_ref()),
    };
    Ok(WithWarnings::close(shown, opened).await)
}

/// Returns the catalog of all tools for models.
pub async fn catalog(workspace: &Workspace) -> Done<WithWarnings<CatalogView>> {
    let home = workspace.home_to_read()?;
    let opened = CatalogRouter::to_read(&home, workspace.tell).await?;
    let view = CatalogView {
        catalog: read_catalog(&opened.router)?,
        not_asked: never_asked(&opened.router, &home),
    };
    Ok(WithWarnings::close(view, opened).await)
}

fn read_catalog(router: &Router) -> Done<ToolCatalog> {
    serde_json::from_value(router.catalog()).map_err(|problem| {
        Failure::internal(
            "catalog",
            format!("the tool catalog has an unexpected format: {problem}"),
        )
    })
}

/// Lists the current tools of this daemon.
pub fn list_live(app: &App, workspace: &Workspace, query: &ToolQuery) -> Done<ToolList> {
    let home = workspace.home_to_read()?;
    if let Some(server) = &query.server {
        check_server(server, &home)?;
    }
    let router = app.engine.router();
    let mut tools = router.list();
    tools.retain(|tool| matches_query(tool, query));
    Ok(ToolList {
        tools: tools.iter().map(summary).collect(),
        disabled: disabled_tools(router, query),
        not_asked: never_asked(router, &home),
        failed: Vec::new(),
    })
}

/// Returns a tool of this daemon.
pub fn show_live(app: &App, name: &str) -> Done<ToolView> {
    let tool = find(app.engine.router(), name)?;
    let grant = app.block_on(approval::find(&**app.engine.store(), &tool));
    Ok(view(&tool, approval::view(&tool, grant.as_ref())))
}

/// Returns the catalog for models of this daemon.
pub fn catalog_live(app: &App) -> Done<ToolCatalog> {
    read_catalog(app.engine.router())
}

/// Returns the tools that servers list but that cannot be used.
fn disabled_tools(router: &Router, query: &ToolQuery) -> Vec<DisabledTool> {
    let wanted = query.server.as_deref();
    let servers = router.health().into_iter();
    servers
        .filter(|health| wanted.is_none_or(|wanted| health.server == wanted))
        .flat_map(|health| {
            let tools = health.disabled.into_iter();
            tools.map(move |tool| DisabledTool {
                server: health.server.clone(),
                name: tool.name,
                reason: tool.reason,
            })
        })
        .collect()
}

/// Fails for an unknown server; otherwise a misspelt name would look like "no tools".
fn check_server(name: &str, home: &Home) -> Done<()> {
    let servers = &home.config.tools.servers;
    if name == deft_tools::BUILTIN_SERVER || servers.contains_key(name) {
        return Ok(());
    }
    Err(no_such_server(name, home))
}

/// The failure for an unknown server.
pub(crate) fn no_such_server(name: &str, home: &Home) -> Failure {
    let servers = home.config.tools.servers.keys().map(String::as_str);
    let hint = match nearest(name, servers) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft mcp list` shows all servers".to_owned(),
    };
    Failure::input("no_such_server", format!("unknown server `{name}`")).hint(hint)
}

fn matches_query(tool: &ToolInfo, query: &ToolQuery) -> bool {
    let text = format!("{} {}", tool.full_name(), tool.description).to_lowercase();
    let mut words = query.words.iter();
    words.all(|word| text.contains(&word.to_lowercase()))
        && query
            .server
            .as_ref()
            .is_none_or(|server| tool.server == *server)
}

/// Returns the enabled servers that have never answered.
fn never_asked(router: &Router, home: &Home) -> Vec<String> {
    let known = router.health();
    let unknown = known
        .into_iter()
        .filter(|server| server.protocol.is_none() && server.state != ServerState::Disabled);
    let names = unknown.map(|server| server.server);
    names
        .filter(|name| home.config.tools.servers.contains_key(name))
        .collect()
}

fn failed_server((server, failure): (String, ToolFailure)) -> FailedServer {
    FailedServer {
        server,
        class: failure.class,
        message: failure.message,
        hint: failure.hint,
    }
}

fn summary(tool: &ToolInfo) -> ToolSummary {
    ToolSummary {
        name: tool.shown.clone(),
        full_name: tool.full_name(),
        server: tool.server.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        effects: tool.effects(),
        builtin: tool.builtin,
    }
}

fn view(tool: &ToolInfo, approval: deft_wire::tool::ToolApproval) -> ToolView {
    let hints = tool.annotations;
    ToolView {
        summary: summary(tool),
        input_schema: Value::clone(&tool.input_schema),
        output_schema: tool.output_schema.as_deref().cloned(),
        annotations: ToolAnnotations {
            read_only_hint: hints.read_only_hint,
            destructive_hint: hints.destructive_hint,
            idempotent_hint: hints.idempotent_hint,
            open_world_hint: hints.open_world_hint,
        },
        approval,
    }
}

/// Returns the tool called `name`, as far as it is known without querying a server.
fn find(router: &Router, name: &str) -> Done<ToolInfo> {
    let unknown =
        |message: String, hint: String| Err(Failure::input("no_such_tool", message).hint(hint));
    let found = router.find(name);
    if !matches!(found, ToolLookup::Tool(_) | ToolLookup::Ambiguous(_))
        && let Some(off) = router.failure_if_disabled(name)
    {
        return unknown(off.message, off.hint.unwrap_or_default());
    }
    match found {
        ToolLookup::Tool(tool) => Ok(*tool),
        ToolLookup::Ambiguous(names) => unknown(
            format!("the tool `{name}` is ambiguous: {}", names.join(" or ")),
            "write the name with its server".to_owned(),
        ),
        ToolLookup::Missing { nearest } => unknown(
            format!("unknown tool `{name}`"),
            match nearest.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`deft tools list` shows all tools".to_owned(),
            },
        ),
        ToolLookup::Unknown { .. } => {
            let known = router.list();
            let near = nearest(name, known.iter().map(|tool| tool.shown.as_str()));
            let refresh = "`deft tools list --refresh` queries the servers";
            unknown(
                format!("unknown tool `{name}`; some servers have not been queried"),
                match near {
                    Some(near) => format!("did you mean `{near}`? {refresh}"),
                    None => refresh.to_owned(),
                },
            )
        }
    }
}

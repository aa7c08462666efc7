//! Lists the tools of a server, page by page.
//!
//! Not here: which tools are usable (`vet.rs`).

use deft_model::clip;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::Value;

use super::link::Link;
use super::vet::{ListedTool, VettedListing};
use super::{Server, skills};
use crate::catalog::{Catalog, Era};

/// The maximum number of pages and of tools that a server may list.
const MAX_PAGES: usize = 200;
const MAX_TOOLS: usize = 10_000;
/// The maximum length of a server's name for itself, in characters.
const MAX_NAME_LEN: usize = 200;

/// Lists the tools and skills of a server.
pub(super) async fn list(server: &Server, link: &Link) -> Result<Catalog, ServiceError> {
    let info = link.info();
    let has_tools = info
        .as_ref()
        .is_none_or(|info| info.capabilities.tools.is_some());
    let redaction = server.redaction.load_full();
    let mut vetting = VettedListing::new(&server.name, redaction.clone(), server.max_reply_bytes);
    if has_tools {
        vetting = pages(link, vetting).await?;
    }
    let VettedListing {
        mut tools,
        mut disabled,
        ..
    } = vetting;
    tools.retain(|tool| server.options.shows(&tool.name));
    disabled.retain(|tool| server.options.shows(&tool.name));
    let skills = skills::list(server, link).await;
    let version = info.as_ref().map(|info| info.protocol_version.clone());
    let era = match &version {
        Some(version) if !version.has_initialize() => Era::Modern,
        Some(_) | None => Era::Legacy,
    };
    let implementation = info.and_then(|info| info.server_info.clone());
    Ok(Catalog {
        server: server.name.clone(),
        source: server.options.source(),
        era,
        protocol: version
            .map(|version| redaction.redact_owned(version.to_string()))
            .unwrap_or_default(),
        implementation: implementation
            .map(|it| shorten_name(&redaction.redact_owned(format!("{} {}", it.name, it.version)))),
        tools,
        disabled,
        skills,
    })
}

/// Shortens a server's name for itself to one line of at most `MAX_NAME_LEN` characters.
fn shorten_name(name: &str) -> String {
    let line = name.replace(char::is_control, " ");
    clip(&line, MAX_NAME_LEN)
}

async fn pages(link: &Link, mut vetting: VettedListing) -> Result<VettedListing, ServiceError> {
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let (page, next) = page(link, cursor.clone()).await?;
        let room = MAX_TOOLS - vetting.count();
        // Adding a tool compiles its schema, which would block other tasks on this thread.
        let work = tokio::task::spawn_blocking(move || {
            page.into_iter()
                .take(room)
                .for_each(|tool| vetting.add(tool));
            vetting
        });
        vetting = work.await.map_err(|_| ServiceError::UnexpectedResponse)?;
        let full = vetting.is_full() || vetting.count() >= MAX_TOOLS;
        // A server that repeats its cursor would cause an endless loop.
        if next.is_none() || next == cursor || full {
            break;
        }
        cursor = next;
    }
    Ok(vetting)
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of messages and may add more"
)]
async fn page(
    link: &Link,
    cursor: Option<String>,
) -> Result<(Vec<ListedTool>, Option<String>), ServiceError> {
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    // The library's `list_tools` may answer from a cache.
    let request = ListToolsRequest {
        method: rmcp::model::ListToolsRequestMethod,
        params,
        extensions: rmcp::model::Extensions::new(),
    };
    let request = ClientRequest::ListToolsRequest(request);
    let handle = link
        .peer
        .send_request_with_option(request, PeerRequestOptions::no_options())
        .await?;
    match handle.await_response().await? {
        ServerResult::ListToolsResult(page) => {
            let tools = page.tools.into_iter();
            let tools = tools.map(|tool| ListedTool::Tool(Box::new(tool))).collect();
            Ok((tools, page.next_cursor))
        }
        ServerResult::CustomResult(odd) => lenient(&odd.0).ok_or(ServiceError::UnexpectedResponse),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// Parses a page tool by tool, so that a broken tool does not hide the others.
fn lenient(page: &Value) -> Option<(Vec<ListedTool>, Option<String>)> {
    let tools = page.get("tools")?.as_array()?;
    let cursor = page.get("nextCursor").and_then(Value::as_str);
    let tools = tools.iter().map(ListedTool::read).collect();
    Some((tools, cursor.map(str::to_owned)))
}

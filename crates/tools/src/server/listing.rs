//! The tools of a server, asked for page by page.

use std::sync::Arc;

use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool, ToolAnnotations,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::Value;

use super::link::Link;
use super::{Era, Server};
use crate::catalog::Catalog;
use crate::tool::{Annotations, ToolInfo};

/// The most pages, and the most tools, that a server may list.
const MOST_PAGES: usize = 200;
const MOST_TOOLS: usize = 10_000;

/// Asks for the tools of a server.
pub(super) async fn list(server: &Server, link: &Link) -> Result<Catalog, ServiceError> {
    let info = link.info();
    let has_tools = info
        .as_ref()
        .is_none_or(|info| info.capabilities.tools.is_some());
    let tools = if has_tools {
        pages(link).await?
    } else {
        Vec::new()
    };
    let tools = tools
        .into_iter()
        .filter(|tool| server.options.shows(&tool.name))
        .map(|tool| describe(&server.name, tool))
        .collect();
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
            .map(|version| version.to_string())
            .unwrap_or_default(),
        implementation: implementation.map(|it| format!("{} {}", it.name, it.version)),
        tools,
    })
}

async fn pages(link: &Link) -> Result<Vec<Tool>, ServiceError> {
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let (page, next) = page(link, cursor.clone()).await?;
        tools.extend(page);
        // A server that hands out the same cursor again would go round in circles.
        if next.is_none() || next == cursor || tools.len() >= MOST_TOOLS {
            break;
        }
        cursor = next;
    }
    tools.truncate(MOST_TOOLS);
    Ok(tools)
}

async fn page(
    link: &Link,
    cursor: Option<String>,
) -> Result<(Vec<Tool>, Option<String>), ServiceError> {
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    // Not through the library's `list_tools`, which may answer from a cache.
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
        ServerResult::ListToolsResult(page) => Ok((page.tools, page.next_cursor)),
        ServerResult::CustomResult(odd) => lenient(&odd.0).ok_or(ServiceError::UnexpectedResponse),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// A page with a broken tool in it still has the others.
fn lenient(page: &Value) -> Option<(Vec<Tool>, Option<String>)> {
    let tools = page.get("tools")?.as_array()?;
    let readable = tools
        .iter()
        .filter_map(|tool| serde_json::from_value(tool.clone()).ok());
    let cursor = page.get("nextCursor").and_then(Value::as_str);
    Some((readable.collect(), cursor.map(str::to_owned)))
}

fn describe(server: &str, tool: Tool) -> ToolInfo {
    let name = tool.name.into_owned();
    let as_value = |schema: Arc<rmcp::model::JsonObject>| {
        Arc::new(Value::Object(Arc::unwrap_or_clone(schema)))
    };
    ToolInfo {
        shown: format!("{server}.{name}"),
        name,
        server: server.to_owned(),
        title: tool.title,
        description: tool.description.unwrap_or_default().into_owned(),
        input_schema: as_value(tool.input_schema),
        output_schema: tool.output_schema.map(as_value),
        annotations: tool
            .annotations
            .map(|given| annotations(&given))
            .unwrap_or_default(),
        builtin: false,
    }
}

fn annotations(given: &ToolAnnotations) -> Annotations {
    Annotations {
        read_only_hint: given.read_only_hint,
        destructive_hint: given.destructive_hint,
        idempotent_hint: given.idempotent_hint,
        open_world_hint: given.open_world_hint,
    }
}

//! Completion of arguments, which is relayed to servers behind deft.

use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, Reference, ServerResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::handler::McpServer;
use super::relay::{self, Upstream};

/// Completes an argument of a prompt or of a resource template.
pub(super) async fn complete(
    server: &McpServer,
    mut params: CompleteRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CompleteResult, ErrorData> {
    let catalog = server.catalog().await?;
    let exports = catalog.exports();
    let upstream = match &mut params.r#ref {
        Reference::Prompt(prompt) => {
            let mut prompts = exports.prompts.iter();
            let found = prompts.find(|it| it.item.name == prompt.name);
            found.map(|it| {
                prompt.name.clone_from(&it.name);
                (it.server.clone(), it.name.clone())
            })
        }
        Reference::Resource(resource) => {
            let mut templates = exports.templates.iter();
            let found = templates.find(|it| it.name == resource.uri);
            found.map(|it| (it.server.clone(), it.name.clone()))
        }
        _ => None,
    };
    let Some((server_name, name)) = upstream else {
        return own(server, &params).await;
    };
    let upstream = Upstream {
        server: server_name,
        name,
    };
    let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
    match relay::forward(server, &upstream, request, context).await {
        Ok(ServerResult::CompleteResult(result)) => Ok(result),
        Ok(_) => Err(relay::unreadable(&upstream.server)),
        Err(error) => Err(relay::error(error)),
    }
}

/// Returns no values for a skill, because skills do not declare values for their inputs.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` may add further kinds of references"
)]
async fn own(
    server: &McpServer,
    params: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let is_known = match &params.r#ref {
        Reference::Prompt(prompt) => server.skills().await?.find(&prompt.name).is_some(),
        _ => false,
    };
    if is_known {
        return Ok(CompleteResult::default());
    }
    Err(ErrorData::invalid_params(
        "there is nothing to complete",
        None,
    ))
}

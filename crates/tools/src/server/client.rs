//! The client side of a connection: deft's description, and the handlers for requests of the server.
//!
//! On the connection that deft uses for itself, the guard declines requests before they reach the
//! protocol library (`guard.rs`). On a line for clients they go to the desk.

#![expect(deprecated, reason = "servers of older revisions ask for these")]

use std::sync::Arc;

use rmcp::model::{
    ClientConfig, ClientResult, CreateMessageRequest, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequest, ElicitRequestParams, ElicitResult, ListRootsRequest,
    ListRootsResult, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde::de::DeserializeOwned;

use super::desk::ClientChannel;

/// A client description, with a desk on lines for clients of deft.
#[derive(Clone)]
pub(super) struct Client {
    identity: ClientConfig,
    desk: Option<Arc<ClientChannel>>,
}

impl Client {
    pub(super) fn new(identity: ClientConfig, desk: Option<Arc<ClientChannel>>) -> Self {
        Self { identity, desk }
    }

    async fn ask<T: DeserializeOwned>(&self, request: ServerRequest) -> Result<T, ErrorData> {
        let Some(desk) = &self.desk else {
            return Err(unsupported_error());
        };
        convert(desk.ask(request).await?)
    }
}

fn unsupported_error() -> ErrorData {
    ErrorData::new(
        rmcp::model::ErrorCode::METHOD_NOT_FOUND,
        "not supported",
        None,
    )
}

/// Converts the client's result to the expected type. The library parses a result before it knows what
/// the request was.
fn convert<T: DeserializeOwned>(result: ClientResult) -> Result<T, ErrorData> {
    let value = serde_json::to_value(result);
    value.and_then(serde_json::from_value).map_err(|problem| {
        ErrorData::internal_error(
            format!("the client sent an invalid response: {problem}"),
            None,
        )
    })
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        self.identity.clone()
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let request = CreateMessageRequest::new(params);
        self.ask(ServerRequest::CreateMessageRequest(request)).await
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let request = ListRootsRequest::default();
        self.ask(ServerRequest::ListRootsRequest(request)).await
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = ElicitRequest::new(params);
        self.ask(ServerRequest::ElicitRequest(request)).await
    }
}

//! Our side of a connection: who we are, and what servers may ask of us.
//!
//! Nothing: there is no model and no person behind the router. Requests are
//! declined in the way the protocol provides for.

#![expect(
    deprecated,
    reason = "roots are on their way out, but servers still ask for them"
)]

use rmcp::ClientHandler;
use rmcp::model::{
    ClientConfig, ElicitRequestParams, ElicitResult, ErrorCode, ErrorData, ListRootsResult,
};
use rmcp::service::{RequestContext, RoleClient};

/// A client that declines everything.
#[derive(Clone, Debug)]
pub(super) struct Client {
    identity: ClientConfig,
}

impl Client {
    pub(super) fn new(identity: ClientConfig) -> Self {
        Self { identity }
    }
}

fn not_supported(what: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
}

// Sampling is declined by the library itself.
impl ClientHandler for Client {
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(not_supported("elicitation is not supported"))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Err(not_supported("roots are not supported"))
    }

    fn get_info(&self) -> ClientConfig {
        self.identity.clone()
    }
}

//! Types for requests that are relayed unchanged between a client of deft's MCP server and a server
//! behind it.
//!
//! Plain data and the handle of a request in flight. Not here: connections (`../server/`), and how to
//! ask a client, which the caller handles.

mod call;
mod exports;
mod offers;

pub use call::{RelayCall, RelayEvent, RelayMessage};
pub use exports::{Clash, ExportedItem, Exports, OwnNames, legal_name};
pub use offers::{News, Offers};

use deft_model::Failure;
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, ClientRequest, RequestMetaObject};

/// A request of a client for a server.
#[derive(Clone, Debug)]
pub struct RelayRequest {
    /// The name of the server.
    pub server: String,
    /// The request, with the server's own names.
    pub request: ClientRequest,
    /// The request's metadata from the client.
    pub meta: RequestMetaObject,
    /// The client that sent the request.
    pub client: RelayClient,
}

/// The client data that a server may use.
#[derive(Clone, Debug, Default)]
pub struct RelayClient {
    /// The capabilities that the client declared.
    pub capabilities: ClientCapabilities,
    /// The client's session with deft, if it has one: a server may keep state for it.
    pub session: Option<u64>,
    /// The lowest level of log messages that the client requested, as an MCP word.
    pub log_level: Option<String>,
}

/// Why a request has no result.
#[derive(Clone, Debug)]
pub enum RelayError {
    /// The server's error response.
    Protocol(ErrorData),
    /// A failure without an error response of the server.
    Failure(Box<Failure>),
}

impl From<Failure> for RelayError {
    fn from(failure: Failure) -> Self {
        Self::Failure(Box::new(failure))
    }
}

//! What passes between a client of deft's MCP server and a server behind it, as it is: no content becomes a value.
//!
//! Plain data and the handle of a request that is under way. Not here: connections (`../server/`), and how a client is
//! asked, which the caller knows.

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
    /// The server.
    pub server: String,
    /// The request, with the names that the server knows.
    pub request: ClientRequest,
    /// What the client says beside its parameters.
    pub meta: RequestMetaObject,
    /// The client.
    pub client: RelayClient,
}

/// A client, as far as a server may know it.
#[derive(Clone, Debug, Default)]
pub struct RelayClient {
    /// What the server may ask of it.
    pub capabilities: ClientCapabilities,
    /// Its session with deft, if it has one: a server may keep a state for it.
    pub session: Option<u64>,
    /// The least severe messages of a log that it wants, in the words of MCP.
    pub log_level: Option<String>,
}

/// Why a request has no result.
#[derive(Clone, Debug)]
pub enum RelayError {
    /// The server refused it, in these words.
    Protocol(ErrorData),
    /// It did not come to an answer.
    Failure(Box<Failure>),
}

impl From<Failure> for RelayError {
    fn from(failure: Failure) -> Self {
        Self::Failure(Box::new(failure))
    }
}

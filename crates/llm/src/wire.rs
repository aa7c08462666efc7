//! The interface of wire formats: mapping requests to HTTP requests, and responses to pieces of a reply.
//!
//! Not here: which provider has which wire format (`exchange.rs`).

use deft_model::ModelRequest;
use serde_json::Value;

use crate::draft::Draft;
use crate::options::ModelOptions;
use crate::provider_failure::{ProviderFailure, Words};

/// A request in the format of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct WireRequest {
    /// The last parts of the address, after the provider's base.
    pub path: Vec<String>,
    /// The query of the address.
    pub query: Option<&'static str>,
    /// Headers; if there is a key, it is the value of the last one.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Value,
}

/// The wire format of a provider. Pure functions between values; no I/O.
pub(crate) trait Wire: Send + Sync {
    /// Returns the default address, and the first parts of its path, which a base URL may contain already.
    fn home(&self) -> (&'static str, &'static [&'static str]);
    /// Maps a request.
    fn request(
        &self,
        options: &ModelOptions,
        request: &ModelRequest,
        streamed: bool,
    ) -> WireRequest;
    /// Returns the headers of every request, the key last.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    /// Returns the paths for a ping: each one is requested if the one before does not exist. A path with an
    /// empty first part starts at the root of the server.
    fn pings(&self) -> &'static [&'static [&'static str]];
    /// Reads a whole response.
    fn whole(&self, answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure>;
    /// Returns a reader for a stream.
    fn stream(&self) -> Box<dyn Events>;
    /// Returns the parts of an error in a response, if there is one.
    fn words(&self, answer: &Value) -> Option<Words>;
}

/// Reads the events of one stream, in order.
pub(crate) trait Events: Send {
    /// Takes the data of one event.
    fn take(&mut self, data: &str, draft: &mut Draft<'_>) -> Result<(), ProviderFailure>;
    /// Whether the end mark was received: later bytes are not part of the response.
    fn has_ended(&self) -> bool;
    /// Ends the stream; fails if it ended before the reply did.
    fn end(&mut self, draft: &mut Draft<'_>) -> Result<(), ProviderFailure>;
}

/// Returns the system prompt as one text.
pub(crate) fn system_text(request: &ModelRequest) -> String {
    let parts = request.system.iter().map(|part| part.text.as_str());
    let parts: Vec<&str> = parts.filter(|text| !text.is_empty()).collect();
    parts.join("\n\n")
}

/// Returns the replacement for arguments that are not a JSON object, for providers that require one.
pub(crate) fn unreadable(raw: &str) -> Value {
    serde_json::json!({"unreadable_arguments": raw})
}

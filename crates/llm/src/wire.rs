//! What every wire of a provider does: maps questions to requests and answers to pieces of a reply.
//!
//! Not here: which provider has which wire (`exchange.rs`).

use deft_model::ModelRequest;
use serde_json::Value;

use crate::draft::Draft;
use crate::options::ModelOptions;
use crate::provider_failure::{ProviderFailure, Words};

/// A request on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct WireRequest {
    /// The last parts of the address, behind the provider's own.
    pub path: Vec<String>,
    /// What stands behind the `?`.
    pub query: Option<&'static str>,
    /// Headers; the value of the last one is the key, if there is one.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Value,
}

/// One provider's way to put things. All of it is mapping of values.
pub(crate) trait Wire: Send + Sync {
    /// The usual address, and the first parts of its path, which a base URL may have already.
    fn home(&self) -> (&'static str, &'static [&'static str]);
    /// The request.
    fn request(
        &self,
        options: &ModelOptions,
        request: &ModelRequest,
        streamed: bool,
    ) -> WireRequest;
    /// Headers that every request has, the key last.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    /// Paths that tell whether it is there: the second is asked when there is no first. A path
    /// that begins with an empty part starts at the root of the server.
    fn pings(&self) -> &'static [&'static [&'static str]];
    /// A whole answer.
    fn whole(&self, answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure>;
    /// The reader of a stream.
    fn stream(&self) -> Box<dyn Events>;
    /// What the provider says about a failure.
    fn words(&self, answer: &Value) -> Option<Words>;
}

/// Reads the events of one stream, in order.
pub(crate) trait Events: Send {
    /// Takes the data of one event.
    fn take(&mut self, data: &str, draft: &mut Draft<'_>) -> Result<(), ProviderFailure>;
    /// The end mark has come: whatever follows is not part of the answer.
    fn is_over(&self) -> bool;
    /// The stream is over; fails if it ended before the answer did.
    fn end(&mut self, draft: &mut Draft<'_>) -> Result<(), ProviderFailure>;
}

/// The system prompt as one text.
pub(crate) fn system_text(request: &ModelRequest) -> String {
    let parts = request.system.iter().map(|part| part.text.as_str());
    let parts: Vec<&str> = parts.filter(|text| !text.is_empty()).collect();
    parts.join("\n\n")
}

/// Stands for arguments that were no JSON object, where a provider wants one.
pub(crate) fn unreadable(raw: &str) -> Value {
    serde_json::json!({"unreadable_arguments": raw})
}

//! A call of a tool through the router, and the reply.

use std::sync::Arc;
use std::time::Duration;

use deft_model::{Authority, Object, TraceContext};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::secret::{Plain, Reveal};

/// One call of a tool.
#[derive(Clone)]
pub struct Call<'a> {
    /// The tool, by its full or its bare name.
    pub tool: &'a str,
    /// The arguments, with placeholders for secrets.
    pub arguments: Object,
    /// The idempotency key, the same for every attempt at the same call; sent to the tool.
    pub key: String,
    /// The longest the call may take; `None` uses the server's default.
    pub deadline: Option<Duration>,
    /// Cancels the call; the server is notified.
    pub cancel: CancellationToken,
    /// Replaces placeholders by secrets.
    pub reveal: &'a dyn Reveal,
    /// Whether a model wrote the arguments; if so they are repaired first.
    pub by_model: bool,
    /// The rights of the calling agent; `None` for a call by a person. deft's own tools respect them;
    /// servers never see them.
    pub authority: Option<Arc<Authority>>,
    /// The trace context of the call; sent to the tool.
    pub trace: Option<TraceContext>,
    /// The id of the HTTP or MCP request that makes the call; `None` for a call of a run or a person.
    pub request_id: Option<String>,
}

/// The data sent to a server beside the arguments.
#[derive(Clone, Copy)]
pub(crate) struct CallMark<'a> {
    pub(crate) key: &'a str,
    pub(crate) trace: Option<&'a TraceContext>,
}

impl<'a> Call<'a> {
    /// Returns a call with defaults for all other fields.
    pub fn new(tool: &'a str, arguments: Object) -> Self {
        Self {
            tool,
            arguments,
            key: String::new(),
            deadline: None,
            cancel: CancellationToken::new(),
            reveal: &Plain,
            by_model: false,
            authority: None,
            trace: None,
            request_id: None,
        }
    }

    pub(crate) fn mark(&self) -> CallMark<'_> {
        CallMark {
            key: &self.key,
            trace: self.trace.as_ref(),
        }
    }
}

/// The reply of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The value of the step, as the contract defines it.
    pub value: Value,
    /// The plain text of the reply, if it has any.
    pub text: Option<String>,
    /// The server that replied; [`BUILTIN_SERVER`](crate::BUILTIN_SERVER) for built-in tools.
    pub server: String,
    /// The full name of the tool.
    pub tool: String,
    /// The repairs of the argument pipeline that changed something.
    pub repairs: Vec<&'static str>,
    /// The size of the reply in bytes, as counted against the limit.
    pub bytes: usize,
    /// The duration of the call.
    pub took: Duration,
}

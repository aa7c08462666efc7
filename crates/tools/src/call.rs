//! What is asked of the router, and what it answers.

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
    /// Its arguments, with placeholders for secrets.
    pub arguments: Object,
    /// The same for every attempt at the same call; sent to the tool.
    pub key: String,
    /// The longest the call may take; the server's own default when absent.
    pub deadline: Option<Duration>,
    /// Ends the call early; the server is told.
    pub cancel: CancellationToken,
    /// Puts secrets in the place of placeholders.
    pub reveal: &'a dyn Reveal,
    /// Whether a model wrote the arguments: then they are repaired first.
    pub by_model: bool,
    /// The rights of the agent on whose behalf it is made; none for a person's. Tools of deft heed
    /// them, servers never see them.
    pub authority: Option<Arc<Authority>>,
    /// The span of the call; sent to the tool.
    pub trace: Option<TraceContext>,
}

/// What a server is told beside the arguments.
#[derive(Clone, Copy)]
pub(crate) struct CallMark<'a> {
    pub(crate) key: &'a str,
    pub(crate) trace: Option<&'a TraceContext>,
}

impl<'a> Call<'a> {
    /// A call with defaults for everything else.
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
        }
    }

    pub(crate) fn mark(&self) -> CallMark<'_> {
        CallMark {
            key: &self.key,
            trace: self.trace.as_ref(),
        }
    }
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The value of the step, as the contract defines it.
    pub value: Value,
    /// The plain text of the answer, if it had any.
    pub text: Option<String>,
    /// The server that answered; [`BUILTIN_SERVER`](crate::BUILTIN_SERVER) for built-in tools.
    pub server: String,
    /// The full name of the tool.
    pub tool: String,
    /// Which repairs of the argument pipeline changed something.
    pub repairs: Vec<&'static str>,
    /// The size of the answer in bytes, as it was counted against the limit.
    pub bytes: usize,
    /// How long the call took.
    pub took: Duration,
}

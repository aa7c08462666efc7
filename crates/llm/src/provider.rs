//! The interface between deft and the wire formats of providers.

use std::pin::Pin;

use deft_model::{ModelReply, ModelRequest};

use crate::ProviderFailure;

/// A piece of a reply that is still being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// A call began.
    Call {
        /// The tool.
        name: String,
    },
    /// Discard the text received so far: the call failed and is retried.
    Again,
}

/// Receives the pieces of a reply while it is written.
pub type ReplyListener<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// The future reply of a provider.
pub type Reply<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, ProviderFailure>> + Send + 'a>>;

/// The future result of a ping.
pub type Pong<'a> = Pin<Box<dyn Future<Output = Result<(), ProviderFailure>> + Send + 'a>>;

/// One model behind one wire format. A call is one try: no retries and no timeout here.
pub trait Provider: Send + Sync {
    /// Asks the model for a reply. With a listener, the reply is streamed.
    fn reply<'a>(
        &'a self,
        request: &'a ModelRequest,
        listener: Option<ReplyListener<'a>>,
    ) -> Reply<'a>;

    /// Checks that the provider answers, without a request to the model.
    fn ping(&self) -> Pong<'_>;
}

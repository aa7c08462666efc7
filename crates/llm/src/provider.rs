//! The border between what deft asks and what a provider's wire looks like.

use std::pin::Pin;

use deft_model::{ModelReply, ModelRequest};

use crate::ProviderFailure;

/// A piece of an answer that is still being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More of the text.
    Text(String),
    /// A call has begun.
    Call {
        /// The tool.
        name: String,
    },
    /// Discard the text received so far: the call failed and is retried.
    Again,
}

/// Hears an answer while it is written.
pub type ReplyListener<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// The answer of a provider, some time later.
pub type Reply<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, ProviderFailure>> + Send + 'a>>;

/// Whether a provider is there, some time later.
pub type Pong<'a> = Pin<Box<dyn Future<Output = Result<(), ProviderFailure>> + Send + 'a>>;

/// One model behind one wire. One call is one try: no retries here, and no limit of time.
pub trait Provider: Send + Sync {
    /// Asks the model. With a listener the answer is streamed.
    fn reply<'a>(
        &'a self,
        request: &'a ModelRequest,
        listener: Option<ReplyListener<'a>>,
    ) -> Reply<'a>;

    /// Asks whether the provider is there, without asking the model anything.
    fn ping(&self) -> Pong<'_>;
}

//! The border between what deft asks and what a provider's wire looks like.

use std::pin::Pin;

use deft_model::{ModelReply, ModelRequest};

use crate::Failed;

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
    /// What was heard so far counts no more: the call failed and is made again.
    Again,
}

/// Hears an answer while it is written.
pub type Heard<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// The answer of a provider, some time later.
pub type Reply<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, Failed>> + Send + 'a>>;

/// Whether a provider is there, some time later.
pub type Pong<'a> = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send + 'a>>;

/// One model behind one wire. One call is one try: no retries here, and no limit of time.
pub trait Provider: Send + Sync {
    /// Asks the model. With a listener the answer is streamed.
    fn reply<'a>(&'a self, request: &'a ModelRequest, heard: Option<Heard<'a>>) -> Reply<'a>;

    /// Asks whether the provider is there, without asking the model anything.
    fn ping(&self) -> Pong<'_>;
}

//! The border between what deft asks and what a provider's wire looks like.

use std::pin::Pin;

use deft_model::{Failure, ModelReply, ModelRequest};

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
pub type Reply<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, Failure>> + Send + 'a>>;

/// One model behind one wire. One call is one try: no retries here.
pub trait Provider: Send + Sync {
    /// Asks the model. With a listener the answer is streamed.
    fn reply<'a>(&'a self, request: &'a ModelRequest, heard: Option<Heard<'a>>) -> Reply<'a>;
}

//! Results of handlers.

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode};
use deft_wire::{Done, Failure};
use serde::Serialize;

/// A response before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    /// Whether the response reports a failure.
    pub(crate) is_problem: bool,
    /// The `ETag`, if already computed.
    pub(crate) tag: Option<HeaderValue>,
}

/// Initial capacity of a response body. Most bodies are shorter; a growing buffer is copied each time.
const INITIAL_CAPACITY: usize = 4096;

impl Answer {
    /// Serializes `body` as JSON.
    pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Done<Self> {
        let mut text = Vec::with_capacity(INITIAL_CAPACITY);
        serde_json::to_writer(&mut text, body).map_err(|problem| {
            Failure::internal("engine", format!("a reply cannot be written: {problem}"))
        })?;
        Ok(Self {
            status,
            body: text.into(),
            is_problem: false,
            tag: None,
        })
    }
}

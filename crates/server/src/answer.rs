//! What a handler answers.

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode};
use deft_wire::{Done, Failure};
use serde::Serialize;

/// A reply before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    /// Whether it reports a failure.
    pub(crate) is_problem: bool,
    /// Its tag, where that is known already.
    pub(crate) tag: Option<HeaderValue>,
}

/// Most replies are shorter; a buffer that grows is copied each time.
const USUAL: usize = 4096;

impl Answer {
    /// A document.
    pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Done<Self> {
        let mut text = Vec::with_capacity(USUAL);
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

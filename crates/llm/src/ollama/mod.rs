//! Ollama's own API, `/api/chat`.
//!
//! The API has no choice of tools: a required call is demanded in the prompt, and only the named tool is
//! offered. Not here: pulling models, and grammars, which the API does not support.

mod request;
mod response;

use deft_model::ModelRequest;
use serde_json::Value;

use crate::ModelOptions;
use crate::draft::Draft;
use crate::provider_failure::{ProviderFailure, Words};
use crate::wire::{Events, Wire, WireRequest};

pub(crate) struct Ollama;

impl Wire for Ollama {
    fn home(&self) -> (&'static str, &'static [&'static str]) {
        ("http://127.0.0.1:11434", &["api"])
    }

    fn request(
        &self,
        options: &ModelOptions,
        request: &ModelRequest,
        streamed: bool,
    ) -> WireRequest {
        WireRequest {
            path: vec!["chat".to_owned()],
            query: None,
            headers: self.headers(options.key()),
            body: request::body(options, request, streamed),
        }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let bearer = key.map(|key| ("authorization", format!("Bearer {key}")));
        bearer.into_iter().collect()
    }

    fn pings(&self) -> &'static [&'static [&'static str]] {
        &[&["tags"]]
    }

    fn whole(&self, answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        response::whole(answer, draft)
    }

    fn stream(&self) -> Box<dyn Events> {
        Box::new(response::Stream::default())
    }

    fn words(&self, answer: &Value) -> Option<Words> {
        response::words(answer)
    }
}

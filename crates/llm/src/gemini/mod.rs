//! Google's Gemini: `generateContent` and `streamGenerateContent`.
//!
//! The key is sent in a header and never in the address, so that no proxy logs it. Not here: the provider's
//! own caches and files, and the signed requests of Vertex AI.

mod request;
mod response;
mod schema;
mod stream;

use deft_model::ModelRequest;
use serde_json::Value;

use crate::ModelOptions;
use crate::draft::Draft;
use crate::provider_failure::{ProviderFailure, Words};
use crate::wire::{Events, Wire, WireRequest};

pub(crate) struct Gemini;

impl Wire for Gemini {
    fn home(&self) -> (&'static str, &'static [&'static str]) {
        ("https://generativelanguage.googleapis.com", &["v1beta"])
    }

    fn request(
        &self,
        options: &ModelOptions,
        request: &ModelRequest,
        streamed: bool,
    ) -> WireRequest {
        let model = options
            .model
            .strip_prefix("models/")
            .unwrap_or(&options.model);
        let verb = if streamed {
            "streamGenerateContent"
        } else {
            "generateContent"
        };
        WireRequest {
            path: vec!["models".to_owned(), format!("{model}:{verb}")],
            query: streamed.then_some("alt=sse"),
            headers: self.headers(options.key()),
            body: request::body(options, request),
        }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let key = key.map(|key| ("x-goog-api-key", key.to_owned()));
        key.into_iter().collect()
    }

    fn pings(&self) -> &'static [&'static [&'static str]] {
        &[&["models"]]
    }

    fn whole(&self, answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        response::whole(answer, draft)
    }

    fn stream(&self) -> Box<dyn Events> {
        Box::new(stream::Stream::default())
    }

    fn words(&self, answer: &Value) -> Option<Words> {
        response::words(answer)
    }
}

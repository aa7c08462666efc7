//! The Messages API of Anthropic.
//!
//! Not here: batches, files, and tools that the provider runs itself.

mod request;
mod response;
mod stream;

use deft_model::ModelRequest;
use serde_json::Value;

use crate::ModelOptions;
use crate::draft::Draft;
use crate::provider_failure::{ProviderFailure, Words};
use crate::wire::{Events, Wire, WireRequest};

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn home(&self) -> (&'static str, &'static [&'static str]) {
        ("https://api.anthropic.com", &["v1"])
    }

    fn request(
        &self,
        options: &ModelOptions,
        request: &ModelRequest,
        streamed: bool,
    ) -> WireRequest {
        WireRequest {
            path: vec!["messages".to_owned()],
            query: None,
            headers: self.headers(options.key()),
            body: request::body(options, request, streamed),
        }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
        headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
        headers
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

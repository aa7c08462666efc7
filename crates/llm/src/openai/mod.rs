//! Chat completions: the API of OpenAI and of every compatible server (`llama.cpp`, vLLM, LM Studio,
//! OpenRouter and so on).
//!
//! Not here: the Responses API, which only OpenAI has.

mod request;
mod response;
mod stream;

use deft_model::ModelRequest;
use serde_json::Value;

use crate::ModelOptions;
use crate::draft::Draft;
use crate::provider_failure::{ProviderFailure, Words};
use crate::wire::{Events, Wire, WireRequest};

pub(crate) struct OpenAi;

const HOME: &str = "https://api.openai.com";

impl Wire for OpenAi {
    fn home(&self) -> (&'static str, &'static [&'static str]) {
        (HOME, &["v1"])
    }

    fn request(
        &self,
        options: &ModelOptions,
        request: &ModelRequest,
        streamed: bool,
    ) -> WireRequest {
        WireRequest {
            path: vec!["chat".to_owned(), "completions".to_owned()],
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
        &[&["models"], &["", "health"]]
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

//! Models that cannot be asked because their settings are incomplete.

use std::sync::Arc;
use std::time::Duration;

use deft_model::{Failure, ModelRequest, Object};

use crate::{ModelOptions, Pong, Provider, ProviderFailure, ProviderKind, Reply, ReplyListener};

/// A provider that fails every request with this reason.
struct IncompleteModel(Failure);

impl Provider for IncompleteModel {
    fn reply<'a>(&'a self, _: &'a ModelRequest, _: Option<ReplyListener<'a>>) -> Reply<'a> {
        Box::pin(async { Err(ProviderFailure::from(self.0.clone())) })
    }

    fn ping(&self) -> Pong<'_> {
        Box::pin(async { Err(ProviderFailure::from(self.0.clone())) })
    }
}

/// Returns a model with this name and placeholder settings.
pub(crate) fn unready(name: String, failure: Failure) -> (ModelOptions, Arc<dyn Provider>) {
    (bare_options(name), Arc::new(IncompleteModel(failure)))
}

/// Returns settings that contain only the name of the model.
pub(crate) fn bare_options(name: String) -> ModelOptions {
    ModelOptions {
        name,
        provider: ProviderKind::OpenAi,
        model: String::new(),
        base_url: None,
        api_key: None,
        tools: true,
        max_tokens: 1,
        context_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(1),
        retries: 0,
        fallback: Vec::new(),
        concurrency: 1,
        price: None,
        extra: Object::new(),
    }
}

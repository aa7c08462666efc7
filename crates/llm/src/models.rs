//! All models by name: limits, retries, fallbacks and prices.

use std::time::Duration;

use deft_model::{Failure, FailureClass, ModelReply, ModelRequest};
use tokio_util::sync::CancellationToken;

use crate::{Heard, ModelOptions};

/// Everything about one question to a model.
pub struct Ask<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// The question.
    pub request: &'a ModelRequest,
    /// Hears the answer while it is written.
    pub heard: Option<Heard<'a>>,
    /// The longest it may take with all tries.
    pub deadline: Option<Duration>,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The reply.
    pub reply: ModelReply,
    /// The name of the model that gave it; another one than was asked after a fallback.
    pub model: String,
    /// What it cost, if prices are known.
    pub cost_usd: Option<f64>,
    /// How many tries it took, over all models.
    pub tries: u32,
}

/// The models that there are.
#[derive(Clone, Default)]
pub struct Models {
    all: std::sync::Arc<[ModelOptions]>,
}

impl Models {
    /// Models by their settings.
    pub fn new(all: Vec<ModelOptions>) -> Self {
        Self { all: all.into() }
    }

    /// The settings of a model.
    pub fn options(&self, name: &str) -> Option<&ModelOptions> {
        self.all.iter().find(|model| model.name == name)
    }

    /// All of them, in the order of the configuration.
    pub fn list(&self) -> &[ModelOptions] {
        &self.all
    }

    /// Asks a model, and the ones behind it if it does not answer.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<Answer, Failure> {
        if ask.cancel.is_cancelled() {
            return Err(Failure::new(
                FailureClass::Cancelled,
                "nobody waits for the answer",
            ));
        }
        tokio::task::yield_now().await;
        let message = format!("there is no model `{}`", ask.model);
        Err(Failure::new(FailureClass::Invalid, message))
    }
}

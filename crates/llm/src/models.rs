//! All models by name, and requests to them.
//!
//! Not here: making requests, with retries and fallbacks (`tries.rs`), and their cost (`price.rs`).

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use deft_model::{Failure, FailureClass, ModelReply, ModelRequest, Outage, Usd};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::http::{Http, Shared};
use crate::unready::unready;
use crate::wait::words;
use crate::{ModelOptions, Provider, ReplyListener};

/// A request to a model, with its limits.
pub struct Ask<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// The request.
    pub request: &'a ModelRequest,
    /// Receives the reply while it is written.
    pub listener: Option<ReplyListener<'a>>,
    /// Maximum duration with all tries.
    pub deadline: Option<Duration>,
    /// Cancels the request.
    pub cancel: CancellationToken,
    /// Counts the tries as they are made, including those without a reply.
    pub tries: Option<&'a AtomicU32>,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The reply.
    pub reply: ModelReply,
    /// The name of the model that replied; after a fallback, not the requested one.
    pub model: String,
    /// The cost, if prices are known.
    pub cost: Option<Usd>,
    /// Number of tries, over all models.
    pub tries: u32,
}

/// The configured models. Clones share the models and their limits.
#[derive(Clone, Default)]
pub struct Models {
    all: Arc<[ModelOptions]>,
    behind: Arc<[ModelBackend]>,
}

/// The provider and the limit of a model.
pub(crate) struct ModelBackend {
    pub(crate) provider: Arc<dyn Provider>,
    /// A permit for each concurrent call.
    pub(crate) places: Semaphore,
}

impl Models {
    /// Creates models from their settings.
    pub fn new(all: Vec<ModelOptions>) -> Self {
        Self::from_settings(all.into_iter().map(Ok))
    }

    /// Creates models from their settings. A model with incomplete settings is included under its name, and
    /// every request to it fails with the reason.
    pub fn from_settings(
        all: impl IntoIterator<Item = Result<ModelOptions, (String, Failure)>>,
    ) -> Self {
        let client = Shared::default();
        let with = |options: ModelOptions| {
            let provider: Arc<dyn Provider> = Arc::new(Http {
                options: options.clone(),
                client: client.clone(),
            });
            (options, provider)
        };
        let one = |model: Result<ModelOptions, (String, Failure)>| match model {
            Ok(options) => with(options),
            Err((name, failure)) => unready(name, failure),
        };
        Self::with_providers(all.into_iter().map(one).collect())
    }

    /// Creates models with providers of the caller.
    pub fn with_providers(all: Vec<(ModelOptions, Arc<dyn Provider>)>) -> Self {
        let (all, behind): (Vec<_>, Vec<_>) = all
            .into_iter()
            .map(|(options, provider)| {
                let places = options.concurrency.clamp(1, Semaphore::MAX_PERMITS);
                let places = Semaphore::new(places);
                (options, ModelBackend { provider, places })
            })
            .unzip();
        Self {
            all: all.into(),
            behind: behind.into(),
        }
    }

    /// Returns the settings of a model.
    pub fn options(&self, name: &str) -> Option<&ModelOptions> {
        self.all.iter().find(|model| model.name == name)
    }

    /// Returns the settings of all models, in the order of the configuration.
    pub fn list(&self) -> &[ModelOptions] {
        &self.all
    }

    /// Checks that the provider of a model answers (S0.68), without a request to the model and without cost.
    pub async fn ping(&self, name: &str, timeout: Duration) -> Result<(), Failure> {
        let Some((_, behind)) = self.find(name) else {
            return Err(unknown(name));
        };
        let pinged = tokio::time::timeout(timeout, behind.provider.ping()).await;
        let failure = match pinged {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(failed)) => failed.failure,
            Err(_) => {
                let message = format!("no answer within {}", words(timeout));
                Failure::new(FailureClass::Timeout, message)
            }
        };
        Err(add_model_name(name, failure))
    }

    pub(crate) fn find(&self, name: &str) -> Option<(&ModelOptions, &ModelBackend)> {
        let place = self.all.iter().position(|model| model.name == name)?;
        Some((self.all.get(place)?, self.behind.get(place)?))
    }
}

pub(crate) fn unknown(name: &str) -> Failure {
    Failure::new(FailureClass::Invalid, format!("unknown model `{name}`"))
        .hint(format!("models are configured under `[llm.{name}]`"))
}

/// Returns the beginning of the messages about a model.
fn heading(name: &str) -> String {
    format!("model `{name}`: ")
}

/// Removes the name of the model from a failure of [`Models::ask`], for a caller that shows it elsewhere.
pub fn remove_model_name(name: &str, mut failure: Failure) -> Failure {
    if let Some(message) = failure.message.strip_prefix(&heading(name)) {
        failure.message = message.to_owned();
    }
    failure
}

/// Adds the name of the model to a failure.
pub(crate) fn add_model_name(name: &str, mut failure: Failure) -> Failure {
    failure.message = format!("{}{}", heading(name), failure.message);
    let concerns_all = matches!(
        failure.class,
        FailureClass::Network | FailureClass::Timeout | FailureClass::Auth | FailureClass::Quota
    );
    if concerns_all || failure.blocked {
        failure.outage = Some(Box::new(Outage::Model(name.to_owned())));
    }
    failure
}

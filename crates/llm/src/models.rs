//! All models by name, and what is asked of them.
//!
//! Not here: asking them, with retries and fallbacks (`tries.rs`), what it costs (`price.rs`).

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

/// Everything about one question to a model.
pub struct Ask<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// The question.
    pub request: &'a ModelRequest,
    /// Hears the answer while it is written.
    pub listener: Option<ReplyListener<'a>>,
    /// The longest it may take with all tries.
    pub deadline: Option<Duration>,
    /// Ends it.
    pub cancel: CancellationToken,
    /// Counts requests as they are made, also those without an answer.
    pub tries: Option<&'a AtomicU32>,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The reply.
    pub reply: ModelReply,
    /// The name of the model that gave it; another one than was asked after a fallback.
    pub model: String,
    /// What it cost, if prices are known.
    pub cost: Option<Usd>,
    /// How many tries it took, over all models.
    pub tries: u32,
}

/// The models that there are. Clones are the same models, with the same limits.
#[derive(Clone, Default)]
pub struct Models {
    all: Arc<[ModelOptions]>,
    behind: Arc<[Behind]>,
}

/// What is behind the settings of a model.
pub(crate) struct Behind {
    pub(crate) provider: Arc<dyn Provider>,
    /// A permit for each call that may be under way.
    pub(crate) places: Semaphore,
}

impl Models {
    /// Models by their settings.
    pub fn new(all: Vec<ModelOptions>) -> Self {
        Self::from_settings(all.into_iter().map(Ok))
    }

    /// Models by their settings. One whose settings are not complete is there under its name, and
    /// says why when it is asked.
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

    /// Models with providers of the caller.
    pub fn with_providers(all: Vec<(ModelOptions, Arc<dyn Provider>)>) -> Self {
        let (all, behind): (Vec<_>, Vec<_>) = all
            .into_iter()
            .map(|(options, provider)| {
                let places = options.concurrency.clamp(1, Semaphore::MAX_PERMITS);
                let places = Semaphore::new(places);
                (options, Behind { provider, places })
            })
            .unzip();
        Self {
            all: all.into(),
            behind: behind.into(),
        }
    }

    /// The settings of a model.
    pub fn options(&self, name: &str) -> Option<&ModelOptions> {
        self.all.iter().find(|model| model.name == name)
    }

    /// All of them, in the order of the configuration.
    pub fn list(&self) -> &[ModelOptions] {
        &self.all
    }

    /// Whether the provider of a model is there (S0.68). Asks the model nothing and costs nothing.
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
        Err(named(name, failure))
    }

    pub(crate) fn find(&self, name: &str) -> Option<(&ModelOptions, &Behind)> {
        let place = self.all.iter().position(|model| model.name == name)?;
        Some((self.all.get(place)?, self.behind.get(place)?))
    }
}

pub(crate) fn unknown(name: &str) -> Failure {
    Failure::new(FailureClass::Invalid, format!("unknown model `{name}`"))
        .hint(format!("models are configured under `[llm.{name}]`"))
}

/// The same failure, with the name of the model that it is about.
pub(crate) fn named(name: &str, mut failure: Failure) -> Failure {
    failure.message = format!("model `{name}`: {}", failure.message);
    let concerns_all = matches!(
        failure.class,
        FailureClass::Network | FailureClass::Timeout | FailureClass::Auth | FailureClass::Quota
    );
    if concerns_all || failure.blocked {
        failure.outage = Some(Box::new(Outage::Model(name.to_owned())));
    }
    failure
}

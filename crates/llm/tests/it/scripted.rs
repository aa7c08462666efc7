//! Models with scripted providers, without a network.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_llm::{
    Answer, Ask, Delta, ModelOptions, Models, Overflow, Pong, Provider, ProviderFailure,
    ProviderKind, Reply, ReplyListener,
};
use deft_model::{Failure, FailureClass, ModelReply, ModelRequest, TokenUsage};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::support::{options, request};

/// The reaction of a provider to one request.
#[derive(Clone)]
pub(crate) enum Does {
    /// Replies after this many milliseconds.
    Answers(u64),
    Fails(ProviderFailure),
    /// Sends some text, then fails.
    SaysAndFails(ProviderFailure),
    Hangs,
}

/// A provider with a list of reactions.
#[derive(Default)]
pub(crate) struct Script {
    left: Mutex<VecDeque<Does>>,
    asked: AtomicUsize,
    now: AtomicUsize,
    pub(crate) most: AtomicUsize,
}

impl Provider for Script {
    fn reply<'a>(&'a self, _: &'a ModelRequest, listener: Option<ReplyListener<'a>>) -> Reply<'a> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            let next = self.left.lock().expect("no thread panicked").pop_front();
            let result = match next.expect("a question too many") {
                Does::Answers(millis) => {
                    sleep(Duration::from_millis(millis)).await;
                    Ok(answer())
                }
                Does::Fails(failed) => Err(failed),
                Does::SaysAndFails(failed) => {
                    if let Some(listener) = listener {
                        listener(Delta::Text("Hel".to_owned()));
                    }
                    Err(failed)
                }
                Does::Hangs => std::future::pending().await,
            };
            self.now.fetch_sub(1, Ordering::SeqCst);
            result
        })
    }

    fn ping(&self) -> Pong<'_> {
        Box::pin(std::future::pending())
    }
}

pub(crate) fn answer() -> ModelReply {
    ModelReply {
        text: "Hello.".to_owned(),
        usage: TokenUsage {
            input: 1_000_000,
            cached: 400_000,
            cache_write: 0,
            output: 100_000,
            estimated: false,
        },
        ..ModelReply::default()
    }
}

pub(crate) fn permanent_failure(class: FailureClass) -> ProviderFailure {
    Failure::new(class, format!("it is {class:?}").to_lowercase()).into()
}

pub(crate) fn temporary_failure() -> ProviderFailure {
    ProviderFailure {
        passing: true,
        ..permanent_failure(FailureClass::Network)
    }
}

pub(crate) fn after(seconds: u64) -> ProviderFailure {
    ProviderFailure {
        after: Some(Duration::from_secs(seconds)),
        ..temporary_failure()
    }
}

pub(crate) fn too_long(needed: Option<u64>) -> ProviderFailure {
    ProviderFailure {
        overflow: Some(Box::new(Overflow { needed, fits: None })),
        ..permanent_failure(FailureClass::Limit)
    }
}

/// Models in the order in which they are asked: `main`, then its fallbacks.
pub(crate) struct World {
    pub(crate) models: Models,
    pub(crate) scripts: Vec<Arc<Script>>,
}

pub(crate) fn world(all: Vec<(ModelOptions, Vec<Does>)>) -> World {
    let names: Vec<String> = all
        .iter()
        .map(|(options, _)| options.name.clone())
        .collect();
    let mut scripts = Vec::new();
    let mut models: Vec<(ModelOptions, Arc<dyn Provider>)> = Vec::new();
    for (mut options, does) in all {
        if options.name == "main" && options.fallback.is_empty() {
            options.fallback = names[1..].to_vec();
        }
        let script = Arc::new(Script {
            left: Mutex::new(does.into()),
            ..Script::default()
        });
        scripts.push(script.clone());
        models.push((options, script));
    }
    World {
        models: Models::with_providers(models),
        scripts,
    }
}

pub(crate) fn model(name: &str) -> ModelOptions {
    ModelOptions {
        name: name.to_owned(),
        retries: 2,
        timeout: Duration::from_secs(30),
        ..options(ProviderKind::OpenAi, "http://127.0.0.1:1")
    }
}

impl World {
    /// Asks the first model. Returns the result and how long it took.
    pub(crate) async fn ask(&self, deadline: Option<u64>) -> (Result<Answer, Failure>, Duration) {
        let start = Instant::now();
        let request = request();
        let ask = Ask {
            model: "main",
            request: &request,
            listener: None,
            deadline: deadline.map(Duration::from_secs),
            cancel: CancellationToken::new(),
            tries: None,
        };
        let result = self.models.ask(ask).await;
        (result, start.elapsed())
    }

    pub(crate) fn asked(&self) -> Vec<usize> {
        let count = |script: &Arc<Script>| script.asked.load(Ordering::SeqCst);
        self.scripts.iter().map(count).collect()
    }
}

pub(crate) fn between(elapsed: Duration, from: u64, to: u64) {
    let millis = Duration::from_millis;
    // The timer of tokio counts whole milliseconds.
    let range = millis(from)..=millis(to + 5);
    assert!(range.contains(&elapsed), "{elapsed:?} is not in {range:?}");
}

//! A request with all its tries: concurrency limits, timeouts, retries and fallbacks.
//!
//! Time is tokio's, so that tests can pause it. Not here: cancelling, which drops the whole future.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deft_model::{Failure, FailureClass, ModelReply};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::models::{ModelBackend, add_model_name, unknown};
use crate::provider_failure::ProviderFailure;
use crate::wait::{MAX_REQUESTED_DELAY, backoff, words};
use crate::{Answer, Ask, Delta, ModelOptions, Models};

impl Models {
    /// Asks a model for a reply, and its fallbacks if it fails.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<Answer, Failure> {
        let cancelled =
            || Failure::new(FailureClass::Cancelled, "the caller cancelled the request");
        tokio::select! {
            biased;
            () = ask.cancel.cancelled() => Err(cancelled()),
            answer = Box::pin(Tries::new(self, &ask).run()) => answer,
        }
    }
}

struct Tries<'a> {
    models: &'a Models,
    ask: &'a Ask<'a>,
    /// The deadline of all tries, and the duration from the start.
    end: Option<(Instant, Duration)>,
    count: u32,
    /// Whether the listener received text of a try that may still fail.
    got_token: AtomicBool,
}

/// Why a model was given up.
enum GiveUpReason {
    /// The model failed; others may succeed.
    Model(ProviderFailure),
    /// The deadline of all tries has passed; with the failure before that, if any.
    Time(Option<ProviderFailure>),
}

impl<'a> Tries<'a> {
    fn new(models: &'a Models, ask: &'a Ask<'a>) -> Self {
        // A deadline beyond the range of the clock is no deadline.
        let at = |given: Duration| Some((Instant::now().checked_add(given)?, given));
        Self {
            models,
            ask,
            end: ask.deadline.and_then(at),
            count: 0,
            got_token: AtomicBool::new(false),
        }
    }

    async fn run(mut self) -> Result<Answer, Failure> {
        let name = self.ask.model;
        let Some((asked, _)) = self.models.find(name) else {
            return Err(unknown(name));
        };
        let mut failures: Vec<Failure> = Vec::new();
        let mut last: Option<(&ModelOptions, ProviderFailure)> = None;
        let names = std::iter::once(name).chain(asked.fallback.iter().map(String::as_str));
        for name in names {
            let Some((options, behind)) = self.models.find(name) else {
                failures.push(unknown(name));
                continue;
            };
            if let Some((before, failed)) = &last
                && !self.may_help(options, before, failed)
            {
                continue;
            }
            match self.model(options, behind).await {
                Ok(reply) => {
                    return Ok(Answer {
                        cost: options.price.map(|price| price.cost(reply.usage)),
                        reply,
                        model: options.name.clone(),
                        tries: self.count,
                    });
                }
                Err(GiveUpReason::Time(failed)) => {
                    failures.extend(failed.map(|failed| add_model_name(name, failed.failure)));
                    return Err(self.too_late(name, &failures));
                }
                Err(GiveUpReason::Model(failed)) => {
                    tracing::debug!(
                        model = name, failure = %failed.failure,
                        "a model failed; trying the next one"
                    );
                    failures.push(add_model_name(name, failed.failure.clone()));
                    last = Some((options, failed));
                }
            }
        }
        Err(all(failures))
    }

    /// Whether another model may succeed after this failure.
    fn may_help(
        &self,
        options: &ModelOptions,
        before: &ModelOptions,
        failed: &ProviderFailure,
    ) -> bool {
        if !self.ask.request.tools.is_empty() && !options.tools {
            return false;
        }
        if let Some(overflow) = &failed.overflow {
            let needed = overflow.needed.or(before.context_tokens).or(overflow.fits);
            return match (options.context_tokens, needed) {
                (Some(fits), Some(needed)) => fits > needed,
                _ => false,
            };
        }
        // If one provider calls a request malformed, the next one does too.
        failed.failure.class != FailureClass::Invalid
    }

    /// Asks one model until it replies or is given up.
    async fn model(
        &mut self,
        options: &ModelOptions,
        behind: &ModelBackend,
    ) -> Result<ModelReply, GiveUpReason> {
        let mut tries = 0;
        let mut before = None;
        loop {
            let failed = match self.once(options, behind).await {
                Ok(reply) => return Ok(reply),
                Err(GiveUpReason::Model(failed)) => failed,
                Err(GiveUpReason::Time(_)) => return Err(GiveUpReason::Time(before)),
            };
            tries += 1;
            if !failed.passing || tries > options.retries {
                return Err(GiveUpReason::Model(failed));
            }
            let wait = failed.after.unwrap_or_else(|| self.backoff(options, tries));
            self.check_wait(wait, &failed)?;
            tracing::debug!(model = %options.name, ?wait, failure = %failed.failure, "trying again");
            sleep(wait).await;
            before = Some(failed);
        }
    }

    /// Makes one try, within the model's concurrency limit.
    async fn once(
        &mut self,
        options: &ModelOptions,
        behind: &ModelBackend,
    ) -> Result<ModelReply, GiveUpReason> {
        let place = behind.places.acquire();
        let place = match self.end {
            Some((end, _)) => timeout_at(end, place)
                .await
                .map_err(|_| GiveUpReason::Time(None))?,
            None => place.await,
        };
        // The semaphore is never closed.
        let _place = place.map_err(|_| GiveUpReason::Time(None))?;
        let left = self.time_left();
        if left.is_zero() {
            return Err(GiveUpReason::Time(None));
        }
        if self.got_token.swap(false, Ordering::SeqCst)
            && let Some(listener) = self.ask.listener
        {
            listener(Delta::Again);
        }
        self.count += 1;
        if let Some(tries) = self.ask.tries {
            tries.fetch_add(1, Ordering::Relaxed);
        }
        let noting = |delta: Delta| {
            self.got_token.store(true, Ordering::SeqCst);
            if let Some(listener) = self.ask.listener {
                listener(delta);
            }
        };
        let listener: Option<crate::ReplyListener<'_>> =
            self.ask.listener.is_some().then_some(&noting);
        let reply = behind.provider.reply(self.ask.request, listener);
        match timeout(options.timeout.min(left), reply).await {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(failed)) => Err(GiveUpReason::Model(failed)),
            Err(_) if left <= options.timeout => Err(GiveUpReason::Time(None)),
            Err(_) => {
                let message = format!("no answer within {}", words(options.timeout));
                Err(GiveUpReason::Model(ProviderFailure::transient(
                    FailureClass::Timeout,
                    message,
                )))
            }
        }
    }

    fn time_left(&self) -> Duration {
        let left = |(end, _): (Instant, Duration)| end.saturating_duration_since(Instant::now());
        self.end.map_or(Duration::MAX, left)
    }

    /// Fails if a wait would pass the deadline or takes too long.
    fn check_wait(&self, wait: Duration, failed: &ProviderFailure) -> Result<(), GiveUpReason> {
        let mut failed = failed.clone();
        if wait >= self.time_left() {
            if failed.after.is_some() {
                failed.failure.message = format!(
                    "{}; the provider asks to retry after {}, but only {} are left",
                    failed.failure.message,
                    words(wait),
                    words(self.time_left())
                );
            }
            return Err(GiveUpReason::Model(failed));
        }
        if wait > MAX_REQUESTED_DELAY {
            failed.failure.message = format!(
                "{}; the provider asks to retry after {}",
                failed.failure.message,
                words(wait)
            );
            return Err(GiveUpReason::Model(failed));
        }
        Ok(())
    }

    /// Returns the delay before a retry: the same for equal requests, different for others.
    fn backoff(&self, options: &ModelOptions, tries: u32) -> Duration {
        let last_message = self.ask.request.messages.last();
        backoff(&format!("{}{last_message:?}", options.name), tries)
    }

    fn too_late(&self, name: &str, failures: &[Failure]) -> Failure {
        let given = self.end.map_or(Duration::ZERO, |(_, given)| given);
        let mut message = format!(
            "model `{name}`: no answer within the {} allowed",
            words(given)
        );
        if let Some(failure) = failures.last() {
            message = format!("{message}; before that, {}", failure.message);
        }
        Failure::new(FailureClass::Timeout, message)
    }
}

/// Returns the failure when no model replied: the class and hint of the requested model, and the messages of
/// all models.
fn all(failures: Vec<Failure>) -> Failure {
    let mut failures = failures.into_iter();
    let Some(mut first) = failures.next() else {
        return Failure::new(FailureClass::Other, "no model was called");
    };
    for failure in failures {
        first.message = format!("{}; {}", first.message, failure.message);
    }
    first
}

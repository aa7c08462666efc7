//! How long something may take and who may stop it.

use std::future::Future;
use std::time::Duration;

use deft_model::{Failure, FailureClass};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why something ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Late,
    Cancelled,
}

/// The end of a call: an instant, and a person's wish.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) allowed: Duration,
    pub(crate) until: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Limit {
    pub(crate) fn new(allowed: Duration, cancel: CancellationToken) -> Self {
        // An endless wait is as good as a hundred years.
        let until = Instant::now() + allowed.min(Duration::from_hours(876_000));
        Self {
            allowed,
            until,
            cancel,
        }
    }

    /// Waits for the future, but no longer than the limit says.
    pub(crate) async fn run<T>(&self, future: impl Future<Output = T>) -> Result<T, Stop> {
        tokio::select! {
            biased;
            value = future => Ok(value),
            () = self.cancel.cancelled() => Err(Stop::Cancelled),
            () = tokio::time::sleep_until(self.until) => Err(Stop::Late),
        }
    }

    /// The failure that a stop is, for something that was only `doing` so far.
    pub(crate) fn failure(&self, stop: Stop, doing: &str) -> Failure {
        match stop {
            Stop::Late => Failure::new(
                FailureClass::Timeout,
                format!("no answer within {}: {doing}", words(self.allowed)),
            )
            .hint("raise the step's `timeout` or the server's `timeout`"),
            Stop::Cancelled => {
                Failure::new(FailureClass::Cancelled, format!("cancelled while {doing}"))
            }
        }
    }
}

/// A length of time as people write it.
pub(crate) fn words(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    if seconds < 1.0 {
        format!("{} ms", length.as_millis())
    } else if length.subsec_millis() == 0 {
        format!("{} s", length.as_secs())
    } else {
        format!("{seconds:.1} s")
    }
}

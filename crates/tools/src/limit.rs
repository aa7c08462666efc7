//! Deadlines and cancellation.

use std::future::Future;
use std::time::Duration;

use deft_model::{Failure, FailureClass};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a future was stopped before it completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Late,
    Cancelled,
}

/// The limits of a call: a deadline and a cancellation token.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) allowed: Duration,
    pub(crate) until: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Limit {
    pub(crate) fn new(allowed: Duration, cancel: CancellationToken) -> Self {
        // Caps the duration at 100 years, so that adding it to an instant cannot overflow.
        let until = Instant::now() + allowed.min(Duration::from_hours(876_000));
        Self {
            allowed,
            until,
            cancel,
        }
    }

    /// Waits for `future` until the deadline or a cancellation.
    pub(crate) async fn run<T>(&self, future: impl Future<Output = T>) -> Result<T, Stop> {
        tokio::select! {
            biased;
            value = future => Ok(value),
            () = self.cancel.cancelled() => Err(Stop::Cancelled),
            () = tokio::time::sleep_until(self.until) => Err(Stop::Late),
        }
    }

    /// Returns the failure for a stop; `doing` describes the interrupted work.
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

/// Formats a duration in words.
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

//! The clock, as a trait that tests replace.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// A source of the current time that can also wait for an instant.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns how long this process has been running, unaffected by changes of the clock. May exclude time
    /// in which the host was suspended.
    fn uptime(&self) -> Duration {
        static PROCESS_START: OnceLock<Instant> = OnceLock::new();
        PROCESS_START.get_or_init(Instant::now).elapsed()
    }

    /// Waits until the clock has reached `until`.
    fn sleep_until(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Like [`sleep_until`](Self::sleep_until), but with sub-millisecond precision, for callers that must be
    /// on time.
    fn wait_for(&self, instant: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.sleep_until(instant)
    }
}

/// The clock of the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// Longest single sleep. Longer ones are split, so that a suspended host or a clock that was set is noticed.
const MAX_SLEEP: Duration = Duration::from_secs(30);

/// The end of a precise wait, slept by a dedicated thread.
const PRECISE_WAIT: SignedDuration = SignedDuration::from_millis(3);

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep_until(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            loop {
                let left = until.duration_since(Timestamp::now());
                match Duration::try_from(left) {
                    Ok(left) if !left.is_zero() => tokio::time::sleep(left.min(MAX_SLEEP)).await,
                    _ => return,
                }
            }
        })
    }

    /// The timer of the runtime counts whole milliseconds and wakes after the requested one. A thread sleeps
    /// the rest, which the host wakes within a tenth of a millisecond.
    fn wait_for(&self, instant: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let nearly = self.sleep_until(instant.saturating_sub(PRECISE_WAIT).unwrap_or(instant));
        Box::pin(async move {
            nearly.await;
            loop {
                let left = instant.duration_since(Timestamp::now());
                match Duration::try_from(left) {
                    Ok(left) if !left.is_zero() => {
                        let slept = tokio::task::spawn_blocking(move || {
                            std::thread::sleep(left.min(MAX_SLEEP));
                        });
                        if slept.await.is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        })
    }
}

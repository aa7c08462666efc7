//! The present, as a value that tests can move.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// Tells the time and waits for it.
pub trait Clock: Send + Sync + 'static {
    /// The present.
    fn now(&self) -> Timestamp;

    /// How long this process has lived, whatever was done to the clock. Time in which the host slept
    /// may not count.
    fn lived(&self) -> Duration {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        BEGUN.get_or_init(Instant::now).elapsed()
    }

    /// Ends when the present has come that far.
    fn sleep_until(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// The same to the point, for the few who have to be on time.
    fn wait_for(&self, instant: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.sleep_until(instant)
    }
}

/// The clock of the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// Long sleeps are cut in pieces, so that a suspended host or a clock that was set is noticed.
const LONGEST_NAP: Duration = Duration::from_secs(30);

/// What is left to a thread of its own.
const REST: SignedDuration = SignedDuration::from_millis(3);

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep_until(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            loop {
                let left = until.duration_since(Timestamp::now());
                match Duration::try_from(left) {
                    Ok(left) if !left.is_zero() => tokio::time::sleep(left.min(LONGEST_NAP)).await,
                    _ => return,
                }
            }
        })
    }

    /// The timer of the runtime counts in whole milliseconds and wakes after the one that was
    /// meant. The rest is slept by a thread, which the host wakes within a tenth of one.
    fn wait_for(&self, instant: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let nearly = self.sleep_until(instant.saturating_sub(REST).unwrap_or(instant));
        Box::pin(async move {
            nearly.await;
            loop {
                let left = instant.duration_since(Timestamp::now());
                match Duration::try_from(left) {
                    Ok(left) if !left.is_zero() => {
                        let slept = tokio::task::spawn_blocking(move || {
                            std::thread::sleep(left.min(LONGEST_NAP));
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

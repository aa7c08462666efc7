//! The present, as a value that tests can move.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;

/// Tells the time and waits for it.
pub trait Clock: Send + Sync + 'static {
    /// The present.
    fn now(&self) -> Timestamp;

    /// Ends when the present has come that far.
    fn sleep_until(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// The clock of the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// Long sleeps are cut in pieces, so that a suspended host or a clock that was set is noticed.
const LONGEST_NAP: Duration = Duration::from_secs(30);

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
}

//! Wakes loops that wait for work.

use tokio::sync::Notify;

/// One bell per loop, so that a thousand runs that end do not make the other loops look for work a
/// thousand times.
#[derive(Default)]
pub struct Bells {
    /// A slot may be due earlier than was known.
    pub schedules: Notify,
    /// A run may be due.
    pub runs: Notify,
    /// A message may be due.
    pub messages: Notify,
    /// A run is driven in this process.
    pub driving: Notify,
    /// The models have changed.
    pub models: Notify,
}

impl Bells {
    /// Wakes every loop that looks for work in the store: anything may have been stored.
    pub fn ring_all(&self) {
        self.schedules.notify_waiters();
        self.runs.notify_waiters();
        self.messages.notify_waiters();
    }
}

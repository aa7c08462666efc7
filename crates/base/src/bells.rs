//! Wake-up signals for the loops that wait for work.

use tokio::sync::Notify;

/// One [`Notify`] per loop, so that a thousand ending runs do not wake loops that have nothing to do with
/// them.
#[derive(Default)]
pub struct Bells {
    /// A slot may be due earlier than the schedule loop assumes.
    pub schedules: Notify,
    /// A run may be due.
    pub runs: Notify,
    /// A notice may be due.
    pub messages: Notify,
    /// A run is being driven in this process.
    pub driving: Notify,
    /// The configured models have changed.
    pub models: Notify,
}

impl Bells {
    /// Wakes every loop that reads work from the store, because any kind of work may have been stored.
    pub fn ring_all(&self) {
        self.schedules.notify_waiters();
        self.runs.notify_waiters();
        self.messages.notify_waiters();
    }
}

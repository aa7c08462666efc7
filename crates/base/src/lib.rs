//! What every part of the engine shares: the store, the clock, the zone of the host, the bells that
//! wake its loops, and one error type.
//!
//! Not here: skills, runs, models, and anything that decides.

mod bells;
mod clock;
mod error;
mod stored;

use std::sync::{Arc, OnceLock};

use deft_model::Digest;
use deft_skillfile::Moment;
use deft_store::Store;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

pub use bells::Bells;
pub use clock::{Clock, SystemClock};
pub use error::Error;
pub use stored::{read_instant, read_setting, read_stored, run_failure, run_inputs, run_outputs};

/// The store, the clock and the bells. Cheap to clone: all clones share them.
#[derive(Clone)]
pub struct Base {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// The name of the host's zone, which may change.
    zone: Arc<watch::Sender<Arc<str>>>,
    bells: Arc<Bells>,
    /// The present of schedules, where it is not the clock's.
    schedule_time: Arc<OnceLock<Timestamp>>,
}

impl Base {
    /// A base with its own bells.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, zone: &str) -> Self {
        Self {
            store,
            clock,
            zone: Arc::new(watch::Sender::new(zone.into())),
            bells: Arc::default(),
            schedule_time: Arc::default(),
        }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The bells.
    pub fn bells(&self) -> &Bells {
        &self.bells
    }

    /// The present to the microsecond, which is what stores keep: an instant means the same before
    /// and after it was stored.
    pub fn now(&self) -> Timestamp {
        let now = self.clock.now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    /// The present as schedules see it.
    pub fn schedule_now(&self) -> Timestamp {
        self.held_schedule_time().unwrap_or_else(|| self.now())
    }

    /// The time that schedules see, where it was set.
    pub fn held_schedule_time(&self) -> Option<Timestamp> {
        self.schedule_time.get().copied()
    }

    /// Sets the time that schedules see, to try them out. The first call counts.
    pub fn hold_schedule_time(&self, at: Timestamp) {
        self.schedule_time.get_or_init(|| at);
    }

    /// The zone of the host.
    pub fn host_zone(&self) -> TimeZone {
        TimeZone::get(&self.zone_name()).unwrap_or(TimeZone::UTC)
    }

    /// The name of the host's zone.
    pub fn zone_name(&self) -> Arc<str> {
        Arc::clone(&self.zone.borrow())
    }

    /// Uses another zone from now on. Slots that are planned already stay where they are.
    pub fn set_zone(&self, zone: &str) {
        self.zone.send_replace(zone.into());
    }

    /// The present and the zone, for readers of skills.
    pub fn moment(&self) -> Moment {
        let zone = self.host_zone();
        Moment {
            now: self.now(),
            zone,
        }
    }
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn hex_digest(bytes: &[u8]) -> String {
    Digest::from_bytes(Sha256::digest(bytes).into()).to_string()
}

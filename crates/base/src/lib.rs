//! What all crates of the engine share: the store, the clock, the zone of the host, the bells that wake the
//! loops, and one error type.
//!
//! Not here: skills, runs, models, and decisions.

mod bells;
mod clock;
mod error;
mod stored;

use std::sync::{Arc, OnceLock};

use deft_skillfile::Moment;
use deft_store::Store;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::watch;

pub use bells::Bells;
pub use clock::{Clock, SystemClock};
pub use error::Error;
pub use stored::{
    read_instant, read_or_log, read_setting, read_stored, run_failure, run_inputs, run_outputs,
};

/// The store, the clock and the bells. Cheap to clone: all clones share them.
#[derive(Clone)]
pub struct Base {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// The name of the host's zone, which can change.
    zone: Arc<watch::Sender<Arc<str>>>,
    bells: Arc<Bells>,
    /// Overrides the clock for schedules, once set.
    schedule_time: Arc<OnceLock<Timestamp>>,
}

impl Base {
    /// Returns a base with new bells.
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

    /// Returns the current time in microseconds, the precision of stores: an instant stays equal after it was
    /// stored and read back.
    pub fn now(&self) -> Timestamp {
        let now = self.clock.now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    /// Returns the current time as schedules see it.
    pub fn schedule_now(&self) -> Timestamp {
        self.held_schedule_time().unwrap_or_else(|| self.now())
    }

    /// Returns the time set with [`hold_schedule_time`](Self::hold_schedule_time), if any.
    pub fn held_schedule_time(&self) -> Option<Timestamp> {
        self.schedule_time.get().copied()
    }

    /// Fixes the time that schedules see, to try them out. Only the first call has an effect.
    pub fn hold_schedule_time(&self, at: Timestamp) {
        self.schedule_time.get_or_init(|| at);
    }

    /// The time zone of the host.
    pub fn host_zone(&self) -> TimeZone {
        TimeZone::get(&self.zone_name()).unwrap_or(TimeZone::UTC)
    }

    /// The name of the host's time zone.
    pub fn zone_name(&self) -> Arc<str> {
        Arc::clone(&self.zone.borrow())
    }

    /// Changes the time zone. Slots that are already planned keep their instants.
    pub fn set_zone(&self, zone: &str) {
        self.zone.send_replace(zone.into());
    }

    /// Returns the current time and the zone, for readers of skills.
    pub fn moment(&self) -> Moment {
        let zone = self.host_zone();
        Moment {
            now: self.now(),
            zone,
        }
    }
}

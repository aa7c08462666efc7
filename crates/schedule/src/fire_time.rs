//! The meaning of a time phrase, as one of the three timings that a record can store.
//!
//! Not here: parsing of phrases, which is in `prose` and `parse`.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cron::Cron;
use crate::duration::minutes;
use crate::error::Error;
use crate::schedule::Schedule;

/// The meaning of a time phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FireTime {
    /// At the times of a cron expression.
    Cron(String),
    /// Every `n` minutes.
    Minutes(u64),
    /// Once.
    At(Timestamp),
}

impl FireTime {
    /// Converts to a schedule. Wall times are in `zone`, intervals start at `now`.
    pub fn schedule(&self, zone: &TimeZone, now: Timestamp) -> Result<Schedule, Error> {
        match self {
            Self::Cron(text) => {
                let cron = Cron::parse(text)?;
                cron.check(zone, now)?;
                let zone = zone.clone();
                Ok(Schedule::Cron { cron, zone })
            }
            Self::Minutes(count) => {
                let every = minutes(i64::try_from(*count).unwrap_or(i64::MAX))?;
                Ok(Schedule::Interval { every, anchor: now })
            }
            Self::At(at) => Ok(Schedule::At(*at)),
        }
    }
}

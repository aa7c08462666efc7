//! The three kinds of schedules, with a common interface to compute fires.
//!
//! Schedules are stateless: callers store which slots have fired, and `misfire` decides about missed ones.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cron::Cron;
use crate::words;
use crate::zone::zone_name;

/// A schedule: the times at which something fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// At wall times that match a cron expression.
    Cron {
        /// The expression.
        cron: Cron,
        /// The time zone of the wall times.
        zone: TimeZone,
    },
    /// At a fixed interval.
    Interval {
        /// The time between two fires.
        every: SignedDuration,
        /// The start of the interval; the first fire is one interval later.
        anchor: Timestamp,
    },
    /// Once.
    At(Timestamp),
}

impl Schedule {
    /// Returns the first fire later than `after`.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Schedule::Cron { cron, zone } => cron.next_after(zone, after),
            Schedule::Interval { every, anchor } => next_slot(*every, *anchor, after),
            Schedule::At(at) => (*at > after).then_some(*at),
        }
    }

    /// Returns the first `n` fires later than `after`; fewer if the schedule ends.
    pub fn next(&self, after: Timestamp, n: usize) -> Vec<Timestamp> {
        std::iter::successors(self.next_after(after), |last| self.next_after(*last))
            .take(n)
            .collect()
    }

    /// Returns the newest fire not later than `until`, given an earlier fire. Bisects, so it takes few steps.
    pub(crate) fn newest(&self, known: Timestamp, until: Timestamp) -> Timestamp {
        let (mut newest, mut end) = (known, until);
        let fire = |after| self.next_after(after).filter(|fire| *fire <= until);
        while let Some(following) = fire(newest) {
            newest = following;
            let middle = newest + end.duration_since(newest) / 2;
            match fire(middle) {
                Some(later) => newest = later,
                None => end = middle,
            }
        }
        newest
    }

    /// Returns the number of fires later than `after` and not later than `until`.
    pub(crate) fn count(&self, after: Timestamp, until: Timestamp) -> u64 {
        if until <= after {
            return 0;
        }
        match self {
            Schedule::Cron { cron, zone } => cron.count(zone, after, until),
            Schedule::Interval { every, anchor } => {
                let slots = |t| slots(*every, *anchor, t).unwrap_or_default();
                u64::try_from(slots(until) - slots(after)).unwrap_or(u64::MAX)
            }
            Schedule::At(at) => u64::from(*at > after && *at <= until),
        }
    }

    /// Describes the schedule in English, for a reader in `zone`.
    pub fn words(&self, zone: &TimeZone) -> String {
        match self {
            Schedule::Cron { cron, zone: own } => {
                let (own, reader) = (zone_name(own), zone_name(zone));
                let words = cron.words();
                // The time zone is only mentioned if it differs from the reader's.
                if own == reader {
                    words
                } else {
                    format!("{words} ({own})")
                }
            }
            Schedule::Interval { every, .. } => words::interval(*every),
            Schedule::At(at) => words::once(*at, zone),
        }
    }
}

/// Returns the first slot of an interval later than `after`.
fn next_slot(every: SignedDuration, anchor: Timestamp, after: Timestamp) -> Option<Timestamp> {
    let next = slots(every, anchor, after)? + 1;
    let slot = every.as_nanos().checked_mul(next)?;
    Timestamp::from_nanosecond(slot.checked_add(anchor.as_nanosecond())?).ok()
}

/// Returns the number of slots of an interval not later than `t`; `None` if the interval is not positive.
fn slots(every: SignedDuration, anchor: Timestamp, t: Timestamp) -> Option<i128> {
    let (step, passed) = (every.as_nanos(), t.as_nanosecond() - anchor.as_nanosecond());
    (step > 0).then(|| passed.max(0) / step)
}

//! The three kinds of schedule behind one question: when next?
//!
//! There is no state here: what has fired already, and what to do about fires that were missed, is
//! the caller's to keep.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cron::Cron;
use crate::words;
use crate::zone::zone_name;

/// When something fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// At the wall times a cron expression names in a zone.
    Cron {
        /// The expression.
        cron: Cron,
        /// The zone whose wall clock it reads.
        zone: TimeZone,
    },
    /// On a grid of equal steps.
    Interval {
        /// The step.
        every: SignedDuration,
        /// Where the grid starts; the first fire is one step later.
        anchor: Timestamp,
    },
    /// Once.
    At(Timestamp),
}

impl Schedule {
    /// The first fire later than `after`.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Schedule::Cron { cron, zone } => cron.next_after(zone, after),
            Schedule::Interval { every, anchor } => next_slot(*every, *anchor, after),
            Schedule::At(at) => (*at > after).then_some(*at),
        }
    }

    /// The first `n` fires later than `after`, fewer when the schedule ends.
    pub fn next(&self, after: Timestamp, n: usize) -> Vec<Timestamp> {
        std::iter::successors(self.next_after(after), |last| self.next_after(*last))
            .take(n)
            .collect()
    }

    /// The schedule in words, for a reader who lives in `zone`.
    pub fn words(&self, zone: &TimeZone) -> String {
        match self {
            Schedule::Cron { cron, zone: own } => {
                let (own, reader) = (zone_name(own), zone_name(zone));
                let words = cron.words();
                // The zone is worth saying only where the reader would assume another one.
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

/// The first slot of the grid later than `after`.
fn next_slot(every: SignedDuration, anchor: Timestamp, after: Timestamp) -> Option<Timestamp> {
    let (step, start) = (every.as_nanos(), anchor.as_nanosecond());
    if step <= 0 {
        return None;
    }
    let passed = (after.as_nanosecond() - start).max(0) / step;
    let slot = step.checked_mul(passed + 1)?.checked_add(start)?;
    Timestamp::from_nanosecond(slot).ok()
}

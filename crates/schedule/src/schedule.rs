//! The three kinds of schedule behind one question: when next?
//!
//! There is no state here: what has fired already is the caller's to keep, and what to do about fires
//! that were missed is decided in `misfire`.

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

    /// The newest fire not later than `until`, given an earlier one; halving finds it in a few steps.
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

    /// How many fires are later than `after` and not later than `until`.
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
    let next = slots(every, anchor, after)? + 1;
    let slot = every.as_nanos().checked_mul(next)?;
    Timestamp::from_nanosecond(slot.checked_add(anchor.as_nanosecond())?).ok()
}

/// How many slots of the grid are not later than `t`; `None` for a grid without a step.
fn slots(every: SignedDuration, anchor: Timestamp, t: Timestamp) -> Option<i128> {
    let (step, passed) = (every.as_nanos(), t.as_nanosecond() - anchor.as_nanosecond());
    (step > 0).then(|| passed.max(0) / step)
}

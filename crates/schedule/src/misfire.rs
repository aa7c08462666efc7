//! Decisions about due slots: which slot fires, which ones are omitted, and why.
//!
//! The scheduler, the command line and the simulation share one function. It is stateless: the caller passes
//! the earliest slot without a row and gets back the next such slot. Not here: overlap with running runs,
//! budgets, and the store.

use deft_model::{Misfire, Outcome};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::schedule::Schedule;
use crate::zone::show;

/// Age from which a slot counts as late.
pub const LATE: SignedDuration = SignedDuration::from_secs(90);

/// The smallest difference between two instants.
const TICK: SignedDuration = SignedDuration::from_nanos(1);

/// A skill's rule for slots that could not run in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// How many runs make up for missed slots.
    pub misfire: Misfire,
    /// Maximum age of a slot that a run may still make up for.
    pub window: SignedDuration,
}

impl Default for Rule {
    fn default() -> Self {
        Rule {
            misfire: Misfire::Once,
            window: SignedDuration::from_hours(24),
        }
    }
}

/// The decision about the slots up to now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Omitted slots, in order; each range becomes one row.
    pub passed: Vec<OmittedSlots>,
    /// The slot to run now.
    pub fire: Option<Slot>,
    /// The earliest undecided slot, to be stored. It may already be due, so the caller must ask again. `None`
    /// if the schedule has ended.
    pub next: Option<Timestamp>,
}

/// A slot to run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The planned time.
    pub at: Timestamp,
    /// Whether the slot is late and its run therefore paced (see [`pace`](crate::pace)).
    pub late: bool,
}

/// One omitted slot, or a range of consecutive omitted slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedSlots {
    /// The first slot.
    pub slot: Timestamp,
    /// The last slot, if there is more than one.
    pub until: Option<Timestamp>,
    /// The number of slots.
    pub count: u64,
    /// The reason for the omission.
    pub why: OmitReason,
}

/// Why a slot is omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmitReason {
    /// The skill failed and its backoff has not ended.
    Backoff {
        /// The end of the backoff.
        until: Timestamp,
    },
    /// A later slot runs instead (`misfire: once`).
    Coalesced {
        /// The later slot.
        into: Timestamp,
    },
    /// The slot is older than the misfire window.
    TooLate {
        /// The window.
        window: SignedDuration,
    },
    /// The skill does not run late slots (`misfire: skip`).
    Skipped,
}

impl OmitReason {
    /// Returns the outcome to store in the row.
    pub fn outcome(&self) -> Outcome {
        match self {
            OmitReason::Backoff { .. } => Outcome::Skipped,
            OmitReason::Coalesced { .. } | OmitReason::TooLate { .. } | OmitReason::Skipped => {
                Outcome::Missed
            }
        }
    }

    /// Returns the reason to store in the row, as a sentence with times in `zone`.
    pub fn reason(&self, zone: &TimeZone) -> String {
        match self {
            OmitReason::Backoff { until } => {
                format!("backoff: it failed; next try at {}", show(*until, zone))
            }
            OmitReason::Coalesced { into } => {
                format!(
                    "could not run in time; coalesced into {}",
                    show(*into, zone)
                )
            }
            OmitReason::TooLate { window } => {
                format!("could not run in time or within its misfire window of {window:#}")
            }
            OmitReason::Skipped => {
                "could not run in time, and `misfire: skip` allows no late run".to_owned()
            }
        }
    }
}

/// Decides about the slots from `next`, the earliest slot without a row, up to `now`.
///
/// `next` counts as a slot even if the schedule does not contain it, so that a one-shot can be retried at
/// another instant. Slots before `backoff_until` are omitted. At most one slot fires; if `next` of the result
/// is not later than `now`, call again. The cost is small however long the downtime was, because ranges are
/// counted and not enumerated.
///
/// ```
/// use deft_schedule::{Rule, Schedule, due};
/// use jiff::{SignedDuration, Timestamp};
///
/// let anchor: Timestamp = "2026-03-01T00:00Z".parse()?;
/// let schedule = Schedule::Interval { every: SignedDuration::from_mins(30), anchor };
/// let now = "2026-03-01T08:10Z".parse()?;
/// let due = due(&schedule, "2026-03-01T00:30Z".parse()?, now, &Rule::default(), None);
/// assert_eq!(due.fire.map(|slot| (slot.at, slot.late)), Some(("2026-03-01T08:00Z".parse()?, true)));
/// assert_eq!((due.passed[0].count, due.passed.len()), (15, 1));
/// assert_eq!(due.next, Some("2026-03-01T08:30Z".parse()?));
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn due(
    schedule: &Schedule,
    next: Timestamp,
    now: Timestamp,
    rule: &Rule,
    backoff_until: Option<Timestamp>,
) -> Due {
    let mut walk = Walk {
        schedule,
        now,
        next: Some(next),
        passed: Vec::new(),
    };
    if let Some(until) = backoff_until {
        walk.omit_before(until, OmitReason::Backoff { until });
    }
    walk.misfire(rule);
    let fire = walk.next.filter(|slot| *slot <= now).map(|at| Slot {
        at,
        late: now.duration_since(at) > LATE,
    });
    Due {
        next: match fire {
            Some(slot) => schedule.next_after(slot.at),
            None => walk.next,
        },
        passed: walk.passed,
        fire,
    }
}

/// The due slots that are not decided yet.
struct Walk<'a> {
    schedule: &'a Schedule,
    now: Timestamp,
    next: Option<Timestamp>,
    passed: Vec<OmittedSlots>,
}

impl Walk<'_> {
    /// Omits late slots until `next` is a slot that may fire.
    fn misfire(&mut self, rule: &Rule) {
        let too_late = OmitReason::TooLate {
            window: rule.window,
        };
        // The earliest instant that is not late, and the earliest that is inside the window.
        let on_time = subtract(self.now, LATE);
        let in_window = subtract(self.now, rule.window.max(SignedDuration::ZERO)).min(on_time);
        match rule.misfire {
            Misfire::Skip => self.omit_before(on_time, OmitReason::Skipped),
            Misfire::All => self.omit_before(in_window, too_late),
            Misfire::Once => match self.stand_in(on_time) {
                Some(into) if into >= in_window => {
                    self.omit_before(into, OmitReason::Coalesced { into });
                }
                Some(_) => self.omit_before(on_time, too_late),
                None => {}
            },
        }
    }

    /// Returns the slot that runs for all late ones: the first slot on time, otherwise the newest.
    fn stand_in(&self, on_time: Timestamp) -> Option<Timestamp> {
        let first = self.next.filter(|slot| *slot < on_time)?;
        let newest = self.schedule.newest(first, subtract(on_time, TICK));
        let following = self.schedule.next_after(newest);
        Some(following.filter(|slot| *slot <= self.now).unwrap_or(newest))
    }

    /// Omits the due slots earlier than `limit`.
    fn omit_before(&mut self, limit: Timestamp, why: OmitReason) {
        let last = subtract(limit, TICK).min(self.now);
        let Some(slot) = self.next.filter(|slot| *slot <= last && *slot < limit) else {
            return;
        };
        let newest = self.schedule.newest(slot, last);
        self.next = self.schedule.next_after(newest);
        self.passed.push(OmittedSlots {
            slot,
            until: (newest > slot).then_some(newest),
            count: 1 + self.schedule.count(slot, newest),
            why,
        });
    }
}

/// Returns the instant `length` before `t`, or the earliest possible instant.
fn subtract(t: Timestamp, length: SignedDuration) -> Timestamp {
    t.checked_sub(length).unwrap_or(Timestamp::MIN)
}

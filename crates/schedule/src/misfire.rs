//! Decides about slots whose time has come: which one fires, which ones are omitted and why.
//!
//! One function decides for the scheduler, the command line and the simulation. It keeps nothing:
//! the earliest slot without a row comes in, and the next such slot goes out. Whether a run of the
//! skill is still going (overlap), budgets and the store are not looked at here.

use deft_model::{Misfire, Outcome};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::schedule::Schedule;
use crate::zone::show;

/// A slot is late when more than this has passed since it came.
pub const LATE: SignedDuration = SignedDuration::from_secs(90);

/// The smallest step of time.
const TICK: SignedDuration = SignedDuration::from_nanos(1);

/// What a skill says about slots that could not run in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// How many runs make up for them.
    pub misfire: Misfire,
    /// How late a run may still make up for one.
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

/// The decision about the slots whose time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Slots that do not run, in order; each stretch is to become one row.
    pub passed: Vec<OmittedSlots>,
    /// The slot to run now.
    pub fire: Option<Slot>,
    /// The earliest slot that is left, to be stored; it may have come already, so ask again.
    /// `None` when the schedule is over.
    pub next: Option<Timestamp>,
}

/// A slot that is to run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// When it was planned for.
    pub at: Timestamp,
    /// Whether it makes up for lost time, and so is paced (see [`pace`](crate::pace)).
    pub late: bool,
}

/// Slots that do not run: one, or a stretch of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedSlots {
    /// The first.
    pub slot: Timestamp,
    /// The last, when there is more than one.
    pub until: Option<Timestamp>,
    /// How many there are.
    pub count: u64,
    /// Why they do not run.
    pub why: OmitReason,
}

/// Why a slot does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmitReason {
    /// The skill failed and rests.
    Backoff {
        /// When it may run again.
        until: Timestamp,
    },
    /// A later slot runs for it (`misfire: once`).
    Coalesced {
        /// That slot.
        into: Timestamp,
    },
    /// It is older than the misfire window.
    TooLate {
        /// The window.
        window: SignedDuration,
    },
    /// The skill wants no late runs (`misfire: skip`).
    Skipped,
}

impl OmitReason {
    /// The outcome of the row.
    pub fn outcome(&self) -> Outcome {
        match self {
            OmitReason::Backoff { .. } => Outcome::Skipped,
            OmitReason::Coalesced { .. } | OmitReason::TooLate { .. } | OmitReason::Skipped => {
                Outcome::Missed
            }
        }
    }

    /// The reason of the row as a sentence, with times in `zone`.
    pub fn reason(&self, zone: &TimeZone) -> String {
        match self {
            OmitReason::Backoff { until } => {
                format!("backoff: it failed; next try at {}", show(*until, zone))
            }
            OmitReason::Coalesced { into } => {
                format!("could not run in time; {} runs for it", show(*into, zone))
            }
            OmitReason::TooLate { window } => {
                format!("could not run in time, nor within its misfire window of {window:#}")
            }
            OmitReason::Skipped => {
                "could not run in time, and `misfire: skip` wants no late run".to_owned()
            }
        }
    }
}

/// Decides about the slots from `next`, the earliest that has no row yet, up to `now`.
///
/// `next` is believed to be a slot even when the schedule would not name it, so that a one-shot can
/// be tried again at another instant. Slots before `backoff_until` rest. At most one slot fires;
/// when `next` of the answer is not later than `now`, ask again. However long the downtime was, the
/// cost is small: stretches are counted, not walked.
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
        walk.pass_before(until, OmitReason::Backoff { until });
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

/// The slots that have come, from the earliest that nothing is said about yet.
struct Walk<'a> {
    schedule: &'a Schedule,
    now: Timestamp,
    next: Option<Timestamp>,
    passed: Vec<OmittedSlots>,
}

impl Walk<'_> {
    /// Passes late slots until `next` is one that may fire.
    fn misfire(&mut self, rule: &Rule) {
        let too_late = OmitReason::TooLate {
            window: rule.window,
        };
        // The first instants that are not late, and not outside the window.
        let on_time = before(self.now, LATE);
        let in_window = before(self.now, rule.window.max(SignedDuration::ZERO)).min(on_time);
        match rule.misfire {
            Misfire::Skip => self.pass_before(on_time, OmitReason::Skipped),
            Misfire::All => self.pass_before(in_window, too_late),
            Misfire::Once => match self.stand_in(on_time) {
                Some(into) if into >= in_window => {
                    self.pass_before(into, OmitReason::Coalesced { into });
                }
                Some(_) => self.pass_before(on_time, too_late),
                None => {}
            },
        }
    }

    /// The slot that runs for all late ones: the first that is on time, else the newest.
    fn stand_in(&self, on_time: Timestamp) -> Option<Timestamp> {
        let first = self.next.filter(|slot| *slot < on_time)?;
        let newest = self.schedule.newest(first, before(on_time, TICK));
        let following = self.schedule.next_after(newest);
        Some(following.filter(|slot| *slot <= self.now).unwrap_or(newest))
    }

    /// Passes the slots that have come and are earlier than `limit`.
    fn pass_before(&mut self, limit: Timestamp, why: OmitReason) {
        let last = before(limit, TICK).min(self.now);
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

/// The instant so much earlier, or the beginning of time.
fn before(t: Timestamp, length: SignedDuration) -> Timestamp {
    t.checked_sub(length).unwrap_or(Timestamp::MIN)
}

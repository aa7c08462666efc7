//! Detection of a wrong clock: one that jumps while deft is running, one that disagrees with the newest run when
//! deft starts, and one that was ahead and caused slots to be decided before their time.
//!
//! A host that slept looks like a clock that was set, so the messages name both. Not here: any correction.
//! Slots are decided by the clock, and only a person can tell that it was wrong.

use std::time::Duration;

use deft_base::Error;
use deft_model::Trigger;
use deft_store::{RunFilter, SkillFilter};
use jiff::{SignedDuration, Timestamp};

use crate::{Scheduler, readable_timing};

/// Differences between clocks up to this size are ignored.
const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

/// A forward jump or gap longer than this is reported, because people may miss the slots it skips.
const MAX_JUMP: SignedDuration = SignedDuration::from_hours(24);

/// How the store disagrees with the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockCheck {
    /// When the newest run began or ended, if that lies in the future.
    pub newest: Option<Timestamp>,
    /// Skills that have skipped slots which are still to come.
    pub ahead: Vec<SkillAhead>,
}

/// A skill whose slots were decided further than the clock has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillAhead {
    /// The skill.
    pub skill: String,
    /// Its stored next slot; it does not fire before.
    pub until: Timestamp,
}

impl Scheduler {
    /// Compares the stored instants with the clock.
    pub async fn check_clock(&self) -> Result<ClockCheck, Error> {
        let limit = self.now().saturating_add(TOLERANCE);
        let limit = limit.unwrap_or(Timestamp::MAX);
        let newest = self.last_activity().await?.filter(|at| *at > limit);
        Ok(ClockCheck {
            newest,
            ahead: self.skills_ahead(limit).await?,
        })
    }

    async fn skills_ahead(&self, limit: Timestamp) -> Result<Vec<SkillAhead>, Error> {
        let timed = SkillFilter {
            enabled: Some(true),
            trigger: Some(Trigger::Cron),
            ..SkillFilter::default()
        };
        let zone = self.engine.base().host_zone();
        let mut ahead = Vec::new();
        for row in self.store().skills(timed).await? {
            let timing = readable_timing(&row);
            let (Some(timing), Some(until)) = (timing, row.timeline.next_at) else {
                continue;
            };
            // The next slot of a one-shot skill is its given time or its next try.
            if timing.is_one_shot() {
                continue;
            }
            let begins_later = row.timeline.anchor.is_some_and(|anchor| anchor > limit);
            let schedule = timing.schedule(row.timeline.anchor, &zone);
            let next = schedule.and_then(|schedule| schedule.next_after(limit));
            if begins_later || next.is_some_and(|next| next < until) {
                ahead.push(SkillAhead {
                    skill: row.text.skill,
                    until,
                });
            }
        }
        Ok(ahead)
    }
}

impl Scheduler {
    /// Returns when the newest run ended, or was admitted if it has not ended; `None` without runs.
    pub(crate) async fn last_activity(&self) -> Result<Option<Timestamp>, Error> {
        let newest = RunFilter {
            limit: Some(1),
            ..RunFilter::default()
        };
        let rows = self.store().runs(newest).await?;
        let sign = |row: &deft_store::RunRow| row.finished_at.unwrap_or(row.admitted_at);
        Ok(rows.first().map(sign))
    }
}

/// The clock and the running time of this process, read at the same moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockReading {
    now: Timestamp,
    uptime: Duration,
}

impl ClockReading {
    /// Takes the first reading. The newest run covers the time before it.
    pub(crate) fn new(now: Timestamp, uptime: Duration) -> Self {
        Self { now, uptime }
    }

    /// Takes a reading, and returns how much further the clock has moved than real time since the last one.
    pub(crate) fn advance(&mut self, now: Timestamp, uptime: Duration) -> SignedDuration {
        let passed = SignedDuration::try_from(uptime.saturating_sub(self.uptime));
        let passed = passed.unwrap_or(SignedDuration::MAX);
        let by_clock = now.duration_since(self.now);
        *self = Self { now, uptime };
        by_clock.saturating_sub(passed)
    }
}

/// The warning about a jump of the clock; `missed` slots were stored as missed after it. `None` if the jump
/// is too small.
pub(crate) fn about_jump(by: SignedDuration, missed: u64) -> Option<String> {
    if by > MAX_JUMP {
        let by = words(by);
        return Some(format!(
            "the clock jumped forward by {by}: the host slept, or its clock is wrong; {} recorded \
             as missed",
            slots(missed)
        ));
    }
    let back = by.checked_neg().filter(|back| *back > TOLERANCE)?;
    let back = words(back);
    Some(format!(
        "the clock went back by {back}; slots that were already handled do not run again"
    ))
}

/// The warning about the clock at the start; `missed` slots were stored as missed. `None` if the clock agrees
/// with the newest run.
pub(crate) fn about_start(last: Timestamp, now: Timestamp, missed: u64) -> Option<String> {
    let gap = now.duration_since(last);
    if gap > MAX_JUMP && missed > 0 {
        let gap = words(gap);
        return Some(format!(
            "the newest run is {gap} old: deft was not running, or the clock is wrong; {} recorded \
             as missed",
            slots(missed)
        ));
    }
    let ahead = gap.checked_neg().filter(|ahead| *ahead > TOLERANCE)?;
    let ahead = words(ahead);
    Some(format!(
        "the newest run is {ahead} in the future: wrong clock, or `deft tick --now`; slots that \
         were already handled do not run again; `deft doctor` lists the affected skills"
    ))
}

fn slots(count: u64) -> String {
    match count {
        0 => "no slots were".to_owned(),
        1 => "1 slot was".to_owned(),
        count => format!("{count} slots were"),
    }
}

/// Formats a duration in its largest unit; more precision is not needed here.
fn words(length: SignedDuration) -> String {
    let minutes = length.as_mins();
    match minutes {
        0..120 => format!("{minutes} min"),
        120..2880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / (24 * 60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::constant(1_769_428_800, 0);

    #[test]
    fn a_jump_is_clock_time_minus_uptime() {
        let mut clock_reading = ClockReading::new(NOON, Duration::from_mins(1));
        let at = |hours| NOON + SignedDuration::from_hours(hours);
        let hours = |n: u64| Duration::from_hours(n) + Duration::from_mins(1);
        let looks = [
            (at(30), hours(30)),
            (at(90), hours(31)),
            (at(89), hours(31)),
        ];
        let jumps = looks.map(|(now, uptime)| clock_reading.advance(now, uptime).as_hours());
        assert_eq!(jumps, [0, 59, -1]);
    }

    #[test]
    fn a_large_jump_is_described() {
        let hours = SignedDuration::from_hours;
        let jumps = [hours(23), hours(25), hours(200), hours(-2), hours(0)];
        let texts = jumps.map(|by| about_jump(by, 12));
        assert_eq!(
            texts,
            [
                None,
                Some(
                    "the clock jumped forward by 25 h: the host slept, or its clock is wrong; 12 \
                     slots were recorded as missed"
                        .to_owned()
                ),
                Some(
                    "the clock jumped forward by 8 days: the host slept, or its clock is wrong; 12 \
                     slots were recorded as missed"
                        .to_owned()
                ),
                Some(
                    "the clock went back by 2 h; slots that were already handled do not run again"
                        .to_owned()
                ),
                None,
            ]
        );
        let starts = [(50, 1), (50, 0), (20, 9), (-1, 0)];
        let texts = starts.map(|(gap, missed)| about_start(NOON, NOON + hours(gap), missed));
        assert_eq!(
            texts,
            [
                Some(
                    "the newest run is 2 days old: deft was not running, or the clock is wrong; 1 \
                     slot was recorded as missed"
                        .to_owned()
                ),
                None,
                None,
                Some(
                    "the newest run is 60 min in the future: wrong clock, or `deft tick --now`; slots \
                     that were already handled do not run again; `deft doctor` lists the affected \
                     skills"
                        .to_owned()
                ),
            ]
        );
    }
}

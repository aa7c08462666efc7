//! Notices a clock that does not agree with what happened: one that jumps while deft is up, one that
//! stood still while it was not, and one that was ahead and left slots settled that are yet to come.
//!
//! A host that slept looks like a clock that was set, so that what is said names both. Not here: doing
//! anything about it. Slots are settled by the clock, and a person has to say that it was wrong.

use std::time::Duration;

use deft_base::Error;
use deft_model::Trigger;
use deft_store::{RunFilter, SkillFilter};
use jiff::{SignedDuration, Timestamp};

use crate::{Scheduler, readable_timing};

/// The largest difference between clocks that is ignored.
const SLACK: SignedDuration = SignedDuration::from_mins(5);

/// So much forward settles slots that people may miss.
const FAR: SignedDuration = SignedDuration::from_hours(24);

/// What the store says about the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockCheck {
    /// When the newest run happened, if that lies in the future.
    pub newest: Option<Timestamp>,
    /// Skills that stand at a later slot than their next one.
    pub ahead: Vec<Ahead>,
}

/// A skill whose slots are settled further than the clock has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The skill.
    pub skill: String,
    /// Where it stands: it does not fire before.
    pub until: Timestamp,
}

impl Scheduler {
    /// Compares the stored instant with the clock.
    pub async fn check_clock(&self) -> Result<ClockCheck, Error> {
        let limit = self.now().saturating_add(SLACK);
        let limit = limit.unwrap_or(Timestamp::MAX);
        let newest = self.last_sign().await?.filter(|at| *at > limit);
        Ok(ClockCheck {
            newest,
            ahead: self.skills_ahead(limit).await?,
        })
    }

    async fn skills_ahead(&self, limit: Timestamp) -> Result<Vec<Ahead>, Error> {
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
            // What fires once stands where it was told to, or where its next try is.
            if timing.is_one_shot() {
                continue;
            }
            let begins_later = row.timeline.anchor.is_some_and(|anchor| anchor > limit);
            let schedule = timing.schedule(row.timeline.anchor, &zone);
            let next = schedule.and_then(|schedule| schedule.next_after(limit));
            if begins_later || next.is_some_and(|next| next < until) {
                ahead.push(Ahead {
                    skill: row.text.skill,
                    until,
                });
            }
        }
        Ok(ahead)
    }
}

impl Scheduler {
    /// When the newest run began or ended.
    pub(crate) async fn last_sign(&self) -> Result<Option<Timestamp>, Error> {
        let newest = RunFilter {
            limit: Some(1),
            ..RunFilter::default()
        };
        let rows = self.store().runs(newest).await?;
        let sign = |row: &deft_store::RunRow| row.finished_at.unwrap_or(row.admitted_at);
        Ok(rows.first().map(sign))
    }
}

/// The clock and how long this process has lived, when they were last looked at together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pulse {
    now: Timestamp,
    lived: Duration,
}

impl Pulse {
    /// The first look: what came before is known by the newest run, if there is one.
    pub(crate) fn new(now: Timestamp, lived: Duration) -> Self {
        Self { now, lived }
    }

    /// Looks again, and says by how much the clock went further than time did.
    pub(crate) fn beat(&mut self, now: Timestamp, lived: Duration) -> SignedDuration {
        let passed = SignedDuration::try_from(lived.saturating_sub(self.lived));
        let passed = passed.unwrap_or(SignedDuration::MAX);
        let by_clock = now.duration_since(self.now);
        *self = Self { now, lived };
        by_clock.saturating_sub(passed)
    }
}

/// What is to be said about a jump of the clock, after so many slots were settled as missed.
pub(crate) fn about_jump(by: SignedDuration, missed: u64) -> Option<String> {
    if by > FAR {
        let by = words(by);
        return Some(format!(
            "the clock went forward by {by} at once: the host slept, or its clock is wrong; {} \
             settled as missed",
            slots(missed)
        ));
    }
    let back = by.checked_neg().filter(|back| *back > SLACK)?;
    let back = words(back);
    Some(format!(
        "the clock went back by {back}: slots that were settled do not fire again"
    ))
}

/// What is to be said at the start, after so many slots were settled as missed.
pub(crate) fn about_start(last: Timestamp, now: Timestamp, missed: u64) -> Option<String> {
    let gap = now.duration_since(last);
    if gap > FAR && missed > 0 {
        let gap = words(gap);
        return Some(format!(
            "the newest run is {gap} old: deft was not up, or the clock is wrong; {} settled as \
             missed",
            slots(missed)
        ));
    }
    let ahead = gap.checked_neg().filter(|ahead| *ahead > SLACK)?;
    let ahead = words(ahead);
    Some(format!(
        "the newest run lies {ahead} in the future: the clock was wrong then or is wrong now, or \
         schedules were tried out with `deft tick --now`; slots that were settled do not fire again \
         (`deft doctor` says which skills wait)"
    ))
}

fn slots(count: u64) -> String {
    match count {
        0 => "no slots were".to_owned(),
        1 => "1 slot was".to_owned(),
        count => format!("{count} slots were"),
    }
}

/// A length of time in its largest unit, which is enough here.
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
    fn a_jump_is_what_the_clock_went_further_than_time() {
        let mut pulse = Pulse::new(NOON, Duration::from_mins(1));
        let at = |hours| NOON + SignedDuration::from_hours(hours);
        let hours = |n: u64| Duration::from_hours(n) + Duration::from_mins(1);
        let looks = [
            (at(30), hours(30)),
            (at(90), hours(31)),
            (at(89), hours(31)),
        ];
        let jumps = looks.map(|(now, lived)| pulse.beat(now, lived).as_hours());
        assert_eq!(jumps, [0, 59, -1]);
    }

    #[test]
    fn what_is_said() {
        let hours = SignedDuration::from_hours;
        let jumps = [hours(23), hours(25), hours(200), hours(-2), hours(0)];
        let said = jumps.map(|by| about_jump(by, 12));
        assert_eq!(
            said,
            [
                None,
                Some(
                    "the clock went forward by 25 h at once: the host slept, or its clock is \
                     wrong; 12 slots were settled as missed"
                        .to_owned()
                ),
                Some(
                    "the clock went forward by 8 days at once: the host slept, or its clock is \
                     wrong; 12 slots were settled as missed"
                        .to_owned()
                ),
                Some(
                    "the clock went back by 2 h: slots that were settled do not fire again"
                        .to_owned()
                ),
                None,
            ]
        );
        let starts = [(50, 1), (50, 0), (20, 9), (-1, 0)];
        let said = starts.map(|(gap, missed)| about_start(NOON, NOON + hours(gap), missed));
        assert_eq!(
            said,
            [
                Some(
                    "the newest run is 2 days old: deft was not up, or the clock is wrong; 1 slot \
                     was settled as missed"
                        .to_owned()
                ),
                None,
                None,
                Some(
                    "the newest run lies 60 min in the future: the clock was wrong then or is \
                     wrong now, or schedules were tried out with `deft tick --now`; slots that \
                     were settled do not fire again (`deft doctor` says which skills wait)"
                        .to_owned()
                ),
            ]
        );
    }
}

//! The timing of a skill as stored in its row: enough to decide about a slot without reading the skill.

use deft_base::{Error, read_stored};
use deft_model::{DisabledReason, Misfire, Skill, SkillEvent};
use deft_schedule::{Cron, Rule, Schedule, parse_at, parse_zone};
use deft_skillfile::Moment;
use deft_store::{SchedulePosition, SkillRow};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The schedule of a stored skill.
#[derive(Clone, Debug)]
pub struct StoredSchedule {
    /// The schedule itself.
    pub schedule: Schedule,
    /// The rule for late slots.
    pub rule: Rule,
    /// The zone of its times.
    pub zone: TimeZone,
}

/// Returns the schedule of a stored skill; `None` if it has no timing. An interval that is not running counts
/// from the last change of the skill.
pub fn stored_schedule(row: &SkillRow, host: &TimeZone) -> Result<Option<StoredSchedule>, Error> {
    let Some(timed) = SkillTiming::from_row(row)? else {
        return Ok(None);
    };
    let anchor = row.timeline.anchor.or(Some(row.updated_at));
    let zone = timed.zone.as_deref().and_then(|name| parse_zone(name).ok());
    let schedule = timed.schedule(anchor, host);
    Ok(schedule.map(|schedule| StoredSchedule {
        schedule,
        rule: timed.rule(),
        zone: zone.unwrap_or_else(|| host.clone()),
    }))
}

/// The timing of a skill. Delays are resolved to instants; a zone that was not given stays open, because the
/// host's may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillTiming {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every_minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<SkillEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hook: Option<String>,
    misfire: Misfire,
    window_seconds: u64,
    /// Whether a preflight check runs before each run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preflight: bool,
}

impl SkillTiming {
    /// Returns the timing of a skill that is stored at `moment`; `None` if it has no timing.
    pub(crate) fn from_skill(skill: &Skill, moment: &Moment) -> Option<Self> {
        let timing = skill.timing.as_ref()?;
        let zone = timing.timezone.as_deref().and_then(|z| parse_zone(z).ok());
        let zone = zone.unwrap_or_else(|| moment.zone.clone());
        let delayed = timing.delay_seconds.and_then(|seconds| {
            let delay = SignedDuration::from_secs(i64::try_from(seconds).ok()?);
            deft_schedule::instant_after(moment.now, delay).ok()
        });
        let at = timing.at.as_deref();
        let at = at.and_then(|text| parse_at(text, &zone).ok()).or(delayed);
        Some(Self {
            cron: timing.schedule.clone(),
            zone: timing.timezone.clone(),
            every_minutes: timing.interval_minutes,
            at,
            event: timing.event,
            hook: timing.hook.clone(),
            misfire: skill.policy.misfire,
            window_seconds: skill.policy.misfire_window.as_secs(),
            preflight: skill.policy.preflight.is_some(),
        })
    }

    /// Parses the timing stored in a row; `None` if it has none.
    pub fn from_row(row: &SkillRow) -> Result<Option<Self>, Error> {
        let skill = &row.text.skill;
        let read = |text: &str| read_stored(text, || format!("the timing of skill `{skill}`"));
        row.text.timing.as_deref().map(read).transpose()
    }

    pub(crate) fn text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// Returns the schedule. `anchor` is the start of an interval's grid.
    pub fn schedule(&self, anchor: Option<Timestamp>, host: &TimeZone) -> Option<Schedule> {
        if let Some(cron) = &self.cron {
            let zone = match &self.zone {
                Some(name) => parse_zone(name).ok()?,
                None => host.clone(),
            };
            let cron = Cron::parse(cron).ok()?;
            return Some(Schedule::Cron { cron, zone });
        }
        if let Some(minutes) = self.every_minutes {
            let every = deft_schedule::minutes(i64::from(minutes)).ok()?;
            let anchor = anchor?;
            return Some(Schedule::Interval { every, anchor });
        }
        self.at.map(Schedule::At)
    }

    /// Returns the rule for late slots.
    pub fn rule(&self) -> Rule {
        let window = i64::try_from(self.window_seconds).unwrap_or(i64::MAX);
        Rule {
            misfire: self.misfire,
            window: SignedDuration::from_secs(window),
        }
    }

    /// Whether the skill fires at wall times of the host's zone.
    pub(crate) fn reads_host_zone(&self) -> bool {
        self.cron.is_some() && self.zone.is_none()
    }

    /// Whether the skill fires only once.
    pub fn is_one_shot(&self) -> bool {
        let is_by_event = self.event.is_some() || self.hook.is_some();
        self.cron.is_none() && self.every_minutes.is_none() && !is_by_event
    }

    /// The event that fires the skill.
    pub fn event(&self) -> Option<SkillEvent> {
        self.event
    }

    /// The hook that fires the skill.
    pub fn hook(&self) -> Option<&str> {
        self.hook.as_deref()
    }

    /// Returns the only slot of a skill that waits for tools, if it was still to come when the skill was
    /// stored.
    pub fn awaited_slot(&self, row: &SkillRow) -> Option<Timestamp> {
        let waits = row.standing.disabled == Some(DisabledReason::MissingTools);
        let at = self.at.filter(|_| self.is_one_shot() && waits)?;
        (at >= row.created_at).then_some(at)
    }

    /// Returns the timeline of a skill that is enabled now: an interval starts to count, and past slots are
    /// dropped.
    pub(crate) fn enabled_position(&self, now: Timestamp, host: &TimeZone) -> SchedulePosition {
        // Whole seconds, so that listings show the exact instant.
        let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let anchor = self.every_minutes.map(|_| second);
        let schedule = self.schedule(anchor, host);
        SchedulePosition {
            anchor,
            next_at: schedule.and_then(|schedule| schedule.next_after(now)),
        }
    }
}

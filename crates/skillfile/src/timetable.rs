//! The trigger of a skill as a schedule, and in words.

use deft_model::{Skill, SkillEvent, Timing, Trigger};
use deft_schedule::Schedule;
use jiff::tz::TimeZone;

use crate::trigger::Moment;

/// Returns the schedule of a timed skill; delays and intervals start at `moment`. `None` for skills without
/// timing, and for a timing that would not have loaded.
pub fn schedule(skill: &Skill, moment: &Moment) -> Option<Schedule> {
    let timing = skill.timing.as_ref()?;
    let zone = zone(timing, moment)?;
    if let Some(text) = &timing.schedule {
        let cron = deft_schedule::Cron::parse(text).ok()?;
        return Some(Schedule::Cron { cron, zone });
    }
    if let Some(text) = &timing.at {
        return deft_schedule::parse_at(text, &zone).ok().map(Schedule::At);
    }
    relative(timing, moment)
}

/// Returns the time zone of a skill's times: its own, or that of `moment`.
fn zone(timing: &Timing, moment: &Moment) -> Option<TimeZone> {
    match &timing.timezone {
        Some(name) => deft_schedule::parse_zone(name).ok(),
        None => Some(moment.zone.clone()),
    }
}

fn relative(timing: &Timing, moment: &Moment) -> Option<Schedule> {
    if let Some(minutes) = timing.interval_minutes {
        let every = deft_schedule::minutes(i64::from(minutes)).ok()?;
        return Some(Schedule::Interval {
            every,
            anchor: moment.now,
        });
    }
    let seconds = i64::try_from(timing.delay_seconds?).ok()?;
    let delay = jiff::SignedDuration::from_secs(seconds);
    deft_schedule::instant_after(moment.now, delay)
        .ok()
        .map(Schedule::At)
}

/// Describes what fires a skill.
pub fn words(skill: &Skill, moment: &Moment) -> String {
    if let Some(schedule) = schedule(skill, moment) {
        // An instant is shown in the zone in which it was written. A cron expression names its zone if it
        // differs from the reader's.
        let written = skill.timing.as_ref().filter(|timing| timing.at.is_some());
        let zone = written.and_then(|timing| zone(timing, moment));
        return schedule.words(&zone.unwrap_or_else(|| moment.zone.clone()));
    }
    if let Some(event) = skill.timing.as_ref().and_then(|timing| timing.event) {
        return event_words(event).to_owned();
    }
    if let Some(hook) = skill
        .timing
        .as_ref()
        .and_then(|timing| timing.hook.as_ref())
    {
        return format!("when the hook `{hook}` receives a delivery");
    }
    match skill.trigger {
        Trigger::Event => format!("when a message mentions {}", skill.keywords.join(", ")),
        Trigger::Cron | Trigger::Manual => "on demand".to_owned(),
    }
}

/// Describes when an event fires a skill.
fn event_words(event: SkillEvent) -> &'static str {
    match event {
        SkillEvent::ConversationEnded => "when a conversation has ended",
    }
}

//! Descriptions of stored skills, so that a person notices a misunderstanding at once.

use deft_model::{Body, Skill, Tier, Timing, Trigger};
use deft_schedule::{Schedule, day_and_time, parse_zone, zone_name};
use deft_skillfile::{Moment, schedule, words};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Describes when a skill fires and what that costs: "once, today at 15:05 (Europe/Berlin), direct, no
/// model".
pub fn describe(skill: &Skill, moment: &Moment) -> String {
    describe_at(skill, moment, first(skill, moment))
}

/// Like [`describe`], for a stored skill whose next slot is `next`. That differs from its first slot if the
/// skill kept its earlier interval. A disabled skill has no next slot.
pub fn describe_stored(skill: &Skill, moment: &Moment, next: Option<Timestamp>) -> String {
    describe_at(skill, moment, next)
}

/// Returns the first slot of a skill that starts now.
fn first(skill: &Skill, moment: &Moment) -> Option<Timestamp> {
    schedule(skill, moment)?.next_after(moment.now)
}

fn describe_at(skill: &Skill, moment: &Moment, next: Option<Timestamp>) -> String {
    let mut words = format!(
        "{}, {}",
        describe_time(skill, moment, next),
        describe_cost(skill)
    );
    if !skill.policy.enabled {
        words.push_str(", disabled");
    }
    words
}

/// Describes a schedule relative to `now`, including its time zone, because deft may have added it: "once,
/// today at 15:05 (Europe/Berlin)", "every day at 09:00 (Europe/Berlin)". An interval has no time zone.
pub fn describe_schedule(schedule: &Schedule, zone: &TimeZone, now: Timestamp) -> String {
    match schedule {
        Schedule::At(at) => {
            let day = day_and_time(*at, now, zone);
            format!("once, {day} ({})", zone_name(zone))
        }
        Schedule::Cron { .. } => format!("{} ({})", schedule.words(zone), zone_name(zone)),
        Schedule::Interval { .. } => schedule.words(zone),
    }
}

fn describe_time(skill: &Skill, moment: &Moment, next: Option<Timestamp>) -> String {
    let zone = zone(skill.timing.as_ref(), moment);
    match schedule(skill, moment) {
        Some(once @ Schedule::At(at)) => {
            let past = if at < moment.now {
                ", which has passed"
            } else {
                ""
            };
            format!("{}{past}", describe_schedule(&once, &zone, moment.now))
        }
        Some(Schedule::Cron { cron, zone }) => {
            let own = zone.clone();
            describe_schedule(&Schedule::Cron { cron, zone }, &own, moment.now)
        }
        Some(interval @ Schedule::Interval { .. }) => {
            let time = next.map(|at| {
                // Stored instants are whole seconds.
                let own = first(skill, moment).is_some_and(|own| own.as_second() == at.as_second());
                let word = if own { "first" } else { "next" };
                let day = day_and_time(at, moment.now, &moment.zone);
                format!(", {word} {}", day.strip_prefix("today ").unwrap_or(&day))
            });
            format!(
                "{}{}",
                interval.words(&moment.zone),
                time.unwrap_or_default()
            )
        }
        None => describe_untimed(skill, moment),
    }
}

fn describe_untimed(skill: &Skill, moment: &Moment) -> String {
    match skill.trigger {
        Trigger::Event if skill.timing.is_some() => words(skill, moment),
        Trigger::Event if skill.keywords.is_empty() => {
            "by messages, but it has no keywords".to_owned()
        }
        Trigger::Event => format!("when a message mentions {}", skill.keywords.join(", ")),
        Trigger::Cron | Trigger::Manual => "only on demand".to_owned(),
    }
}

fn zone(timing: Option<&Timing>, moment: &Moment) -> TimeZone {
    let name = timing.and_then(|timing| timing.timezone.as_deref());
    let zone = name.and_then(|name| parse_zone(name).ok());
    zone.unwrap_or_else(|| moment.zone.clone())
}

fn describe_cost(skill: &Skill) -> String {
    match (skill.tier(), &skill.body) {
        (Tier::Workflow, Body::Steps(workflow)) => {
            format!("workflow of {} steps, no model", workflow.steps.len())
        }
        (Tier::Agent, _) => {
            let most = skill.policy.max_steps;
            let plural = if most == 1 { "" } else { "s" };
            format!("agent, at most {most} step{plural}")
        }
        (tier @ (Tier::Direct | Tier::Command | Tier::Workflow), _) => format!("{tier}, no model"),
    }
}

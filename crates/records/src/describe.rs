//! What was stored, in words, so that a person can object at once.

use deft_model::{Body, Skill, Tier, Timing, Trigger};
use deft_schedule::{Schedule, parse_zone, zone_name};
use deft_skillfile::{Moment, schedule};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// When a skill fires and what that costs: "once, today at 15:05
/// (Europe/Berlin), direct, no model".
pub fn describe(skill: &Skill, moment: &Moment) -> String {
    let mut words = format!("{}, {}", when(skill, moment), how(skill));
    if !skill.policy.enabled {
        words.push_str(", disabled");
    }
    words
}

fn when(skill: &Skill, moment: &Moment) -> String {
    let zone = zone(skill.timing.as_ref(), moment);
    match schedule(skill, moment) {
        Some(Schedule::At(at)) => {
            let past = if at < moment.now {
                ", which has passed"
            } else {
                ""
            };
            let day = day(at, moment.now, &zone);
            format!("once, {day} ({}){past}", zone_name(&zone))
        }
        Some(Schedule::Cron { cron, zone }) => {
            let words = Schedule::Cron {
                cron,
                zone: zone.clone(),
            };
            // The zone is always said: it may have been added unasked.
            format!("{} ({})", words.words(&zone), zone_name(&zone))
        }
        Some(interval @ Schedule::Interval { .. }) => {
            let first = interval.next_after(moment.now);
            let first = first.map(|at| format!(", first {}", day(at, moment.now, &moment.zone)));
            let first = first
                .unwrap_or_default()
                .replace("first today at", "first at");
            format!("{}{first}", interval.words(&moment.zone))
        }
        None => untimed(skill),
    }
}

fn untimed(skill: &Skill) -> String {
    match skill.trigger {
        Trigger::Event if skill.keywords.is_empty() => {
            "by messages, but it has no keywords".to_owned()
        }
        Trigger::Event => format!("when a message mentions {}", skill.keywords.join(", ")),
        Trigger::Cron | Trigger::Manual => "only when asked for".to_owned(),
    }
}

fn zone(timing: Option<&Timing>, moment: &Moment) -> TimeZone {
    let name = timing.and_then(|timing| timing.timezone.as_deref());
    let zone = name.and_then(|name| parse_zone(name).ok());
    zone.unwrap_or_else(|| moment.zone.clone())
}

/// "today at 15:05", "tomorrow at 09:00", "on Monday 2026-02-16 at 09:00".
fn day(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (wall, today) = (zone.to_datetime(at), zone.to_datetime(now).date());
    let day = match wall.date() {
        date if date == today => "today".to_owned(),
        date if today.tomorrow().is_ok_and(|tomorrow| tomorrow == date) => "tomorrow".to_owned(),
        date => format!("on {} {date}", wall.strftime("%A")),
    };
    let time = if wall.second() == 0 {
        "%H:%M"
    } else {
        "%H:%M:%S"
    };
    format!("{day} at {}", wall.strftime(time))
}

fn how(skill: &Skill) -> String {
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

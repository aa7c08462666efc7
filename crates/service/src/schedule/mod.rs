//! Lists, previews and simulates the schedules of skills.
//!
//! The calculations are in `deft-schedule`; this module finds the skills for them.

mod change;
mod simulate;
mod slots;
mod source;

use deft_config::system_moment;
use deft_model::DisabledReason;
use deft_schedule::{Schedule, show};
use deft_skillfile::Moment;
use deft_wire::schedule::{FiresView, ScheduleList, ScheduleView};
use deft_wire::{Done, Failure};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::workspace::Workspace;
use source::{ScheduledSkill, Source};

pub(crate) use change::{NOTIFY, finish, read_zone, trigger_config};
pub use change::{add, pause, remove, resume};
pub use simulate::{SimulationRequest, SimulationResult, simulate};
pub use slots::slots;

/// The requested fires.
#[derive(Clone, Debug)]
pub struct FiresRequest {
    /// The start of the search, exclusive; now if absent. Without an offset it is wall time in the zone of
    /// the schedule.
    pub from: Option<String>,
    /// The number of fires.
    pub count: usize,
}

/// The next fires of a schedule.
#[derive(Clone, Debug)]
pub struct UpcomingFires {
    /// The result, for output as JSON.
    pub view: FiresView,
    /// The fires of `view` as instants.
    pub fires: Vec<Timestamp>,
    /// The start of the search, exclusive.
    pub from: Timestamp,
    /// `from` as text.
    pub from_text: String,
    /// The zone of the schedule.
    pub zone: TimeZone,
    /// Whether the schedule fires once, at an instant.
    pub is_once: bool,
    /// Why the skill does not fire, if so.
    pub disabled: Option<DisabledReason>,
}

/// Lists all skills with a schedule, sorted by their next fire.
pub fn list(workspace: &Workspace) -> Done<ScheduleList> {
    let source = Source::open(workspace)?;
    let now = source.moment().now;
    let mut found: Vec<(Option<Timestamp>, ScheduledSkill)> = source
        .all(now)?
        .into_iter()
        .map(|skill| (next_fire(&skill, now), skill))
        .collect();
    // Skills without a next fire come last.
    found.sort_by_key(|(next, _)| (next.is_none(), *next));
    let schedules = found.iter().map(|(next, skill)| view(skill, *next, now));
    Ok(ScheduleList {
        schedules: schedules.collect(),
    })
}

/// Returns the next fires of a skill.
pub fn next(workspace: &Workspace, name: &str, request: &FiresRequest) -> Done<UpcomingFires> {
    let source = Source::open(workspace)?;
    let now = source.moment().now;
    // The skill's zone is needed to parse `from`.
    let zone = source.find(name, now)?.zone;
    let from = instant_or(request.from.as_deref(), &zone, now)?;
    let skill = source.find(name, from.min(now))?;
    let mut upcoming = upcoming_fires(&skill.timed.schedule, zone, from, request.count);
    upcoming.view.skill = Some(skill.timed.name);
    upcoming.view.enabled = Some(skill.disabled.is_none());
    upcoming.disabled = skill.disabled;
    Ok(upcoming)
}

/// Returns the next fires of a schedule expression, in `zone` or that of the home.
pub fn preview(
    workspace: &Workspace,
    expression: &str,
    zone: Option<&str>,
    request: &FiresRequest,
) -> Done<UpcomingFires> {
    let moment = preview_moment(workspace, zone)?;
    let from = instant_or(request.from.as_deref(), &moment.zone, moment.now)?;
    let moment = Moment {
        now: from,
        ..moment
    };
    let schedule = deft_schedule::parse_schedule(expression, &moment.zone, moment.now);
    let schedule = schedule.map_err(refused_failure)?;
    Ok(upcoming_fires(&schedule, moment.zone, from, request.count))
}

/// With an explicit zone, neither a home nor a valid configuration is needed.
fn preview_moment(workspace: &Workspace, zone: Option<&str>) -> Done<Moment> {
    let Some(name) = zone else {
        return workspace.home_to_read().map(|home| home.moment());
    };
    Ok(Moment {
        zone: deft_schedule::parse_zone(name).map_err(refused_failure)?,
        ..system_moment()
    })
}

fn upcoming_fires(
    schedule: &Schedule,
    zone: TimeZone,
    from: Timestamp,
    count: usize,
) -> UpcomingFires {
    let fires = schedule.next(from, count);
    UpcomingFires {
        view: FiresView {
            words: schedule.words(&zone),
            zone: deft_schedule::zone_name(&zone),
            fires: fires.iter().map(|fire| show(*fire, &zone)).collect(),
            skill: None,
            enabled: None,
        },
        fires,
        from,
        from_text: show(from, &zone),
        is_once: matches!(schedule, Schedule::At(_)),
        zone,
        disabled: None,
    }
}

/// Returns the next fire of a skill. A disabled skill has none, and slots during backoff do not fire.
fn next_fire(skill: &ScheduledSkill, now: Timestamp) -> Option<Timestamp> {
    if skill.disabled.is_some() {
        return None;
    }
    let schedule = &skill.timed.schedule;
    let next = skill.next.or_else(|| schedule.next_after(now))?;
    match skill.backoff_until.filter(|until| next < *until) {
        Some(until) => first_from(schedule, until),
        None => Some(next),
    }
}

/// Returns the first slot at or after `at`.
fn first_from(schedule: &Schedule, at: Timestamp) -> Option<Timestamp> {
    let before = at.checked_sub(SignedDuration::from_nanos(1)).ok()?;
    schedule.next_after(before)
}

fn view(skill: &ScheduledSkill, next: Option<Timestamp>, now: Timestamp) -> ScheduleView {
    let until = skill.backoff_until.filter(|until| *until > now);
    let (timed, zone) = (&skill.timed, &skill.zone);
    ScheduleView {
        skill: timed.name.clone(),
        words: timed.schedule.words(zone),
        once: matches!(timed.schedule, Schedule::At(_)),
        zone: deft_schedule::zone_name(zone),
        next: next.map(|next| show(next, zone)),
        enabled: skill.disabled.is_none(),
        disabled_reason: skill.disabled,
        failures: skill.failures,
        backoff_until: until.map(|until| show(until, zone)),
        misfire: timed.rule.misfire,
        misfire_window: format!("{:#}", timed.rule.window),
    }
}

/// Parses an instant; without an offset it is wall time in `zone`.
fn instant(text: &str, zone: &TimeZone) -> Done<Timestamp> {
    deft_schedule::parse_at(text, zone).map_err(refused_failure)
}

fn instant_or(text: Option<&str>, zone: &TimeZone, default: Timestamp) -> Done<Timestamp> {
    text.map_or(Ok(default), |text| instant(text, zone))
}

pub(crate) fn refused_failure(error: deft_schedule::Error) -> Failure {
    Failure::input("schedule", error.message).maybe_hint(error.hint)
}

//! Parsing of triggers, including checks whether they ever fire.

use deft_model::{SkillEvent, Timing, Trigger};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diagnostic::Sink;
use crate::fields::TRIGGER;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::yaml::{Mapping, Node, locate};

/// The time and time zone at which schedules are checked. Checks whether a trigger will ever fire need both;
/// nothing here reads a clock.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The current time.
    pub now: Timestamp,
    /// The zone of times without one.
    pub zone: TimeZone,
}

/// Reads `trigger_config`, and `schedule` and `timezone` outside of it. Returns `None` if the skill has no
/// timing.
pub(crate) fn read(fields: &Fields<'_>, moment: &Moment, sink: &mut Sink) -> Option<Timing> {
    // A skill that would never fire must not load silently.
    let config = fields.strict().mapping("trigger_config", sink);
    let outer = fields.map;
    if config.is_none() && fields.node("schedule").is_none() {
        check_zone(fields, "timezone", moment, sink);
        return None;
    }
    let mut merged = config.unwrap_or_default();
    for key in ["schedule", "timezone"] {
        let Some(entry) = outer.entry(key) else {
            continue;
        };
        match merged.get(key) {
            None => merged.entries.push(entry.clone()),
            Some(inner) if inner.to_value() == entry.value.to_value() => {}
            Some(_) => {
                let message = format!("`{key}` differs from the one in `trigger_config`");
                sink.report(Rule::TriggerConflict, entry.key_span, message)
                    .help("keep one of them");
            }
        }
    }
    let place = ["trigger_config", "schedule"]
        .iter()
        .find_map(|key| outer.entry(key))
        .map_or(Span::NONE, |entry| entry.key_span);
    check_single(&merged, place, sink);
    Some(timing(&merged, fields.file, moment, sink))
}

/// Returns the kind of trigger for a timing and keywords.
pub(crate) fn kind(timing: Option<&Timing>, keywords: &[String]) -> Trigger {
    match (timing, keywords) {
        (Some(timing), _) if timing.is_by_event() => Trigger::Event,
        (Some(_), _) => Trigger::Cron,
        (None, []) => Trigger::Manual,
        (None, _) => Trigger::Event,
    }
}

fn timing(config: &Mapping, file: &str, moment: &Moment, sink: &mut Sink) -> Timing {
    let fields = Fields {
        map: config,
        file,
        severity: Severity::Error,
    };
    fields.check_keys(&[TRIGGER], Severity::Warning, sink);
    let zone = check_zone(&fields, "timezone", moment, sink);
    let timing = Timing {
        schedule: fields.filled_text("schedule", sink),
        interval_minutes: fields.positive("interval_minutes", sink),
        at: fields.filled_text("at", sink),
        delay_seconds: delay(&fields, sink),
        event: fields.choice::<SkillEvent>("event", sink),
        hook: fields.filled_text("hook", sink),
        timezone: fields.filled_text("timezone", sink),
        config: config.to_object(),
    };
    if let Some(node) = fields.node("schedule") {
        check_cron(node, file, &zone, moment.now, sink);
    }
    if let Some((node, text)) = fields.node("at").zip(timing.at.as_deref()) {
        check_instant(node, text, file, (&zone, moment.now), sink);
    }
    timing
}

/// Checks an instant. One in the past only causes a warning, because it is correct once it has fired.
fn check_instant(
    node: &Node,
    text: &str,
    file: &str,
    (zone, now): (&TimeZone, Timestamp),
    sink: &mut Sink,
) {
    match deft_schedule::parse_at(text, zone) {
        Err(problem) => report(Rule::InvalidInstant, node, file, problem, sink),
        Ok(at) if at < now => {
            let message = format!("`{text}` is in the past; it will not fire");
            sink.report_as(Severity::Warning, Rule::InvalidInstant, node.span, message)
                .help("give a later time, or remove it");
        }
        Ok(_) => {}
    }
}

/// Returns a delay in seconds.
fn delay(fields: &Fields<'_>, sink: &mut Sink) -> Option<u64> {
    let minutes = fields.positive::<u32>("in_minutes", sink);
    let minutes = minutes.map(|m| u64::from(m) * 60);
    let hours = fields.positive::<u32>("in_hours", sink);
    let hours = hours.map(|h| u64::from(h) * 3600);
    let words = fields.duration("in", sink).map(|d| d.as_secs().max(1));
    minutes.or(hours).or(words)
}

/// Reports a skill with several timings: it does not load, because it would be unclear which one fires.
fn check_single(config: &Mapping, place: Span, sink: &mut Sink) {
    let timings = [
        "schedule",
        "interval_minutes",
        "at",
        "in_minutes",
        "in_hours",
        "in",
        "event",
        "hook",
    ];
    let given: Vec<&str> = timings
        .into_iter()
        .filter(|key| config.get(key).is_some_and(|node| !node.is_null()))
        .collect();
    match given.as_slice() {
        [_] => {}
        [] => {
            sink.report(
                Rule::TriggerConflict,
                place,
                "`trigger_config` has no time, event or hook",
            )
            .help("add `schedule`, `interval_minutes`, `at` or `in_minutes`");
        }
        [first, second, ..] => {
            let span = config.entry(second).map_or(place, |entry| entry.key_span);
            sink.report(
                Rule::TriggerConflict,
                span,
                format!("`{first}` and `{second}` are both given"),
            )
            .help("keep one of them");
        }
    }
}

fn check_zone(fields: &Fields<'_>, key: &str, moment: &Moment, sink: &mut Sink) -> TimeZone {
    let Some((node, name)) = fields.node(key).zip(fields.filled_text(key, sink)) else {
        return moment.zone.clone();
    };
    match deft_schedule::parse_zone(&name) {
        Ok(zone) => zone,
        Err(problem) => {
            report(Rule::InvalidTimezone, node, fields.file, problem, sink);
            moment.zone.clone()
        }
    }
}

fn check_cron(node: &Node, file: &str, zone: &TimeZone, now: Timestamp, sink: &mut Sink) {
    let Some(scalar) = node.as_scalar() else {
        return;
    };
    let checked = deft_schedule::Cron::parse(&scalar.text).and_then(|cron| cron.check(zone, now));
    if let Err(problem) = checked {
        report(Rule::InvalidCron, node, file, problem, sink);
    }
}

/// Reports a problem of the schedule crate at its span inside the scalar.
fn report(rule: Rule, node: &Node, file: &str, problem: deft_schedule::Error, sink: &mut Sink) {
    let span = problem
        .span
        .map_or(node.span, |range| locate(file, node, range));
    sink.report(rule, span, problem.message)
        .maybe_help(problem.hint);
}

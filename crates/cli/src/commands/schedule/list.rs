//! `deft schedule list`.

use std::process::ExitCode;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::source::{Entry, Source};
use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::output::{Fit, Output, table_of};
use crate::view::rest_words;

pub(super) fn run(global: &Global, roots: &Roots, output: &Output) -> Done {
    let source = Source::open(global, roots)?;
    let now = source.moment.now;
    let mut entries: Vec<(Option<Timestamp>, Entry)> = source
        .all(now)
        .into_iter()
        .map(|entry| (next(&entry, now), entry))
        .collect();
    // What fires no more comes last.
    entries.sort_by_key(|(next, _)| (next.is_none(), *next));
    if output.json {
        let schedules: Vec<Value> = entries
            .iter()
            .map(|(next, entry)| document(entry, *next, now))
            .collect();
        output.document(&json!({"schedules": schedules}))?;
    } else if entries.is_empty() {
        output.note("no skill fires by the clock\nhint: `schedule: \"0 9 * * 1-5\"` in a skill makes it; `deft schedule preview` shows when that is");
    } else {
        let head = ["SKILL", "NEXT", "ZONE", "FIRES"]
            .map(str::to_owned)
            .to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(entries.iter().map(|(next, entry)| line(entry, *next, now)))
            .collect();
        output.data(table_of(&rows, &[Fit::Cut, Fit::Keep], output.width()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A disabled skill has no next fire, and slots within a rest bring none.
fn next(entry: &Entry, now: Timestamp) -> Option<Timestamp> {
    if entry.disabled.is_some() {
        return None;
    }
    let schedule = &entry.timed.schedule;
    let next = entry.next.or_else(|| schedule.next_after(now))?;
    match entry.rests_until.filter(|until| next < *until) {
        Some(until) => from(schedule, until),
        None => Some(next),
    }
}

/// The first slot that is not earlier.
fn from(schedule: &deft_schedule::Schedule, at: Timestamp) -> Option<Timestamp> {
    let before = at.checked_sub(SignedDuration::from_nanos(1)).ok()?;
    schedule.next_after(before)
}

/// How often it failed and how long it rests, if it did.
fn rest(entry: &Entry, now: Timestamp) -> Option<String> {
    let until = entry.rests_until.filter(|until| *until > now);
    rest_words(entry.failures, until, &entry.zone)
}

fn document(entry: &Entry, next: Option<Timestamp>, now: Timestamp) -> Value {
    let until = entry.rests_until.filter(|until| *until > now);
    let Entry {
        timed,
        zone,
        disabled,
        ..
    } = entry;
    json!({
        "skill": timed.name,
        "words": timed.schedule.words(zone),
        "zone": deft_schedule::zone_name(zone),
        "next": next.map(|next| deft_schedule::show(next, zone)),
        "enabled": disabled.is_none(),
        "disabled_reason": disabled,
        "failures": entry.failures,
        "backoff_until": until.map(|until| deft_schedule::show(until, zone)),
        "misfire": timed.rule.misfire.to_string(),
        "misfire_window": format!("{:#}", timed.rule.window),
    })
}

fn line(entry: &Entry, next: Option<Timestamp>, now: Timestamp) -> Vec<String> {
    let words = entry.timed.schedule.words(&entry.zone);
    let when = match (entry.disabled, next) {
        (Some(reason), _) => format!("off: {reason}"),
        (None, Some(next)) => deft_schedule::show(next, &entry.zone),
        (None, None) => "over".to_owned(),
    };
    vec![
        entry.timed.name.clone(),
        when,
        deft_schedule::zone_name(&entry.zone),
        match rest(entry, now) {
            Some(rest) => format!("{words}; {rest}"),
            None => words,
        },
    ]
}

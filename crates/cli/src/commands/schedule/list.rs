//! `deft schedule list`.

use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::source::{Entry, Source};
use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::output::{Output, table};

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
            .map(|(next, entry)| document(entry, *next))
            .collect();
        output.document(&json!({"schedules": schedules}))?;
    } else if entries.is_empty() {
        output.note("no skill fires by the clock\nhint: `schedule: \"0 9 * * 1-5\"` in a skill makes it; `deft schedule preview` shows when that is");
    } else {
        let head = ["SKILL", "NEXT", "ZONE", "FIRES"]
            .map(str::to_owned)
            .to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(entries.iter().map(|(next, entry)| line(entry, *next)))
            .collect();
        output.data(&table(&rows, output.width()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A disabled skill has no next fire.
fn next(entry: &Entry, now: Timestamp) -> Option<Timestamp> {
    entry
        .disabled
        .is_none()
        .then(|| entry.next.or_else(|| entry.timed.schedule.next_after(now)))
        .flatten()
}

fn document(entry: &Entry, next: Option<Timestamp>) -> Value {
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
        "misfire": timed.rule.misfire.to_string(),
        "misfire_window": format!("{:#}", timed.rule.window),
    })
}

fn line(entry: &Entry, next: Option<Timestamp>) -> Vec<String> {
    let when = match (entry.disabled, next) {
        (Some(reason), _) => format!("off: {reason}"),
        (None, Some(next)) => deft_schedule::show(next, &entry.zone),
        (None, None) => "over".to_owned(),
    };
    vec![
        entry.timed.name.clone(),
        when,
        deft_schedule::zone_name(&entry.zone),
        entry.timed.schedule.words(&entry.zone),
    ]
}

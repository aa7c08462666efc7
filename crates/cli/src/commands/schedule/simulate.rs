//! `deft schedule simulate`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;

use deft_schedule::{Row, Timed, What, show, simulate};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::source::{Entry, Source};
use super::{instant, instant_or};
use crate::args::{Global, Simulate};
use crate::failure::{Done, Failure};
use crate::output::{Output, counted, table};

/// What one answer may hold; beyond it nobody reads, and memory ends.
const MOST: usize = 1_000_000;

pub(super) fn run(args: &Simulate, global: &Global, output: &Output) -> Done {
    let source = Source::open(global, &args.roots)?;
    let zone = source.moment.zone.clone();
    let from = instant_or(args.from.as_ref(), &zone, source.moment.now)?;
    let to = instant_or(args.to.as_ref(), &zone, a_day_later(from))?;
    if to <= from {
        let message = format!(
            "`--to` {} is not later than `--from` {}",
            show(to, &zone),
            show(from, &zone)
        );
        return Err(Failure::input("bad_range", message));
    }
    let down = args.down.iter().map(|text| downtime(text, &zone));
    let down = down.collect::<Done<Vec<Range<Timestamp>>>>()?;
    let (entries, disabled) = chosen(&source, args, from)?;
    let zones: Vec<TimeZone> = entries.iter().map(|entry| entry.zone.clone()).collect();
    let timed: Vec<Timed> = entries.into_iter().map(|entry| entry.timed).collect();
    let rows: Vec<Row<'_>> = simulate(&timed, from, to, &down).take(MOST + 1).collect();
    if rows.len() > MOST {
        let message = format!("that is more than {MOST} rows");
        return Err(Failure::input("too_long", message)
            .hint("choose a shorter stretch with `--to`, or one skill with `--skill`"));
    }
    let picture = Picture {
        zone: &zone,
        zones: zones_by_name(&timed, &zones),
    };
    if output.json {
        let down = down
            .iter()
            .map(|range| json!({"from": show(range.start, &zone), "to": show(range.end, &zone)}));
        output.document(&json!({
            "from": show(from, &zone),
            "to": show(to, &zone),
            "zone": deft_schedule::zone_name(&zone),
            "down": down.collect::<Vec<Value>>(),
            "rows": rows.iter().map(|row| picture.document(row)).collect::<Vec<Value>>(),
            "slots": totals(&rows),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !rows.is_empty() {
        let head = ["AT", "SKILL", "WHAT", "SLOT", "WHY"]
            .map(str::to_owned)
            .to_vec();
        let lines = std::iter::once(head).chain(rows.iter().map(|row| picture.line(row)));
        output.data(table(&lines.collect::<Vec<_>>(), output.width()))?;
    }
    output.note(&summary(&rows, disabled));
    Ok(ExitCode::SUCCESS)
}

/// The skills that take part, and how many are left out because they are disabled.
fn chosen(source: &Source, args: &Simulate, from: Timestamp) -> Done<(Vec<Entry>, usize)> {
    if !args.skills.is_empty() {
        let named = args.skills.iter().map(|name| source.find(name, from));
        return Ok((named.collect::<Done<Vec<Entry>>>()?, 0));
    }
    let (enabled, disabled): (Vec<Entry>, Vec<Entry>) = source
        .all(from)
        .into_iter()
        .partition(|entry| entry.disabled.is_none());
    Ok((enabled, disabled.len()))
}

fn downtime(text: &str, zone: &TimeZone) -> Done<Range<Timestamp>> {
    let refuse = |what: &str| {
        Failure::input("bad_range", format!("`--down {text}` {what}"))
            .hint("write it as `2026-03-08T01:00..2026-03-08T09:30`")
    };
    let (start, end) = text
        .split_once("..")
        .ok_or_else(|| refuse("has no `..` between its ends"))?;
    let range = instant(start, zone)?..instant(end, zone)?;
    if range.is_empty() {
        return Err(refuse("ends before it begins"));
    }
    Ok(range)
}

fn a_day_later(from: Timestamp) -> Timestamp {
    from.checked_add(SignedDuration::from_hours(24))
        .unwrap_or(Timestamp::MAX)
}

fn zones_by_name<'a>(timed: &'a [Timed], zones: &'a [TimeZone]) -> BTreeMap<&'a str, &'a TimeZone> {
    let names = timed.iter().map(|skill| skill.name.as_str());
    names.zip(zones).collect()
}

/// Rows for readers: slots in the zone of the skill, the course of time in the reader's.
struct Picture<'a> {
    zone: &'a TimeZone,
    zones: BTreeMap<&'a str, &'a TimeZone>,
}

impl Picture<'_> {
    fn zone_of(&self, row: &Row<'_>) -> &TimeZone {
        self.zones
            .get(row.skill.name.as_str())
            .copied()
            .unwrap_or(self.zone)
    }

    fn document(&self, row: &Row<'_>) -> Value {
        let zone = self.zone_of(row);
        json!({
            "at": show(row.at, self.zone),
            "skill": row.skill.name,
            "what": row.what.word(),
            "late": matches!(row.what, What::Run { late: true }),
            "slot": show(row.slot, zone),
            "until": row.until.map(|until| show(until, zone)),
            "count": row.count,
            "reason": row.reason(zone),
        })
    }

    fn line(&self, row: &Row<'_>) -> Vec<String> {
        let zone = self.zone_of(row);
        let slot = show(row.slot, zone);
        let slots = match row.until {
            Some(until) => format!("{slot} to {} ({})", show(until, zone), row.count),
            None => slot,
        };
        vec![
            show(row.at, self.zone),
            row.skill.name.clone(),
            row.what.word().to_owned(),
            slots,
            row.reason(zone).unwrap_or_default(),
        ]
    }
}

/// How many slots there are of each kind.
fn totals(rows: &[Row<'_>]) -> BTreeMap<&'static str, u64> {
    let mut totals = BTreeMap::new();
    for row in rows {
        *totals.entry(row.what.word()).or_default() += row.count;
    }
    totals
}

fn summary(rows: &[Row<'_>], disabled: usize) -> String {
    let parts: Vec<String> = totals(rows)
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    let mut text = if parts.is_empty() {
        "no slots".to_owned()
    } else {
        format!("slots: {}", parts.join(", "))
    };
    if disabled > 0 {
        let skills = counted(disabled, "disabled skill");
        text.push_str(&format!("; {skills} left out"));
    }
    text
}

//! Simulates all slots in a period.

use std::collections::BTreeMap;
use std::ops::Range;

use deft_schedule::{Row, SlotDecision, TimedSkill, show};
use deft_wire::schedule::{DowntimeView, SimulatedSlot, SimulationView};
use deft_wire::{Done, Failure};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::source::{ScheduledSkill, Source};
use super::{instant, instant_or};
use crate::workspace::Workspace;

/// Maximum number of rows in one result: more would need too much memory and is too long to read.
const MAX_ROWS: usize = 1_000_000;

/// The period and the skills of a simulation.
#[derive(Clone, Debug, Default)]
pub struct SimulationRequest {
    /// The start; now if absent.
    pub from: Option<String>,
    /// The end; a day after the start if absent.
    pub to: Option<String>,
    /// Periods during which the machine is down, each as `START..END`.
    pub down: Vec<String>,
    /// The skills, even if they are disabled; if empty, all enabled ones.
    pub skills: Vec<String>,
}

/// The simulated outcome of the slots.
#[derive(Clone, Debug)]
pub struct SimulationResult {
    /// The result, for output as JSON.
    pub view: SimulationView,
    /// The number of skills left out because they are disabled.
    pub disabled: usize,
}

/// Simulates the slots in a period.
pub fn simulate(workspace: &Workspace, request: &SimulationRequest) -> Done<SimulationResult> {
    let source = Source::open(workspace)?;
    let zone = source.moment().zone.clone();
    let from = instant_or(request.from.as_deref(), &zone, source.moment().now)?;
    let to = instant_or(request.to.as_deref(), &zone, a_day_later(from))?;
    if to <= from {
        let message = format!(
            "`--to` {} is not later than `--from` {}",
            show(to, &zone),
            show(from, &zone)
        );
        return Err(Failure::input("bad_range", message));
    }
    let down = request.down.iter().map(|text| downtime(text, &zone));
    let down = down.collect::<Done<Vec<Range<Timestamp>>>>()?;
    let (skills, disabled) = choose_skills(&source, &request.skills, from)?;
    let zones = skills.iter().map(|skill| skill.zone.clone());
    let zones: Vec<TimeZone> = zones.collect();
    let timed: Vec<TimedSkill> = skills.into_iter().map(|skill| skill.timed).collect();
    let rows = deft_schedule::simulate(&timed, from, to, &down).take(MAX_ROWS + 1);
    let rows: Vec<Row<'_>> = rows.collect();
    if rows.len() > MAX_ROWS {
        let message = format!("that is more than {MAX_ROWS} rows");
        return Err(Failure::input("too_long", message)
            .hint("choose a shorter period with `--to`, or one skill with `--skill`"));
    }
    let zones = Zones {
        reader: &zone,
        skills: zones_by_name(&timed, &zones),
    };
    let down = down.iter().map(|range| DowntimeView {
        from: show(range.start, &zone),
        to: show(range.end, &zone),
    });
    Ok(SimulationResult {
        view: SimulationView {
            from: show(from, &zone),
            to: show(to, &zone),
            zone: deft_schedule::zone_name(&zone),
            down: down.collect(),
            slots: totals(&rows),
            rows: rows.iter().map(|row| zones.view(row)).collect(),
        },
        disabled,
    })
}

/// Returns the skills to simulate, and the number of those left out because they are disabled.
fn choose_skills(
    source: &Source,
    names: &[String],
    from: Timestamp,
) -> Done<(Vec<ScheduledSkill>, usize)> {
    if !names.is_empty() {
        let chosen = names.iter().map(|name| source.find(name, from));
        return Ok((chosen.collect::<Done<Vec<ScheduledSkill>>>()?, 0));
    }
    let (enabled, disabled): (Vec<ScheduledSkill>, Vec<ScheduledSkill>) = source
        .all(from)?
        .into_iter()
        .partition(|skill| skill.disabled.is_none());
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

fn zones_by_name<'a>(
    timed: &'a [TimedSkill],
    zones: &'a [TimeZone],
) -> BTreeMap<&'a str, &'a TimeZone> {
    let names = timed.iter().map(|skill| skill.name.as_str());
    names.zip(zones).collect()
}

/// The zones for display: slots are shown in the zone of their skill, all other times in that of the reader.
struct Zones<'a> {
    reader: &'a TimeZone,
    skills: BTreeMap<&'a str, &'a TimeZone>,
}

impl Zones<'_> {
    fn view(&self, row: &Row<'_>) -> SimulatedSlot {
        let name = row.skill.name.as_str();
        let zone = self.skills.get(name).copied().unwrap_or(self.reader);
        SimulatedSlot {
            at: show(row.at, self.reader),
            skill: name.to_owned(),
            what: row.what.word().to_owned(),
            late: matches!(row.what, SlotDecision::Run { late: true }),
            slot: show(row.slot, zone),
            until: row.until.map(|until| show(until, zone)),
            count: row.count,
            reason: row.reason(zone),
        }
    }
}

/// Returns the number of slots of each kind.
fn totals(rows: &[Row<'_>]) -> BTreeMap<String, u64> {
    let mut totals = BTreeMap::new();
    for row in rows {
        *totals.entry(row.what.word().to_owned()).or_default() += row.count;
    }
    totals
}

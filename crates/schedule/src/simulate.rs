//! Simulation of a set of skills over a period of time, with downtimes of the machine.
//!
//! Uses `due`, so the decisions are those of the scheduler. Runs are assumed to succeed instantly: overlap,
//! failures, budgets and pacing are not simulated.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::misfire::{OmitReason, Rule, due};
use crate::schedule::Schedule;

/// The name, schedule and misfire rule of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedSkill {
    /// The name of the skill.
    pub name: String,
    /// The times at which the skill fires.
    pub schedule: Schedule,
    /// The rule for slots that could not run in time.
    pub rule: Rule,
}

/// The decision about one slot, or about several consecutive slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// The time of the decision.
    pub at: Timestamp,
    /// The skill.
    pub skill: &'a TimedSkill,
    /// The slot, or the first one of the range.
    pub slot: Timestamp,
    /// The last slot of the range.
    pub until: Option<Timestamp>,
    /// The number of slots.
    pub count: u64,
    /// The decision.
    pub what: SlotDecision,
}

/// The decision about a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotDecision {
    /// The slot runs.
    Run {
        /// Whether the slot runs late.
        late: bool,
    },
    /// The slot is omitted.
    Passed(OmitReason),
    /// The machine is still down at the end of the simulation, so the slot is not decided.
    Open,
}

impl SlotDecision {
    /// Returns one word for listings and programs.
    pub fn word(&self) -> &'static str {
        match self {
            SlotDecision::Run { .. } => "run",
            SlotDecision::Passed(OmitReason::Backoff { .. }) => "skipped",
            SlotDecision::Passed(OmitReason::Coalesced { .. }) => "coalesced",
            SlotDecision::Passed(OmitReason::TooLate { .. } | OmitReason::Skipped) => "missed",
            SlotDecision::Open => "open",
        }
    }
}

impl Row<'_> {
    /// Returns why the slot is not a run on time, as a sentence with times in `zone`; `None` for a run on
    /// time.
    pub fn reason(&self, zone: &TimeZone) -> Option<String> {
        match self.what {
            SlotDecision::Run { late: false } => None,
            SlotDecision::Run { late: true } => {
                Some(format!("{:#} late", self.at.duration_since(self.slot)))
            }
            SlotDecision::Passed(why) => Some(why.reason(zone)),
            SlotDecision::Open => Some("the machine is still down at the end".to_owned()),
        }
    }
}

/// Simulates `skills` from `from` (exclusive) to `to` (inclusive).
///
/// `down` lists the downtimes in any order; the end of a downtime is exclusive. Rows are computed lazily, in
/// the order of their decisions.
pub fn simulate<'a>(
    skills: &'a [TimedSkill],
    from: Timestamp,
    to: Timestamp,
    down: &[Range<Timestamp>],
) -> Simulation<'a> {
    let mut simulation = Simulation {
        skills,
        to,
        down: merge_ranges(down),
        agenda: BinaryHeap::with_capacity(skills.len()),
        rows: VecDeque::new(),
    };
    for (index, skill) in skills.iter().enumerate() {
        simulation.plan(index, skill.schedule.next_after(from), from);
    }
    simulation
}

/// The iterator over the rows of [`simulate`].
#[derive(Debug, Clone)]
pub struct Simulation<'a> {
    skills: &'a [TimedSkill],
    to: Timestamp,
    down: Vec<Range<Timestamp>>,
    agenda: BinaryHeap<Reverse<Entry>>,
    rows: VecDeque<Row<'a>>,
}

/// The earliest slot of a skill without a row, ordered by the time of its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    seen: Timestamp,
    index: usize,
    slot: Timestamp,
}

impl<'a> Iterator for Simulation<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        while self.rows.is_empty() {
            let Reverse(entry) = self.agenda.pop()?;
            self.decide(entry);
        }
        self.rows.pop_front()
    }
}

impl Simulation<'_> {
    /// Adds a slot to the agenda. It is decided as soon as the machine is running, but not in the past.
    fn plan(&mut self, index: usize, slot: Option<Timestamp>, now: Timestamp) {
        let Some(slot) = slot.filter(|slot| *slot <= self.to) else {
            return;
        };
        let seen = self.next_running(slot.max(now));
        self.agenda.push(Reverse(Entry { seen, index, slot }));
    }

    fn decide(&mut self, Entry { seen, index, slot }: Entry) {
        let skill = &self.skills[index];
        if seen > self.to {
            let newest = skill.schedule.newest(slot, self.to);
            self.rows.push_back(Row {
                at: self.to,
                skill,
                slot,
                until: (newest > slot).then_some(newest),
                count: 1 + skill.schedule.count(slot, newest),
                what: SlotDecision::Open,
            });
            return;
        }
        let due = due(&skill.schedule, slot, seen, &skill.rule, None);
        self.rows.extend(due.passed.into_iter().map(|passed| Row {
            at: seen,
            skill,
            slot: passed.slot,
            until: passed.until,
            count: passed.count,
            what: SlotDecision::Passed(passed.why),
        }));
        self.rows.extend(due.fire.map(|fire| Row {
            at: seen,
            skill,
            slot: fire.at,
            until: None,
            count: 1,
            what: SlotDecision::Run { late: fire.late },
        }));
        self.plan(index, due.next, seen);
    }

    /// Returns the first instant from `t` on at which the machine is running.
    fn next_running(&self, t: Timestamp) -> Timestamp {
        let index = self.down.partition_point(|range| range.end <= t);
        match self.down.get(index) {
            Some(range) if range.start <= t => range.end,
            Some(_) | None => t,
        }
    }
}

/// Sorts the ranges and merges overlapping ones; drops empty ones.
fn merge_ranges(down: &[Range<Timestamp>]) -> Vec<Range<Timestamp>> {
    let mut sorted: Vec<Range<Timestamp>> = down
        .iter()
        .filter(|range| !range.is_empty())
        .cloned()
        .collect();
    sorted.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<Timestamp>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push(range),
        }
    }
    merged
}

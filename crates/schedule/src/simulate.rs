//! What a set of skills would do over a stretch of time, with the machine down now and then.
//!
//! The decisions are those of `due`, so the picture is what the scheduler would do. Runs are taken
//! to succeed at once: overlap, failures, budgets and pacing are not played through.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::misfire::{OmitReason, Rule, due};
use crate::schedule::Schedule;

/// A skill as far as time is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedSkill {
    /// What it is called.
    pub name: String,
    /// When it fires.
    pub schedule: Schedule,
    /// What it says about slots that could not run in time.
    pub rule: Rule,
}

/// The decision about one slot, or about several in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// When it is decided.
    pub at: Timestamp,
    /// The skill.
    pub skill: &'a TimedSkill,
    /// The slot, or the first of the stretch.
    pub slot: Timestamp,
    /// The last of the stretch.
    pub until: Option<Timestamp>,
    /// How many slots there are.
    pub count: u64,
    /// The decision.
    pub what: SlotDecision,
}

/// The decision about a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotDecision {
    /// It runs.
    Run {
        /// Whether it makes up for lost time.
        late: bool,
    },
    /// It does not run.
    Passed(OmitReason),
    /// The machine is still down at the end, so it is not decided yet.
    Open,
}

impl SlotDecision {
    /// One word for listings and programs.
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
    /// Why it is not simply a run on time, as a sentence with times in `zone`.
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

/// Plays through what `skills` do after `from` and up to and with `to`.
///
/// `down` are the stretches during which nothing runs, in any order; the end of one is up again.
/// Rows come in the order in which they are decided, and are made one by one as they are asked for.
pub fn simulate<'a>(
    skills: &'a [TimedSkill],
    from: Timestamp,
    to: Timestamp,
    down: &[Range<Timestamp>],
) -> Simulation<'a> {
    let mut simulation = Simulation {
        skills,
        to,
        down: merged(down),
        agenda: BinaryHeap::with_capacity(skills.len()),
        rows: VecDeque::new(),
    };
    for (index, skill) in skills.iter().enumerate() {
        simulation.plan(index, skill.schedule.next_after(from), from);
    }
    simulation
}

/// The rows of [`simulate`].
#[derive(Debug, Clone)]
pub struct Simulation<'a> {
    skills: &'a [TimedSkill],
    to: Timestamp,
    down: Vec<Range<Timestamp>>,
    agenda: BinaryHeap<Reverse<Entry>>,
    rows: VecDeque<Row<'a>>,
}

/// The earliest slot of a skill without a row, sorted by when it is decided.
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
    /// Puts a slot on the agenda: it is seen when the machine is up, and not in the past.
    fn plan(&mut self, index: usize, slot: Option<Timestamp>, now: Timestamp) {
        let Some(slot) = slot.filter(|slot| *slot <= self.to) else {
            return;
        };
        let seen = self.up(slot.max(now));
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

    /// The first instant from `t` on at which the machine is up.
    fn up(&self, t: Timestamp) -> Timestamp {
        let index = self.down.partition_point(|range| range.end <= t);
        match self.down.get(index) {
            Some(range) if range.start <= t => range.end,
            Some(_) | None => t,
        }
    }
}

/// The same stretches in order, without overlaps and empty ones.
fn merged(down: &[Range<Timestamp>]) -> Vec<Range<Timestamp>> {
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

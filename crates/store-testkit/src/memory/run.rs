//! A run in [`Memory`](super::Memory), and the index of runs by state.
//!
//! No decisions are made here; callers remove a run from the index, change it, and add it again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deft_model::{Overlap, RunId, RunStatus};
use jiff::Timestamp;

use deft_store::{Admission, RunRow};

/// A run with fields that only the store uses.
pub(super) struct Run {
    pub(super) row: RunRow,
    pub(super) token: u64,
    pub(super) until: Option<Timestamp>,
    /// When an event arrived that the driver may have missed; if set, parking makes the run due at once.
    pub(super) nudged: Option<Timestamp>,
    /// Its position among the active runs of the skill.
    pub(super) turn: u64,
    /// Whether it waits until it is the first of them.
    pub(super) in_turn: bool,
    pub(super) limit: Option<u32>,
    /// Indexes of its events and questions in the lists of all runs.
    pub(super) events: Vec<usize>,
    pub(super) asked: Vec<usize>,
}

impl Run {
    pub(super) fn new_queued(run: &Admission, turn: u64) -> Self {
        Self {
            token: 0,
            until: None,
            nudged: None,
            turn,
            in_turn: run.overlap != Overlap::Allow,
            limit: run.skill_limit,
            events: Vec::new(),
            asked: Vec::new(),
            row: RunRow::queued_row(run),
        }
    }
}

/// Runs by state. Numbers are indexes in the list of all runs.
#[derive(Default)]
pub(super) struct Index {
    pub(super) queued: BTreeSet<(Timestamp, RunId, usize)>,
    pub(super) asleep: BTreeSet<(Timestamp, usize)>,
    pub(super) running: BTreeSet<usize>,
    busy: HashMap<String, u32>,
    active: HashMap<String, BTreeMap<u64, usize>>,
}

impl Index {
    pub(super) fn add(&mut self, n: usize, run: &Run) {
        let row = &run.row;
        match row.status {
            RunStatus::Queued => {
                self.queued.insert((row.admitted_at, row.id.clone(), n));
            }
            RunStatus::Running => {
                self.running.insert(n);
                *entry(&mut self.busy, &row.skill) += 1;
            }
            RunStatus::Waiting => {
                self.asleep.extend(row.wake_at.map(|at| (at, n)));
            }
            RunStatus::Done => return,
        }
        entry(&mut self.active, &row.skill).insert(run.turn, n);
    }

    pub(super) fn remove(&mut self, n: usize, run: &Run) {
        let row = &run.row;
        match row.status {
            RunStatus::Queued => {
                self.queued.remove(&(row.admitted_at, row.id.clone(), n));
            }
            RunStatus::Running => {
                self.running.remove(&n);
                *entry(&mut self.busy, &row.skill) -= 1;
            }
            RunStatus::Waiting => {
                if let Some(at) = row.wake_at {
                    self.asleep.remove(&(at, n));
                }
            }
            RunStatus::Done => return,
        }
        entry(&mut self.active, &row.skill).remove(&run.turn);
    }

    /// Returns the active runs of a skill in order.
    pub(super) fn active(&self, skill: &str) -> Vec<usize> {
        self.active
            .get(skill)
            .map(|runs| runs.values().copied().collect())
            .unwrap_or_default()
    }

    pub(super) fn first_active(&self, skill: &str) -> Option<usize> {
        Some(*self.active.get(skill)?.first_key_value()?.1)
    }

    pub(super) fn next_turn(&self, skill: &str) -> u64 {
        let last = self.active.get(skill).and_then(BTreeMap::last_key_value);
        last.map_or(1, |(turn, _)| turn + 1)
    }

    /// Whether the limit of the skill and the earlier runs allow this run to start.
    pub(super) fn admits(&self, n: usize, run: &Run) -> bool {
        let busy = self.busy.get(&run.row.skill).copied().unwrap_or(0);
        let room = run.limit.is_none_or(|limit| busy < limit);
        room && (!run.in_turn || self.first_active(&run.row.skill) == Some(n))
    }
}

fn entry<'a, V: Default>(map: &'a mut HashMap<String, V>, skill: &str) -> &'a mut V {
    map.entry(skill.to_owned()).or_default()
}

/// Returns the earlier of two optional instants.
pub(super) fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

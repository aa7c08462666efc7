//! The choice of the run that is claimed next: the oldest that is due and within its limits.
//!
//! Not here: the lease (`claim.rs`), and the global limit, which its caller checks.

use std::collections::HashMap;

use deft_model::RunId;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::damage;
use super::fault::Fault;
use super::row::micros;

/// Number of queued runs that are examined one by one. Behind more that may not start, groups are examined.
const MAX_EXAMINED: usize = 64;

/// A due run whose limits have not been checked.
struct Candidate {
    n: i64,
    skill: String,
    turn: i64,
    in_turn: bool,
    limit: Option<u32>,
    admitted_at: i64,
    id: String,
}

/// SQL: the columns of a candidate.
macro_rules! candidate {
    ($rest:literal) => {
        concat!(
            "SELECT n, skill, turn, in_turn, skill_limit, admitted_at, id FROM run ",
            $rest
        )
    };
}

impl Candidate {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        damage::read(row, "run", 6, || {
            Ok(Self {
                n: row.get(0)?,
                skill: row.get(1)?,
                turn: row.get(2)?,
                in_turn: row.get(3)?,
                limit: row.get(4)?,
                admitted_at: row.get(5)?,
                id: row.get(6)?,
            })
        })
    }

    fn age(&self) -> (i64, &str) {
        (self.admitted_at, &self.id)
    }
}

/// Returns the number of a run if it is due and within its limits.
pub(super) fn claimable(db: &Connection, id: &RunId, now: Timestamp) -> Result<Option<i64>, Fault> {
    let mut found = db.prepare_cached(candidate!(
        "WHERE id = ?1 AND (status = 'queued' OR status = 'waiting' AND wake_at <= ?2)"
    ))?;
    let found = found.query_row(params![id.as_str(), micros(now)], Candidate::read);
    let Some(run) = found.optional()? else {
        return Ok(None);
    };
    Ok(Counts::default().admit(db, &run)?.then_some(run.n))
}

/// Returns the number of the oldest run that is due and within its limits.
pub(super) fn oldest(db: &Connection, now: Timestamp) -> Result<Option<i64>, Fault> {
    let mut counts = Counts::default();
    let queued = oldest_queued(db, &mut counts, MAX_EXAMINED)?;
    let awake = oldest_awake(db, &mut counts, now)?;
    let both = queued.into_iter().chain(awake);
    let oldest = both.min_by(|one, other| one.age().cmp(&other.age()));
    Ok(oldest.map(|run| run.n))
}

/// Returns the oldest queued run. Examines `most` runs by age, and then groups of runs.
fn oldest_queued(
    db: &Connection,
    counts: &mut Counts,
    most: usize,
) -> Result<Option<Candidate>, Fault> {
    let mut queued = db.prepare_cached(candidate!(
        "INDEXED BY run_queued WHERE status = 'queued' ORDER BY admitted_at, id"
    ))?;
    for (examined, run) in queued.query_map([], Candidate::read)?.enumerate() {
        if examined == most {
            return oldest_of_groups(db, counts);
        }
        let run = run?;
        if counts.admit(db, &run)? {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// Returns the oldest queued run by looking at one run of each group: those of one skill with the same limit,
/// of which all may start or none; if they start in turn, only the first of their skill may start.
fn oldest_of_groups(db: &Connection, counts: &mut Counts) -> Result<Option<Candidate>, Fault> {
    let mut oldest: Option<Candidate> = None;
    let mut group = first_group(db)?;
    while let Some(head) = group {
        group = next_group(db, &head)?;
        let candidate = if head.in_turn {
            first_of_skill(db, &head.skill)?
        } else {
            Some(head)
        };
        if let Some(run) = candidate
            && oldest
                .as_ref()
                .is_none_or(|oldest| run.age() < oldest.age())
            && counts.admit(db, &run)?
        {
            oldest = Some(run);
        }
    }
    Ok(oldest)
}

fn first_group(db: &Connection) -> Result<Option<Candidate>, Fault> {
    let sql = candidate!(
        "INDEXED BY run_group WHERE status = 'queued' \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    );
    Ok(db
        .prepare_cached(sql)?
        .query_row([], Candidate::read)
        .optional()?)
}

/// The first run of the group after that of skill, order and limit. Three statements, because `SQLite` would not
/// use the index for a comparison of all three columns, of which the last may be NULL.
const NEXT_GROUPS: [&str; 3] = [
    candidate!(
        "INDEXED BY run_group WHERE status = 'queued' \
         AND skill = ?1 AND in_turn = ?2 AND skill_limit > ?3 \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    ),
    candidate!(
        "INDEXED BY run_group WHERE status = 'queued' AND skill = ?1 AND in_turn > ?2 \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    ),
    candidate!(
        "INDEXED BY run_group WHERE status = 'queued' AND skill > ?1 \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    ),
];

fn next_group(db: &Connection, of: &Candidate) -> Result<Option<Candidate>, Fault> {
    let limit = of.limit.map_or(-1, i64::from);
    let values: [&dyn ToSql; 3] = [&of.skill, &of.in_turn, &limit];
    for sql in NEXT_GROUPS {
        let mut next = db.prepare_cached(sql)?;
        let values = &values[..next.parameter_count()];
        if let Some(next) = next.query_row(values, Candidate::read).optional()? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// Returns the queued run of a skill with the first turn.
fn first_of_skill(db: &Connection, skill: &str) -> Result<Option<Candidate>, Fault> {
    let sql = candidate!(
        "INDEXED BY run_active WHERE status = 'queued' AND skill = ?1 AND turn IS NOT NULL \
         ORDER BY turn LIMIT 1"
    );
    Ok(db
        .prepare_cached(sql)?
        .query_row([skill], Candidate::read)
        .optional()?)
}

/// Returns the oldest waiting run whose time has come.
fn oldest_awake(
    db: &Connection,
    counts: &mut Counts,
    now: Timestamp,
) -> Result<Option<Candidate>, Fault> {
    let mut awake = db.prepare_cached(candidate!(
        "INDEXED BY run_asleep WHERE status = 'waiting' AND wake_at <= ?1 ORDER BY admitted_at, id"
    ))?;
    for run in awake.query_map([micros(now)], Candidate::read)? {
        let run = run?;
        if counts.admit(db, &run)? {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// Counts per skill, cached so that a long queue of one skill is counted once.
#[derive(Default)]
struct Counts {
    busy: HashMap<String, u32>,
    first: HashMap<String, i64>,
    held: HashMap<String, bool>,
}

impl Counts {
    fn admit(&mut self, db: &Connection, run: &Candidate) -> Result<bool, Fault> {
        if remember(&mut self.held, &run.skill, || is_held(db, &run.skill))? {
            return Ok(false);
        }
        if let Some(limit) = run.limit {
            let busy = remember(&mut self.busy, &run.skill, || busy(db, &run.skill))?;
            if busy >= limit {
                return Ok(false);
            }
        }
        if run.in_turn {
            let first = || first_turn(db, &run.skill);
            return Ok(remember(&mut self.first, &run.skill, first)? == run.turn);
        }
        Ok(true)
    }
}

fn is_held(db: &Connection, skill: &str) -> Result<bool, Fault> {
    let mut held = db.prepare_cached("SELECT 1 FROM hold WHERE skill = ?1")?;
    Ok(held.exists([skill])?)
}

fn remember<V: Copy>(
    known: &mut HashMap<String, V>,
    skill: &str,
    count: impl FnOnce() -> Result<V, Fault>,
) -> Result<V, Fault> {
    if let Some(value) = known.get(skill) {
        return Ok(*value);
    }
    let value = count()?;
    known.insert(skill.to_owned(), value);
    Ok(value)
}

/// Returns the number of running runs of a skill.
pub(super) fn busy(db: &Connection, skill: &str) -> Result<u32, Fault> {
    let sql = "SELECT count(*) FROM run INDEXED BY run_active \
               WHERE status = 'running' AND skill = ?1 AND turn IS NOT NULL";
    Ok(db
        .prepare_cached(sql)?
        .query_row([skill], |row| row.get(0))?)
}

/// SQL: the first or last turn of the runs of skill `?1` with a status, or a default.
macro_rules! turn_of {
    ($which:literal, $status:literal, $none:literal) => {
        concat!(
            "coalesce((SELECT ",
            $which,
            "(turn) FROM run INDEXED BY run_active WHERE status = '",
            $status,
            "' AND skill = ?1 AND turn IS NOT NULL), ",
            $none,
            ")"
        )
    };
}

pub(super) use turn_of;

fn first_turn(db: &Connection, skill: &str) -> Result<i64, Fault> {
    let sql = concat!(
        "SELECT min(",
        turn_of!("min", "queued", "9223372036854775807"),
        ", ",
        turn_of!("min", "running", "9223372036854775807"),
        ", ",
        turn_of!("min", "waiting", "9223372036854775807"),
        ")"
    );
    Ok(db
        .prepare_cached(sql)?
        .query_row([skill], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::sqlite::open::migrate_in_memory;

    /// A run of one of three skills: its skill, status, limit, whether it starts in turn, and its age.
    type TestRun = (u8, usize, Option<u32>, bool, i64);

    fn store(runs: &[TestRun], held: Option<u8>) -> Connection {
        let db = migrate_in_memory();
        for (n, (skill, status, limit, in_turn, age)) in (1_i64..).zip(runs) {
            let status = ["queued", "queued", "queued", "running", "waiting"][*status];
            db.execute(
                "INSERT INTO run (n, id, skill, revision, tier, agent_id, cause, status, turn, \
                 in_turn, skill_limit, admitted_at, inputs) \
                 VALUES (?1, 'run_' || ?1, 's' || ?2, '', 'workflow', '', '', ?3, ?1, ?4, ?5, ?6, '{}')",
                params![n, skill, status, in_turn, limit, age],
            )
            .unwrap();
        }
        if let Some(skill) = held {
            let sql = "INSERT INTO hold (skill, since) VALUES ('s' || ?1, 0)";
            db.execute(sql, [skill]).unwrap();
        }
        db
    }

    proptest! {
        /// The two ways to examine queued runs choose the same run.
        #[test]
        fn groups_have_the_same_oldest_run(
            runs in vec(
                (0..3_u8, 0..5_usize, prop::option::of(0..4_u32), any::<bool>(), 0..9_i64),
                0..12,
            ),
            held in prop::option::of(0..3_u8),
        ) {
            let db = store(&runs, held);
            let oldest = |most| {
                let run = oldest_queued(&db, &mut Counts::default(), most).unwrap();
                run.map(|run| run.n)
            };
            let by_age = oldest(usize::MAX);
            prop_assert_eq!(oldest(0), by_age);
            prop_assert_eq!(oldest(2), by_age);
        }
    }

    /// No query of a group sorts rows or scans an index.
    #[test]
    fn groups_are_found_by_their_index() {
        let db = migrate_in_memory();
        let plan = |sql: &str| {
            let mut steps = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let values = std::iter::repeat_n(0, steps.parameter_count());
            let steps = steps.query_map(rusqlite::params_from_iter(values), |row| row.get(3));
            let steps: Result<Vec<String>, _> = steps.unwrap().collect();
            steps.unwrap().join("; ")
        };
        assert_eq!(
            NEXT_GROUPS.map(plan),
            [
                "SEARCH run USING INDEX run_group (skill=? AND in_turn=? AND skill_limit>?)",
                "SEARCH run USING INDEX run_group (skill=? AND in_turn>?)",
                "SEARCH run USING INDEX run_group (skill>?)",
            ]
        );
    }
}

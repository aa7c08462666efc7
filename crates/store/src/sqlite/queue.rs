//! The choice of the run that is claimed next: the oldest that is due and within its limits.
//!
//! Queued runs are examined by age. A long queue that may not start, of a held skill or of one at its limit, would
//! make that slow. So behind some runs that may not start, cohorts are examined too, one for each further run:
//! the queued runs of one skill with the same limit, of which all may start or none. Whichever search ends first
//! gives the answer.
//!
//! Not here: the lease (`claim.rs`), and the global limit, which its caller checks.

use deft_model::RunId;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::damage;
use super::fault::Fault;
use super::limits::Counts;
use super::row::micros;

/// Number of queued runs that are examined before cohorts are.
const FIRST_RUNS: usize = 64;

/// A due run whose limits have not been checked.
struct Candidate {
    n: i64,
    skill: String,
    turn: i64,
    /// As stored, because it is part of the order of cohorts; 0 means no.
    in_turn: i64,
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

    /// Whether the limits of its skill allow it to start.
    fn may_start(&self, db: &Connection, counts: &mut Counts) -> Result<bool, Fault> {
        let turn = (self.in_turn != 0).then_some(self.turn);
        counts.admit(db, &self.skill, self.limit, turn)
    }
}

/// Returns the number of the run with this id if it is due and within its limits.
pub(super) fn check_candidate(
    db: &Connection,
    id: &RunId,
    now: Timestamp,
) -> Result<Option<i64>, Fault> {
    let mut found = db.prepare_cached(candidate!(
        "WHERE id = ?1 AND (status = 'queued' OR status = 'waiting' AND wake_at <= ?2)"
    ))?;
    let found = found.query_row(params![id.as_str(), micros(now)], Candidate::read);
    let Some(run) = found.optional()? else {
        return Ok(None);
    };
    Ok(run.may_start(db, &mut Counts::default())?.then_some(run.n))
}

/// Returns the number of the oldest run that is due and within its limits.
pub(super) fn oldest(db: &Connection, now: Timestamp) -> Result<Option<i64>, Fault> {
    let mut counts = Counts::default();
    let queued = oldest_queued(db, &mut counts, FIRST_RUNS)?;
    let awake = oldest_awake(db, &mut counts, now)?;
    let both = queued.into_iter().chain(awake);
    let oldest = both.min_by(|one, other| one.age().cmp(&other.age()));
    Ok(oldest.map(|run| run.n))
}

/// Returns the oldest queued run that may start. Examines cohorts too after `alone` runs.
fn oldest_queued(
    db: &Connection,
    counts: &mut Counts,
    alone: usize,
) -> Result<Option<Candidate>, Fault> {
    let mut queued = db.prepare_cached(candidate!(
        "INDEXED BY run_queued WHERE status = 'queued' ORDER BY admitted_at, id"
    ))?;
    let mut cohorts: Option<CohortSearch> = None;
    for (examined, run) in queued.query_map([], Candidate::read)?.enumerate() {
        let run = run?;
        if run.may_start(db, counts)? {
            return Ok(Some(run));
        }
        if examined < alone {
            continue;
        }
        let search = match &mut cohorts {
            Some(search) => search,
            none => none.insert(CohortSearch::start(db)?),
        };
        if search.examine(db, counts)? {
            return Ok(search.oldest.take());
        }
    }
    Ok(None)
}

/// The search for the oldest run that may start among the cohorts.
struct CohortSearch {
    /// The first run of the next cohort.
    next: Option<Candidate>,
    oldest: Option<Candidate>,
}

impl CohortSearch {
    fn start(db: &Connection) -> Result<Self, Fault> {
        Ok(Self {
            next: first_cohort(db)?,
            oldest: None,
        })
    }

    /// Examines one cohort: its first run or, if its runs start in turn, the first of their skill. Returns
    /// whether it was the last one.
    fn examine(&mut self, db: &Connection, counts: &mut Counts) -> Result<bool, Fault> {
        let Some(head) = self.next.take() else {
            return Ok(true);
        };
        self.next = next_cohort(db, &head)?;
        let candidate = if head.in_turn != 0 {
            first_of_skill(db, &head.skill)?
        } else {
            Some(head)
        };
        if let Some(run) = candidate
            && self
                .oldest
                .as_ref()
                .is_none_or(|oldest| run.age() < oldest.age())
            && run.may_start(db, counts)?
        {
            self.oldest = Some(run);
        }
        Ok(self.next.is_none())
    }
}

fn first_cohort(db: &Connection) -> Result<Option<Candidate>, Fault> {
    let sql = candidate!(
        "INDEXED BY run_cohort WHERE status = 'queued' \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    );
    Ok(db
        .prepare_cached(sql)?
        .query_row([], Candidate::read)
        .optional()?)
}

/// The first run of the cohort after that of a skill, an order and a limit. Three statements, because `SQLite` would not
/// use the index for a comparison of all three columns, of which the last may be NULL.
const NEXT_COHORT: [&str; 3] = [
    candidate!(
        "INDEXED BY run_cohort WHERE status = 'queued' \
         AND skill = ?1 AND in_turn = ?2 AND skill_limit > ?3 \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    ),
    candidate!(
        "INDEXED BY run_cohort WHERE status = 'queued' AND skill = ?1 AND in_turn > ?2 \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    ),
    candidate!(
        "INDEXED BY run_cohort WHERE status = 'queued' AND skill > ?1 \
         ORDER BY skill, in_turn, skill_limit, admitted_at, id LIMIT 1"
    ),
];

fn next_cohort(db: &Connection, head: &Candidate) -> Result<Option<Candidate>, Fault> {
    let limit = head.limit.map_or(-1, i64::from);
    let values: [&dyn ToSql; 3] = [&head.skill, &head.in_turn, &limit];
    for sql in NEXT_COHORT {
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
        if run.may_start(db, counts)? {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::sqlite::open::migrate_in_memory;

    /// A run of one of three skills: its skill, status, limit, whether it starts in turn, and its age.
    ///
    /// A damaged value of the order, 2, must not end in a search without end.
    type TestRun = (u8, usize, Option<u32>, i64, i64);

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
        /// Both searches choose the same run.
        #[test]
        fn cohorts_have_the_same_oldest_run(
            runs in vec(
                (0..3_u8, 0..5_usize, prop::option::of(0..4_u32), 0..3_i64, 0..9_i64),
                0..12,
            ),
            held in prop::option::of(0..3_u8),
        ) {
            let db = store(&runs, held);
            let by_age = oldest_queued(&db, &mut Counts::default(), usize::MAX).unwrap();
            let mut search = CohortSearch::start(&db).unwrap();
            let mut counts = Counts::default();
            while !search.examine(&db, &mut counts).unwrap() {}
            let number = |run: Option<Candidate>| run.map(|run| run.n);
            let by_age = number(by_age);
            prop_assert_eq!(number(search.oldest), by_age);
            for alone in [0, 2] {
                let both = oldest_queued(&db, &mut Counts::default(), alone).unwrap();
                prop_assert_eq!(number(both), by_age);
            }
        }
    }

    /// No query of a cohort sorts rows or scans an index.
    #[test]
    fn cohorts_are_found_by_their_index() {
        let db = migrate_in_memory();
        let plan = |sql: &str| {
            let mut steps = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let values = std::iter::repeat_n(0, steps.parameter_count());
            let steps = steps.query_map(rusqlite::params_from_iter(values), |row| row.get(3));
            let steps: Result<Vec<String>, _> = steps.unwrap().collect();
            steps.unwrap().join("; ")
        };
        assert_eq!(
            NEXT_COHORT.map(plan),
            [
                "SEARCH run USING INDEX run_cohort (skill=? AND in_turn=? AND skill_limit>?)",
                "SEARCH run USING INDEX run_cohort (skill=? AND in_turn>?)",
                "SEARCH run USING INDEX run_cohort (skill>?)",
            ]
        );
    }
}

//! Statistics over runs.

use deft_model::Choice;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::damage;
use super::fault::Fault;
use super::row::{self, micros};
use crate::figures::{INTERVAL_SECONDS, stretch};
use crate::{OutcomeCount, UsedRevision};

pub(super) fn outcomes(db: &Connection, since: Timestamp) -> Result<Vec<OutcomeCount>, Fault> {
    // A run's number is never less than its instant (in milliseconds), so the primary key skips older rows.
    let sql = "SELECT skill, outcome, admitted_at / ?3 stretch, count(*) FROM run \
               WHERE n >= ?1 AND admitted_at >= ?2 GROUP BY skill, outcome, stretch \
               ORDER BY skill, outcome, stretch";
    let mut found = db.prepare_cached(sql)?;
    let least = row::least_number(since);
    let length = INTERVAL_SECONDS * 1_000_000;
    let found = found.query_map(params![least, micros(since), length], |row| {
        damage::read(row, "run", 0, || {
            let outcome: Option<String> = row.get(1)?;
            Ok(OutcomeCount {
                skill: row.get(0)?,
                outcome: outcome.as_deref().and_then(Choice::from_word),
                from: stretch(row.get(2)?),
                runs: row::natural(row, 3)?,
            })
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn revisions(db: &Connection, skill: &str) -> Result<Vec<UsedRevision>, Fault> {
    let sql = "SELECT revision, count(*), min(admitted_at), max(admitted_at) \
               FROM run INDEXED BY run_skill WHERE skill = ?1 GROUP BY revision \
               ORDER BY max(n) DESC";
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_map([skill], |row: &Row<'_>| {
        damage::read(row, "run", 0, || {
            Ok(UsedRevision {
                revision: row.get(0)?,
                runs: row::natural(row, 1)?,
                first: row::instant(row, 2)?,
                last: row::instant(row, 3)?,
            })
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

//! Deletion of old rows.
//!
//! Not here: files next to the database, and shrinking the file. Free pages are used again.

use deft_model::RunId;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::row::{self, micros};
use crate::{Prune, PruneResult};

/// SQL: finished runs older than `?1`. A run with a queued notice is kept.
const OLD: &str = "FROM run WHERE status = 'done' AND finished_at < ?1 AND NOT EXISTS \
     (SELECT 1 FROM outbox WHERE outbox.run = run.n AND outbox.status = 'queued')";

/// SQL: the run `?1`, under the same conditions.
const DELETABLE: &str = "SELECT n FROM run WHERE id = ?1 AND status = 'done' AND NOT EXISTS \
     (SELECT 1 FROM outbox WHERE outbox.run = run.n AND outbox.status = 'queued')";

/// Counts the rows that [`prune`] would delete.
pub(super) fn count(db: &Connection, request: &Prune) -> Result<PruneResult, Fault> {
    let before = micros(request.before);
    let sql = format!("SELECT id {OLD} ORDER BY n");
    let mut runs = db.prepare_cached(&sql)?;
    let runs = runs.query_map([before], |row| row::run_id(row, 0))?;
    let number = |sql: &str, at: i64| -> Result<u64, Fault> {
        Ok(db.query_row(sql, [at], |row| row::natural(row, 0))?)
    };
    let events = format!("SELECT count(*) FROM event WHERE run IN (SELECT n {OLD})");
    let results = "SELECT count(*) FROM cache WHERE expires_at <= ?1";
    Ok(PruneResult {
        runs: runs.collect::<Result<_, _>>()?,
        events: number(&events, before)?,
        results: number(results, micros(request.now))?,
    })
}

/// Deletes old runs and expired results.
pub(super) fn prune(db: &Connection, request: &Prune) -> Result<PruneResult, Fault> {
    let deleted = delete(db, find_runs(db, request)?)?;
    let sql = "DELETE FROM cache WHERE expires_at <= ?1";
    let results = db.prepare_cached(sql)?.execute([micros(request.now)])?;
    Ok(PruneResult {
        results: results as u64,
        ..deleted
    })
}

/// Deletes those of the runs that may be deleted.
pub(super) fn prune_runs(db: &Connection, runs: &[RunId]) -> Result<PruneResult, Fault> {
    let mut deletable = db.prepare_cached(DELETABLE)?;
    let mut found = Vec::new();
    for run in runs {
        let n = deletable.query_row([run.as_str()], |row| row.get(0));
        found.extend(n.optional()?.map(|n| (n, run.clone())));
    }
    delete(db, found)
}

/// Deletes runs. Foreign keys delete their questions and notices.
fn delete(db: &Connection, found: Vec<(i64, RunId)>) -> Result<PruneResult, Fault> {
    let mut events = 0;
    for (n, _) in &found {
        // The tombstone is returned by a later admission with the same key or slot.
        db.prepare_cached(
            "INSERT INTO spent SELECT id, skill, revision, tier, agent_id, cause, slot, slot_until, \
             slot_count, key, \
             parent, outcome, inputs, admitted_at, started_at, finished_at, finish_ordinal FROM run \
             WHERE n = ?1 AND (key IS NOT NULL OR slot IS NOT NULL)",
        )?
        .execute([n])?;
        // A trigger empties the newest event of all instead of deleting it, and `execute` would not count
        // it.
        let sql = "SELECT count(*) FROM event WHERE run = ?1";
        events += db
            .prepare_cached(sql)?
            .query_row([n], |row| row::natural(row, 0))?;
        let sql = "DELETE FROM event WHERE run = ?1";
        db.prepare_cached(sql)?.execute([n])?;
        let sql = "DELETE FROM run WHERE n = ?1";
        db.prepare_cached(sql)?.execute([n])?;
    }
    Ok(PruneResult {
        runs: found.into_iter().map(|(_, id)| id).collect(),
        events,
        results: 0,
    })
}

fn find_runs(db: &Connection, request: &Prune) -> Result<Vec<(i64, RunId)>, Fault> {
    let sql = format!("SELECT n, id {OLD} ORDER BY n LIMIT ?2");
    let mut found = db.prepare_cached(&sql)?;
    let found = found.query_map(params![micros(request.before), request.limit], |row| {
        Ok((row.get(0)?, row::run_id(row, 1)?))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

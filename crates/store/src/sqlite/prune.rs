//! Deletion of old rows.
//!
//! Not here: files next to the database, and shrinking the file. Free pages are used again.

use deft_model::RunId;
use rusqlite::{Connection, params};

use super::fault::Fault;
use super::row::{self, micros};
use crate::{Prune, PruneResult};

/// SQL: finished runs older than `?1`. A run with a queued notice is kept.
const OLD: &str = "FROM run WHERE status = 'done' AND finished_at < ?1 AND NOT EXISTS \
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

/// Deletes old runs and expired results. Foreign keys delete their questions and notices.
pub(super) fn prune(db: &Connection, request: &Prune) -> Result<PruneResult, Fault> {
    let found = find_runs(db, request)?;
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
    let sql = "DELETE FROM cache WHERE expires_at <= ?1";
    let results = db.prepare_cached(sql)?.execute([micros(request.now)])?;
    Ok(PruneResult {
        runs: found.into_iter().map(|(_, id)| id).collect(),
        events,
        results: results as u64,
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

//! Deleting what is old.
//!
//! Not here: files beside the database, and giving space back to the disk: pages that become free
//! are used again.

use deft_model::RunId;
use rusqlite::{Connection, params};

use super::fault::Fault;
use super::row::{self, micros};
use crate::{Prune, PruneResult};

/// Runs that are over and old, and the rows of other tables that go with them.
/// A run with a queued notice is kept.
const OLD: &str = "FROM run WHERE status = 'done' AND finished_at < ?1 AND NOT EXISTS \
     (SELECT 1 FROM outbox WHERE outbox.run = run.n AND outbox.status = 'queued')";

/// The rows to delete.
pub(super) fn count(db: &Connection, wish: &Prune) -> Result<PruneResult, Fault> {
    let before = micros(wish.before);
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
        results: number(results, micros(wish.now))?,
    })
}

/// Deletes it. Questions and notices go with their runs by reference.
pub(super) fn prune(db: &Connection, wish: &Prune) -> Result<PruneResult, Fault> {
    let found = found(db, wish)?;
    let mut events = 0;
    for (n, _) in &found {
        // A later admission with the same key or slot gets this row.
        db.prepare_cached(
            "INSERT INTO spent SELECT id, skill, revision, tier, agent_id, cause, slot, slot_until, \
             slot_count, key, \
             parent, outcome, inputs, admitted_at, started_at, finished_at, finish_ordinal FROM run \
             WHERE n = ?1 AND (key IS NOT NULL OR slot IS NOT NULL)",
        )?
        .execute([n])?;
        // The newest event of all leaves a row behind, which does not count as deleted there.
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
    let results = db.prepare_cached(sql)?.execute([micros(wish.now)])?;
    Ok(PruneResult {
        runs: found.into_iter().map(|(_, id)| id).collect(),
        events,
        results: results as u64,
    })
}

fn found(db: &Connection, wish: &Prune) -> Result<Vec<(i64, RunId)>, Fault> {
    let sql = format!("SELECT n, id {OLD} ORDER BY n LIMIT ?2");
    let mut found = db.prepare_cached(&sql)?;
    let found = found.query_map(params![micros(wish.before), wish.limit], |row| {
        Ok((row.get(0)?, row::run_id(row, 1)?))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

//! Leases: claim, renew, release.
//!
//! Queries use only the partial indexes of active runs, so that finished runs cost nothing. Limits are
//! checked here and in `queue.rs`, which chooses the run, in the transaction that grants the lease.

use deft_model::{RunId, RunStatus};
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::fault::Fault;
use super::row::{self, micros, run_columns};
use super::{append, damage, ledger, limits, queue};
use crate::{Claim, ClaimedRun, Lease, RunRow};

pub(super) fn claim(db: &Connection, request: &Claim) -> Result<Option<ClaimedRun>, Fault> {
    if !room_in_all(db, request.global_limit)? {
        return Ok(None);
    }
    let found = match &request.only {
        Some(id) => queue::check_candidate(db, id, request.now)?,
        None => queue::oldest(db, request.now)?,
    };
    found.map(|n| lease(db, n, request)).transpose()
}

fn lease(db: &Connection, n: i64, request: &Claim) -> Result<ClaimedRun, Fault> {
    let sql = concat!("SELECT ", run_columns!(), " FROM run WHERE n = ?1");
    let (mut run, n, token) = db.prepare_cached(sql)?.query_row([n], row::run_and_token)?;
    let now = row::round_instant(request.now);
    let waited = run.status == RunStatus::Waiting;
    run.status = RunStatus::Running;
    run.started_at = run.started_at.or(Some(now));
    run.wake_at = None;
    run.waiting_for = None;
    run.owner = Some(request.owner.clone());
    db.prepare_cached(
        "UPDATE run SET status = 'running', owner = ?2, token = ?3, lease_until = ?4, \
         started_at = coalesce(started_at, ?5), wake_at = NULL, waiting_for = NULL, \
         waiting_kind = NULL, nudged_at = NULL WHERE n = ?1",
    )?
    .execute(params![
        n,
        request.owner,
        token + 1,
        micros(request.until),
        micros(now)
    ])?;
    Ok(ClaimedRun {
        lease: Lease {
            run: run.id.clone(),
            owner: request.owner.clone(),
            token: (token + 1).unsigned_abs(),
        },
        waited,
        events: append::events_of(db, n, &run.id, 0, -1)?,
        run,
    })
}

/// Returns a run by its row number.
pub(super) fn row(db: &Connection, n: i64) -> Result<RunRow, Fault> {
    let sql = concat!("SELECT ", run_columns!(), " FROM run WHERE n = ?1");
    Ok(db.prepare_cached(sql)?.query_row([n], row::run)?)
}

/// SQL: a skill is not held and the global limit has room.
macro_rules! room {
    ($skill:literal, $limit:literal) => {
        concat!(
            "NOT EXISTS (SELECT 1 FROM hold WHERE skill = ",
            $skill,
            ") AND (",
            $limit,
            " IS NULL OR (SELECT count(*) FROM run INDEXED BY run_active \
             WHERE status = 'running' AND turn IS NOT NULL) < ",
            $limit,
            ")"
        )
    };
}

pub(super) use room;

/// Whether a skill is not held and the global limit has room, in one query.
pub(super) fn room_for(db: &Connection, skill: &str, limit: Option<u32>) -> Result<bool, Fault> {
    let sql = concat!("SELECT ", room!("?1", "?2"));
    let mut room = db.prepare_cached(sql)?;
    Ok(room.query_row(params![skill, limit], |row| row.get(0))?)
}

pub(super) fn room_in_all(db: &Connection, limit: Option<u32>) -> Result<bool, Fault> {
    let Some(limit) = limit else {
        return Ok(true);
    };
    let sql = "SELECT count(*) FROM run INDEXED BY run_active \
               WHERE status = 'running' AND turn IS NOT NULL";
    let busy: u32 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(busy < limit)
}

pub(super) fn room_in_skill(
    db: &Connection,
    skill: &str,
    limit: Option<u32>,
) -> Result<bool, Fault> {
    limit.map_or(Ok(true), |limit| Ok(limits::busy(db, skill)? < limit))
}

pub(super) fn renew(db: &Connection, owner: &str, until: Timestamp) -> Result<Vec<RunId>, Fault> {
    db.prepare_cached(
        "UPDATE run INDEXED BY run_active SET lease_until = ?2 \
         WHERE status = 'running' AND turn IS NOT NULL AND owner = ?1",
    )?
    .execute(params![owner, micros(until)])?;
    let sql = "SELECT id FROM run INDEXED BY run_active \
               WHERE status = 'running' AND turn IS NOT NULL AND owner = ?1 \
               AND cancel_by IS NOT NULL ORDER BY n";
    let mut wanted = db.prepare_cached(sql)?;
    let wanted = wanted.query_map([owner], |row| row::run_id(row, 0))?;
    Ok(wanted.collect::<Result<_, _>>()?)
}

pub(super) fn release(
    db: &Connection,
    dead: &[String],
    now: Timestamp,
) -> Result<Vec<RunId>, Fault> {
    let lost = lost_runs(db, dead, micros(now))?;
    let sql = "UPDATE run SET status = 'queued', owner = NULL, lease_until = NULL WHERE n = ?1";
    let mut free = db.prepare_cached(sql)?;
    for (n, _) in &lost {
        free.execute([n])?;
        ledger::spend_estimates(db, *n, now)?;
    }
    Ok(lost.into_iter().map(|(_, id)| id).collect())
}

fn lost_runs(db: &Connection, dead: &[String], now: i64) -> Result<Vec<(i64, RunId)>, Fault> {
    let sql = "SELECT n, id, owner, lease_until FROM run INDEXED BY run_active \
               WHERE status = 'running' AND turn IS NOT NULL ORDER BY n";
    let mut running = db.prepare_cached(sql)?;
    let mut running = running.query([])?;
    let mut lost = Vec::new();
    while let Some(run) = running.next()? {
        let (owner, until): (String, i64) =
            damage::read(run, "run", 1, || Ok((run.get(2)?, run.get(3)?)))?;
        if until < now || dead.contains(&owner) {
            lost.push((run.get(0)?, row::run_id(run, 1)?));
        }
    }
    Ok(lost)
}

//! Leases: claim, renew, release.
//!
//! Queries use only the partial indexes of active runs, so that finished runs cost nothing. Limits are
//! checked here, in the transaction that grants the lease.

use std::collections::HashMap;

use deft_model::{RunId, RunStatus};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::Fault;
use super::row::{self, micros, run_columns};
use super::{append, damage, ledger};
use crate::{Claim, ClaimedRun, Lease, RunRow};

pub(super) fn claim(db: &Connection, request: &Claim) -> Result<Option<ClaimedRun>, Fault> {
    if !room_in_all(db, request.global_limit)? {
        return Ok(None);
    }
    let found = match &request.only {
        Some(id) => claim_candidate(db, id, request.now)?,
        None => oldest(db, request.now)?,
    };
    found.map(|n| lease(db, n, request)).transpose()
}

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

fn claim_candidate(db: &Connection, id: &RunId, now: Timestamp) -> Result<Option<i64>, Fault> {
    let mut found = db.prepare_cached(candidate!(
        "WHERE id = ?1 AND (status = 'queued' OR status = 'waiting' AND wake_at <= ?2)"
    ))?;
    let found = found.query_row(params![id.as_str(), micros(now)], Candidate::read);
    let Some(run) = found.optional()? else {
        return Ok(None);
    };
    Ok(Counts::default().admit(db, &run)?.then_some(run.n))
}

/// Returns the oldest run that is due and within its limits.
fn oldest(db: &Connection, now: Timestamp) -> Result<Option<i64>, Fault> {
    let mut counts = Counts::default();
    let mut queued = db.prepare_cached(candidate!(
        "INDEXED BY run_queued WHERE status = 'queued' ORDER BY admitted_at, id"
    ))?;
    let queued = first(db, &mut counts, queued.query_map([], Candidate::read)?)?;
    let mut awake = db.prepare_cached(candidate!(
        "INDEXED BY run_asleep WHERE status = 'waiting' AND wake_at <= ?1 ORDER BY admitted_at, id"
    ))?;
    let awake = first(
        db,
        &mut counts,
        awake.query_map([micros(now)], Candidate::read)?,
    )?;
    let oldest = match (&queued, &awake) {
        (Some(queued), Some(awake)) if awake.age() < queued.age() => Some(awake.n),
        (Some(run), _) | (None, Some(run)) => Some(run.n),
        (None, None) => None,
    };
    Ok(oldest)
}

fn first(
    db: &Connection,
    counts: &mut Counts,
    candidates: impl Iterator<Item = rusqlite::Result<Candidate>>,
) -> Result<Option<Candidate>, Fault> {
    for run in candidates {
        let run = run?;
        if counts.admit(db, &run)? {
            return Ok(Some(run));
        }
    }
    Ok(None)
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
    limit.map_or(Ok(true), |limit| Ok(busy(db, skill)? < limit))
}

fn busy(db: &Connection, skill: &str) -> Result<u32, Fault> {
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

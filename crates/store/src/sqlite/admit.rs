//! Admission: keys, slots, and the overlap rule.
//!
//! Not here: later claims (`claim.rs`) and the writes of batches (`append.rs`).

use deft_model::{Choice, Outcome, Overlap, RunId, RunStatus};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::fault::{Fault, is_conflict};
use super::row::{self, maybe, micros, run_columns};
use super::{append, claim, finish, skills};
use crate::{
    Admission, AdmissionClaim, AdmissionResult, Error, Lease, NewEvent, RunRow, Write, backend,
};

pub(super) fn admit(db: &Connection, run: &Admission) -> Result<AdmissionResult, Fault> {
    if let Some(request) = &run.claim
        && takes_slot(db, run, request)?
    {
        return new_run(run, 1).insert_driven(db, run, request, Vec::new());
    }
    if let Some(twin) = twin(db, run)? {
        return Ok(AdmissionResult::Existing(twin));
    }
    if let Some(step) = &run.step
        && !skills::step(db, step)?
    {
        return Ok(AdmissionResult::Stale);
    }
    append::check_questions(db, &run.writes)?;
    if let Some(request) = &run.claim {
        append::check_questions(db, &request.batch.writes)?;
    }
    let others = others(db, run)?;
    if let (Overlap::Skip, Some((_, first))) = (run.overlap, others.first()) {
        if let Some(step) = &run.step {
            skills::close_if_last(db, step)?;
        }
        return skip(db, run, first);
    }
    let by = backend::newer_run(&run.run);
    for (_, id) in &others {
        finish::stop(db, id, &by, run.at, &run.closing)?;
    }
    let cancelled = others.into_iter().map(|(_, id)| id).collect();
    // `others` was queried and is empty here, so this run is the first.
    let turn = match run.overlap {
        Overlap::Skip => 1,
        Overlap::CancelOther | Overlap::Queue | Overlap::Allow => next_turn(db, &run.skill)?,
    };
    let new = new_run(run, turn);
    match &run.claim {
        Some(request) if new.admits(db, request)? => new.insert_driven(db, run, request, cancelled),
        Some(_) | None => new.insert_queued(db, &run.aside, &run.writes, cancelled),
    }
}

/// SQL: no run of skill `?4` has this status. One query per status, because for a list of three `SQLite` would
/// build a temporary tree every time.
macro_rules! none {
    ($status:literal) => {
        concat!(
            "NOT EXISTS (SELECT 1 FROM run INDEXED BY run_active WHERE status = '",
            $status,
            "' AND skill = ?4 AND turn IS NOT NULL)"
        )
    };
}

/// Fast path for nearly every slot: moves the skill past the slot if nothing prevents its run from starting.
/// One statement checks all conditions. If it returns `false`, nothing was written, and the caller checks
/// them one by one to find the reason.
fn takes_slot(db: &Connection, run: &Admission, request: &AdmissionClaim) -> Result<bool, Fault> {
    let (Some(step), Some(slot)) = (&run.step, run.slot) else {
        return Ok(false);
    };
    let alone = run.overlap == Overlap::Skip && run.skill_limit.is_none_or(|limit| limit > 0);
    let mut asks = backend::questions(&request.batch.writes).chain(backend::questions(&run.writes));
    let asks = asks.next().is_some();
    if !alone || asks || run.key.is_some() || !step.passed.is_empty() {
        return Ok(false);
    }
    let sql = concat!(
        "UPDATE skill SET next_at = ?3 WHERE id = ?1 AND next_at = ?2 AND disabled IS NULL \
         AND backoff_until IS ?7 \
         AND NOT EXISTS (SELECT 1 FROM run WHERE skill = ?4 AND slot = ?5) \
         AND NOT EXISTS (SELECT 1 FROM spent WHERE skill = ?4 AND slot = ?5) \
         AND ",
        none!("queued"),
        " AND ",
        none!("running"),
        " AND ",
        none!("waiting"),
        " AND ",
        claim::room!("?4", "?6")
    );
    let moved = db.prepare_cached(sql)?.execute(params![
        step.id,
        micros(step.from),
        maybe(step.to),
        run.skill,
        micros(slot),
        request.global_limit,
        maybe(step.backoff_until),
    ])?;
    Ok(moved > 0)
}

/// Returns the run that was admitted earlier under the same key or for the same slot.
fn twin(db: &Connection, run: &Admission) -> Result<Option<RunRow>, Fault> {
    if let Some(key) = &run.key {
        let found = find_known(db, "key = ?1", params![key])?;
        if found.is_some() {
            return Ok(found);
        }
    }
    let Some(slot) = run.slot else {
        return Ok(None);
    };
    let values = params![run.skill, micros(slot)];
    // Nearly every slot is new, which one short query finds out.
    let sql = "SELECT 1 FROM run WHERE skill = ?1 AND slot = ?2 \
               UNION ALL SELECT 1 FROM spent WHERE skill = ?1 AND slot = ?2";
    if !db.prepare_cached(sql)?.exists(values)? {
        return Ok(None);
    }
    find_known(db, "skill = ?1 AND slot = ?2", values)
}

/// Returns a stored run, or the tombstone of a deleted one.
fn find_known(
    db: &Connection,
    which: &str,
    values: impl Params + Copy,
) -> Result<Option<RunRow>, Fault> {
    for (columns, table) in [(run_columns!(), "run"), (row::SPENT, "spent")] {
        let sql = format!("SELECT {columns} FROM {table} WHERE {which}");
        let found = db
            .prepare_cached(&sql)?
            .query_row(values, |row| row::run_from(row, table));
        if let Some(found) = found.optional()? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the active runs of the skill that its overlap rule applies to.
fn others(db: &Connection, run: &Admission) -> Result<Vec<(i64, RunId)>, Fault> {
    match run.overlap {
        Overlap::Allow | Overlap::Queue => return Ok(Vec::new()),
        Overlap::Skip | Overlap::CancelOther => {}
    }
    let sql = "SELECT n, id FROM run INDEXED BY run_active \
               WHERE status IN ('queued', 'running', 'waiting') AND skill = ?1 \
               AND turn IS NOT NULL ORDER BY turn";
    let mut active = db.prepare_cached(sql)?;
    let active = active.query_map([&run.skill], |row| Ok((row.get(0)?, row::run_id(row, 1)?)))?;
    Ok(active.collect::<Result<_, _>>()?)
}

fn skip(db: &Connection, run: &Admission, other: &RunId) -> Result<AdmissionResult, Fault> {
    let mut new = new_run(run, 0);
    let row = &mut new.row;
    row.status = RunStatus::Done;
    row.outcome = Some(Outcome::Skipped);
    row.error = Some(backend::in_the_way(other.as_str()));
    row.finished_at = Some(row.admitted_at);
    row.finish_ordinal = 1;
    new.turn = None;
    new.insert_queued(db, &[], &[], Vec::new())
}

/// A run that is not yet in the table.
struct NewRun {
    row: RunRow,
    limit: Option<u32>,
    in_turn: bool,
    turn: Option<i64>,
}

/// Returns the run as it will be queued, with its turn among the active runs of its skill.
fn new_run(run: &Admission, turn: i64) -> NewRun {
    let mut row = RunRow::queued_row(run);
    row.admitted_at = row::round_instant(row.admitted_at);
    row.slot = row.slot.map(row::round_instant);
    NewRun {
        row,
        limit: run.skill_limit,
        in_turn: run.overlap != Overlap::Allow,
        turn: Some(turn),
    }
}

/// Returns the turn after all active runs of a skill.
pub(super) fn next_turn(db: &Connection, skill: &str) -> Result<i64, Fault> {
    let sql = concat!(
        "SELECT 1 + max(",
        claim::turn_of!("max", "queued", "0"),
        ", ",
        claim::turn_of!("max", "running", "0"),
        ", ",
        claim::turn_of!("max", "waiting", "0"),
        ")"
    );
    Ok(db
        .prepare_cached(sql)?
        .query_row([skill], |row| row.get(0))?)
}

impl NewRun {
    fn admits(&self, db: &Connection, request: &AdmissionClaim) -> Result<bool, Fault> {
        let first = !self.in_turn || self.turn == Some(1);
        Ok(first
            && claim::room_for(db, &self.row.skill, request.global_limit)?
            && claim::room_in_skill(db, &self.row.skill, self.limit)?)
    }

    fn insert_queued(
        self,
        db: &Connection,
        aside: &[NewEvent],
        writes: &[Write],
        cancelled: Vec<RunId>,
    ) -> Result<AdmissionResult, Fault> {
        let n = self.insert(db, 0, None)?;
        append::add_events(db, n, aside)?;
        append::write_all(db, n, writes)?;
        Ok(AdmissionResult::New {
            run: self.row,
            lease: None,
            first_seq: None,
            cancelled,
        })
    }

    /// Inserts the run as running and writes its first batch.
    fn insert_driven(
        mut self,
        db: &Connection,
        run: &Admission,
        request: &AdmissionClaim,
        cancelled: Vec<RunId>,
    ) -> Result<AdmissionResult, Fault> {
        self.row.status = RunStatus::Running;
        self.row.owner = Some(request.owner.clone());
        self.row.started_at = Some(self.row.admitted_at);
        let n = self.insert(db, 1, Some(request.until))?;
        append::write_all(db, n, &run.writes)?;
        let (first_seq, _) = append::apply(db, n, &request.batch)?;
        let run = match &request.batch.then {
            crate::RunState::Continue => self.row,
            crate::RunState::Park { .. } | crate::RunState::Finish(_) => claim::row(db, n)?,
        };
        let lease = Some(Lease {
            run: run.id.clone(),
            owner: request.owner.clone(),
            token: 1,
        });
        let first_seq = (!request.batch.events.is_empty()).then_some(first_seq);
        Ok(AdmissionResult::New {
            run,
            lease,
            first_seq,
            cancelled,
        })
    }

    fn insert(&self, db: &Connection, token: i64, until: Option<Timestamp>) -> Result<i64, Fault> {
        let row = &self.row;
        let mut insert = db.prepare_cached(
            "INSERT INTO run (n, id, skill, revision, tier, agent_id, cause, slot, key, parent, \
             status, outcome, owner, token, lease_until, turn, in_turn, skill_limit, \
             admitted_at, started_at, finished_at, finish_ordinal, inputs, error) \
             VALUES (max(?, (SELECT coalesce(max(n), 0) + 1 FROM run)), \
             ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let inserted = insert.insert(params![
            row::least_number(row.admitted_at),
            row.id.as_str(),
            row.skill,
            row.revision,
            row.tier.word(),
            row.agent_id,
            row.cause.as_str(),
            maybe(row.slot),
            row.key,
            row.parent.as_ref().map(RunId::as_str),
            row.status.word(),
            row.outcome.map(Choice::word),
            row.owner,
            token,
            maybe(until),
            self.turn,
            self.in_turn,
            self.limit,
            micros(row.admitted_at),
            maybe(row.started_at),
            maybe(row.finished_at),
            row.finish_ordinal,
            row.inputs,
            row.error,
        ]);
        // Key and slot were checked in this transaction, so only the id can conflict.
        inserted.map_err(|error| {
            if is_conflict(&error) {
                let id = row.id.to_string();
                return Fault::Store(Error::Taken { what: "a run", id });
            }
            Fault::Sql(error)
        })
    }
}

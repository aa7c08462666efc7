//! Ends of runs: finish and cancel; and the way back, reopen.

use deft_model::{Choice, Outcome, RunId, RunStatus};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::row::{self, micros, run_columns};
use super::{admit, append, claim, damage, ledger};
use crate::{CancelState, Error, Finish, NewEvent, RunRow, backend};

/// Ends a run and returns its usage. The change of its skill must have been stored before.
pub(super) fn finish(db: &Connection, n: i64, finish: &Finish) -> Result<Option<String>, Fault> {
    let loose = has_loose_ends(db, n)?;
    let usage = if loose { ledger::of_run(db, n)? } else { None };
    db.prepare_cached(
        "UPDATE run SET status = 'done', outcome = ?2, outputs = ?3, error = ?4, usage = ?5, \
         finished_at = ?6, finish_ordinal = finish_ordinal + 1, turn = NULL, owner = NULL, \
         lease_until = NULL, nudged_at = NULL, wake_at = NULL, waiting_for = NULL, \
         waiting_kind = NULL WHERE n = ?1",
    )?
    .execute(params![
        n,
        finish.outcome.word(),
        finish.outputs,
        finish.error,
        usage,
        micros(finish.at),
    ])?;
    if loose {
        close_questions(db, n, finish.at)?;
        ledger::release(db, n)?;
    }
    Ok(usage)
}

/// Whether a run has asked a person or made a model call. Few have, and one query costs less than several
/// updates that change no rows.
fn has_loose_ends(db: &Connection, n: i64) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM counted WHERE run = ?1) \
               OR EXISTS (SELECT 1 FROM reservation WHERE run = ?1) \
               OR EXISTS (SELECT 1 FROM approval INDEXED BY approval_open \
               WHERE run = ?1 AND decided_at IS NULL AND closed_at IS NULL)";
    Ok(db.prepare_cached(sql)?.query_row([n], |row| row.get(0))?)
}

fn close_questions(db: &Connection, n: i64, at: Timestamp) -> Result<(), Fault> {
    let sql = "UPDATE approval INDEXED BY approval_open SET closed_at = ?2 \
               WHERE run = ?1 AND decided_at IS NULL AND closed_at IS NULL";
    db.prepare_cached(sql)?.execute(params![n, micros(at)])?;
    Ok(())
}

pub(super) fn cancel(
    db: &Connection,
    run: &RunId,
    by: &str,
    at: Timestamp,
    closing: &[NewEvent],
) -> Result<CancelState, Fault> {
    let Some((n, before)) = stop(db, run, by, at, closing)? else {
        return Ok(CancelState::Unknown);
    };
    let row = claim::row(db, n)?;
    Ok(match before {
        RunStatus::Queued | RunStatus::Waiting => CancelState::Done(row),
        RunStatus::Running => CancelState::Asked(row),
        RunStatus::Done => CancelState::Already(row),
    })
}

/// Ends a run without a driver, or stores a cancel request for the driver. Returns the number of the run and
/// its previous status.
pub(super) fn stop(
    db: &Connection,
    run: &RunId,
    by: &str,
    at: Timestamp,
    closing: &[NewEvent],
) -> Result<Option<(i64, RunStatus)>, Fault> {
    let sql = "SELECT n, status, cancel_by FROM run WHERE id = ?1";
    let found = db.prepare_cached(sql)?.query_row([run.as_str()], |row| {
        damage::read_by(row, "run", run, || {
            Ok((row.get(0)?, row::word(row, 1)?, row.get(2)?))
        })
    });
    let Some((n, status, before)) = found.optional()? else {
        return Ok(None);
    };
    let by = Option::<String>::unwrap_or(before, by.to_owned());
    match status {
        RunStatus::Done => {}
        RunStatus::Running => {
            let sql = "UPDATE run SET cancel_by = ?2, \
                       nudged_at = min(coalesce(nudged_at, ?3), ?3) WHERE n = ?1";
            db.prepare_cached(sql)?
                .execute(params![n, by, micros(at)])?;
        }
        RunStatus::Queued | RunStatus::Waiting => {
            let sql = "UPDATE run SET cancel_by = ?2 WHERE n = ?1";
            db.prepare_cached(sql)?.execute(params![n, by])?;
            append::add_events(db, n, closing)?;
            finish(db, n, &cancelled_finish(&by, at))?;
        }
    }
    Ok(Some((n, status)))
}

fn cancelled_finish(by: &str, at: Timestamp) -> Finish {
    Finish {
        outcome: Outcome::Cancelled,
        outputs: None,
        error: Some(backend::cancelled_error(by)),
        aftermath: None,
        at,
    }
}

pub(super) fn reopen(
    db: &Connection,
    id: &RunId,
    event: &NewEvent,
) -> Result<Option<RunRow>, Fault> {
    let sql = concat!("SELECT ", run_columns!(), " FROM run WHERE id = ?1");
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_row([id.as_str()], row::run_and_token);
    let Some((run, n, _)) = found.optional()? else {
        return Ok(None);
    };
    if run.status != RunStatus::Done {
        return Err(Fault::Store(Error::NotDone {
            run: id.to_string(),
            status: run.status,
        }));
    }
    let turn = admit::next_turn(db, &run.skill)?;
    db.prepare_cached(
        "UPDATE run SET status = 'queued', outcome = NULL, outputs = NULL, error = NULL, \
         usage = NULL, finished_at = NULL, cancel_by = NULL, turn = ?2 WHERE n = ?1",
    )?
    .execute(params![n, turn])?;
    append::add_events(db, n, std::slice::from_ref(event))?;
    claim::row(db, n).map(Some)
}

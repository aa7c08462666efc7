//! Questions, answers and grants.

use deft_model::{Choice, RunId, RunStatus, WaitKind};
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::damage;
use super::fault::Fault;
use super::row::{self, APPROVAL, micros};
use crate::{ApprovalRow, Decision, DecisionResult, Grant};

pub(super) fn decide(
    db: &Connection,
    approval: &str,
    decision: &Decision,
    standing: Option<&Grant>,
) -> Result<DecisionResult, Fault> {
    let sql = format!(
        "SELECT {APPROVAL}, closed_at, run.n, run.status FROM approval \
         JOIN run ON run.n = approval.run WHERE approval.id = ?1"
    );
    let found = db.prepare_cached(&sql)?.query_row([approval], |row| {
        let closed: Option<i64> = row.get(12)?;
        Ok((
            row::approval(row)?,
            closed.is_some(),
            row.get(13)?,
            damage::read(row, "run", 9, || row::word(row, 14))?,
        ))
    });
    let Some((mut asked, closed, n, status)) = found.optional()? else {
        return Ok(DecisionResult::Unknown);
    };
    if closed || asked.decision.is_some() {
        return Ok(DecisionResult::Already(asked));
    }
    let at = micros(decision.at);
    let sql = "UPDATE approval SET answer = ?2, decided_by = ?3, decided_at = ?4 WHERE id = ?1";
    db.prepare_cached(sql)?
        .execute(params![approval, decision.answer, decision.by, at])?;
    wake(db, n, status, at)?;
    standing.map_or(Ok(()), |standing| grant(db, standing))?;
    asked.decision = Some(Decision {
        at: row::round_instant(decision.at),
        ..decision.clone()
    });
    Ok(DecisionResult::Accepted(asked))
}

/// Makes a parked run due now, or a running one due as soon as it parks.
fn wake(db: &Connection, n: i64, status: RunStatus, at: i64) -> Result<(), Fault> {
    let sql = match status {
        RunStatus::Waiting => {
            "UPDATE run SET wake_at = min(coalesce(wake_at, ?2), ?2) WHERE n = ?1"
        }
        RunStatus::Running => {
            "UPDATE run SET nudged_at = min(coalesce(nudged_at, ?2), ?2) WHERE n = ?1"
        }
        RunStatus::Queued | RunStatus::Done => return Ok(()),
    };
    db.prepare_cached(sql)?.execute(params![n, at])?;
    Ok(())
}

/// Makes parked runs due that wait for `kind`; with `run`, only that run. Returns how many.
pub(super) fn wake_all(
    db: &Connection,
    kind: WaitKind,
    run: Option<&RunId>,
    at: jiff::Timestamp,
) -> Result<u64, Fault> {
    let sql = "UPDATE run SET wake_at = min(coalesce(wake_at, ?3), ?3) \
               WHERE status = 'waiting' AND turn IS NOT NULL AND waiting_kind = ?1 \
               AND id = coalesce(?2, id)";
    let woken = db.prepare_cached(sql)?.execute(params![
        kind.word(),
        run.map(RunId::as_str),
        micros(at)
    ])?;
    Ok(woken as u64)
}

pub(super) fn approvals(db: &Connection, all: bool) -> Result<Vec<ApprovalRow>, Fault> {
    let which = if all {
        "approval CROSS JOIN run ON run.n = approval.run"
    } else {
        "approval INDEXED BY approval_open CROSS JOIN run ON run.n = approval.run \
         WHERE decided_at IS NULL AND closed_at IS NULL"
    };
    let sql = format!("SELECT {APPROVAL} FROM {which} ORDER BY approval.n");
    let mut approvals = db.prepare_cached(&sql)?;
    let approvals = approvals.query_map([], row::approval)?;
    Ok(approvals.collect::<Result<_, _>>()?)
}

pub(super) fn approval(db: &Connection, id: &str) -> Result<Option<ApprovalRow>, Fault> {
    let sql = format!(
        "SELECT {APPROVAL} FROM approval JOIN run ON run.n = approval.run WHERE approval.id = ?1"
    );
    let mut found = db.prepare_cached(&sql)?;
    Ok(found.query_row([id], row::approval).optional()?)
}

pub(super) fn grant(db: &Connection, grant: &Grant) -> Result<(), Fault> {
    let sql = "INSERT INTO grant_ \
               (id, skill, revision, operation, describes, given_by, given_at, pattern) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
    db.prepare_cached(sql)?.execute(params![
        grant.id,
        grant.skill,
        grant.revision,
        grant.operation,
        grant.describes,
        grant.by,
        micros(grant.at),
        grant.pattern,
    ])?;
    Ok(())
}

pub(super) fn revoke(db: &Connection, grant: &str) -> Result<bool, Fault> {
    let sql = "DELETE FROM grant_ WHERE id = ?1";
    Ok(db.prepare_cached(sql)?.execute([grant])? > 0)
}

/// Returns the grants of one skill, or all.
pub(super) fn grants(db: &Connection, skill: Option<&str>) -> Result<Vec<Grant>, Fault> {
    let which = if skill.is_some() {
        "WHERE skill = ?1"
    } else {
        ""
    };
    let sql = format!(
        "SELECT id, skill, revision, operation, describes, given_by, given_at, pattern \
         FROM grant_ {which} ORDER BY n"
    );
    let mut grants = db.prepare_cached(&sql)?;
    let grants = grants.query_map(params_from_iter(skill), |row| {
        damage::read(row, "grant_", 0, || {
            Ok(Grant {
                id: row.get(0)?,
                skill: row.get(1)?,
                revision: row.get(2)?,
                operation: row.get(3)?,
                describes: row.get(4)?,
                by: row.get(5)?,
                at: row::instant(row, 6)?,
                pattern: row.get(7)?,
            })
        })
    })?;
    Ok(grants.collect::<Result<_, _>>()?)
}

//! Conversion of values from and to columns. Not here: their meaning.

use deft_model::{Choice, RunId};
use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Result, Row};

use super::damage;
use crate::{ApprovalRow, Decision, NewApproval, RunRow, StoredEvent, WaitReason};

/// The columns that [`run`] reads, followed by two that only the store uses.
macro_rules! run_columns {
    () => {
        "id, skill, revision, tier, agent_id, cause, slot, key, parent, status, outcome, inputs, \
         outputs, error, usage, admitted_at, started_at, finished_at, wake_at, waiting_for, \
         cancel_by, owner, finish_ordinal, slot_until, slot_count, waiting_kind, n, token"
    };
}

pub(super) use run_columns;

/// The same columns of the tombstone of a deleted run, as far as [`run`] reads them.
pub(super) const SPENT: &str = "id, skill, revision, tier, agent_id, cause, slot, key, parent, \
     'done', outcome, inputs, NULL, NULL, NULL, admitted_at, started_at, finished_at, NULL, NULL, \
     NULL, NULL, finish_ordinal, slot_until, slot_count, NULL";

/// Returns an instant as stored: microseconds since the epoch.
pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// Like [`micros`], for an optional instant.
pub(super) fn maybe(at: Option<Timestamp>) -> Option<i64> {
    at.map(micros)
}

/// Rounds an instant to stored precision, so that rows are equal before and after storing.
pub(super) fn round_instant(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(micros(at)).unwrap_or(at)
}

/// Returns the lowest number that a run admitted at this instant can have.
pub(super) fn least_number(admitted_at: Timestamp) -> i64 {
    admitted_at.as_millisecond()
}

/// Returns a number as stored; numbers above `i64::MAX` are capped.
pub(super) fn to_signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn run(row: &Row<'_>) -> Result<RunRow> {
    run_from(row, "run")
}

/// Reads the columns of a run, from its own table or from that of tombstones.
pub(super) fn run_from(row: &Row<'_>, table: &'static str) -> Result<RunRow> {
    damage::read(row, table, 0, || {
        Ok(RunRow {
            id: run_id(row, 0)?,
            skill: row.get(1)?,
            revision: row.get(2)?,
            tier: word(row, 3)?,
            agent_id: row.get(4)?,
            cause: row.get::<_, String>(5)?.into(),
            slot: maybe_instant(row, 6)?,
            key: row.get(7)?,
            parent: row.get::<_, Option<String>>(8)?.map(RunId::new),
            status: word(row, 9)?,
            outcome: maybe_word(row, 10)?,
            inputs: row.get(11)?,
            outputs: row.get(12)?,
            error: row.get(13)?,
            usage: row.get(14)?,
            admitted_at: instant(row, 15)?,
            started_at: maybe_instant(row, 16)?,
            finished_at: maybe_instant(row, 17)?,
            wake_at: maybe_instant(row, 18)?,
            waiting_for: wait_reason(row)?,
            cancel_by: row.get(20)?,
            owner: row.get(21)?,
            finish_ordinal: row.get(22)?,
            slot_until: maybe_instant(row, 23)?,
            slot_count: natural(row, 24)?,
        })
    })
}

fn wait_reason(row: &Row<'_>) -> Result<Option<WaitReason>> {
    let Some(text) = row.get(19)? else {
        return Ok(None);
    };
    let kind = word(row, 25)?;
    Ok(Some(WaitReason { kind, text }))
}

/// Reads a run with its number and its token.
pub(super) fn run_and_token(row: &Row<'_>) -> Result<(RunRow, i64, i64)> {
    Ok((run(row)?, row.get(26)?, row.get(27)?))
}

/// Reads `seq, at, kind, body` of an event of a known run.
pub(super) fn event(row: &Row<'_>, run: RunId) -> Result<StoredEvent> {
    damage::read(row, "event", 0, || {
        Ok(StoredEvent {
            seq: natural(row, 0)?,
            run,
            at: instant(row, 1)?,
            kind: row.get(2)?,
            body: row.get(3)?,
        })
    })
}

/// The columns that [`approval`] reads, of `approval` joined with `run`.
pub(super) const APPROVAL: &str = "approval.id, path, message, options, operation, asked_at, \
     answer, decided_by, decided_at, run.id, run.skill, run.revision";

pub(super) fn approval(row: &Row<'_>) -> Result<ApprovalRow> {
    damage::read(row, "approval", 0, || {
        Ok(ApprovalRow {
            asked: NewApproval {
                id: row.get(0)?,
                path: row.get(1)?,
                message: row.get(2)?,
                options: row.get(3)?,
                operation: row.get(4)?,
                at: instant(row, 5)?,
            },
            decision: decision(row)?,
            run: run_id(row, 9)?,
            skill: row.get(10)?,
            revision: row.get(11)?,
        })
    })
}

fn decision(row: &Row<'_>) -> Result<Option<Decision>> {
    let Some(answer) = row.get(6)? else {
        return Ok(None);
    };
    Ok(Some(Decision {
        answer,
        by: row.get(7)?,
        at: instant(row, 8)?,
    }))
}

/// Reads a number that is never negative.
pub(super) fn natural(row: &Row<'_>, column: usize) -> Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

pub(super) fn run_id(row: &Row<'_>, column: usize) -> Result<RunId> {
    Ok(RunId::new(row.get::<_, String>(column)?))
}

pub(super) fn instant(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    let micros = row.get(column)?;
    Timestamp::from_microsecond(micros)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, micros))
}

pub(super) fn maybe_instant(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>> {
    match row.get_ref(column)?.data_type() {
        Type::Null => Ok(None),
        Type::Integer | Type::Real | Type::Text | Type::Blob => instant(row, column).map(Some),
    }
}

pub(super) fn word<T: Choice>(row: &Row<'_>, column: usize) -> Result<T> {
    known_word(row, column, T::from_word)
}

/// Reads a word and converts it to the value it stands for.
pub(super) fn known_word<T>(
    row: &Row<'_>,
    column: usize,
    from_word: impl FnOnce(&str) -> Option<T>,
) -> Result<T> {
    let text: String = row.get(column)?;
    from_word(&text).ok_or_else(|| {
        let error = format!("unknown word `{text}`").into();
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error)
    })
}

/// Reads a list of strings that is stored as JSON.
pub(super) fn texts(row: &Row<'_>, column: usize) -> Result<Vec<String>> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

pub(super) fn maybe_word<T: Choice>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    match row.get_ref(column)?.data_type() {
        Type::Null => Ok(None),
        Type::Integer | Type::Real | Type::Text | Type::Blob => word(row, column).map(Some),
    }
}

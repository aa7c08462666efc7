//! Batches: events, the changes stored with them, and the next state of the run.
//!
//! The usual batch, a few events of a run that continues, writes only to the table of events and its index.

use deft_model::{Choice, RunId};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::fault::Fault;
use super::row::{self, maybe, micros, to_signed};
use super::{conversations, damage, finish, ledger, outbox, skills};
use crate::{
    AppendResult, Batch, Error, Lease, NewApproval, NewEvent, RunState, StoredEvent, WaitReason,
    Write, backend,
};

/// Maximum number of expired results that are deleted when one is written.
const SWEEP: u32 = 32;

pub(super) fn append(db: &Connection, lease: &Lease, batch: &Batch) -> Result<AppendResult, Fault> {
    let sql = "SELECT n, cancel_by FROM run WHERE id = ?1 AND token = ?2 AND status = 'running'";
    let mut held = db.prepare_cached(sql)?;
    let held = held.query_row(params![lease.run.as_str(), to_signed(lease.token)], |row| {
        damage::read_by(row, "run", &lease.run, || Ok((row.get(0)?, row.get(1)?)))
    });
    let Some((n, cancel_by)) = held.optional()? else {
        return Err(Error::fenced_error(&lease.run).into());
    };
    check_questions(db, &batch.writes)?;
    let (first_seq, usage) = apply(db, n, batch)?;
    Ok(AppendResult {
        first_seq,
        cancel_by,
        usage,
    })
}

/// Writes a batch under a valid lease. Returns the sequence number of its first event (0 without events) and
/// the usage of a run that ends.
pub(super) fn apply(
    db: &Connection,
    n: i64,
    batch: &Batch,
) -> Result<(u64, Option<String>), Fault> {
    // First the change that may be refused, so that there is nothing to undo.
    if let RunState::Finish(finish) = &batch.then
        && let Some(aftermath) = &finish.aftermath
    {
        skills::apply_skill_update(db, aftermath)?;
    }
    let first_seq = insert_all(db, n, &batch.events)?;
    write_all(db, n, &batch.writes)?;
    let mut usage = None;
    match &batch.then {
        RunState::Continue => {}
        RunState::Park {
            wake_at,
            waiting_for,
        } => park(db, n, maybe(*wake_at), waiting_for)?,
        RunState::Finish(finish) => usage = finish::finish(db, n, finish)?,
    }
    Ok((first_seq, usage))
}

fn insert_all(db: &Connection, n: i64, events: &[NewEvent]) -> Result<u64, Fault> {
    if events.is_empty() {
        return Ok(0);
    }
    let sql = "INSERT INTO event (run, at, kind, body) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = db.prepare_cached(sql)?;
    let mut first = 0;
    for (place, event) in events.iter().enumerate() {
        let seq = insert(&mut statement, n, event)?;
        if place == 0 {
            first = seq.unsigned_abs();
        }
    }
    Ok(first)
}

fn insert(statement: &mut CachedStatement<'_>, n: i64, event: &NewEvent) -> Result<i64, Fault> {
    Ok(statement.insert(params![n, micros(event.at), event.kind, event.body])?)
}

/// Adds events to a run.
pub(super) fn add_events(db: &Connection, n: i64, events: &[NewEvent]) -> Result<(), Fault> {
    insert_all(db, n, events).map(|_| ())
}

/// Returns events of a run after a sequence number; a negative limit means all.
pub(super) fn events_of(
    db: &Connection,
    n: i64,
    run: &RunId,
    after: u64,
    limit: i64,
) -> Result<Vec<StoredEvent>, Fault> {
    let sql = "SELECT seq, at, kind, body FROM event INDEXED BY event_run \
               WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut events = db.prepare_cached(sql)?;
    let events = events.query_map(params![n, to_signed(after), limit], |row| {
        row::event(row, run.clone())
    })?;
    Ok(events.collect::<Result<_, _>>()?)
}

fn park(
    db: &Connection,
    n: i64,
    wake_at: Option<i64>,
    waiting_for: &WaitReason,
) -> Result<(), Fault> {
    // An answer or a cancel request that arrived while the run was driven wakes it at once. `min` of several
    // values is NULL if one of them is NULL.
    let sql = "UPDATE run SET status = 'waiting', owner = NULL, lease_until = NULL, \
               wake_at = coalesce(min(?2, nudged_at), ?2, nudged_at), waiting_for = ?3, \
               waiting_kind = ?4, nudged_at = NULL WHERE n = ?1";
    let WaitReason { kind, text } = waiting_for;
    db.prepare_cached(sql)?
        .execute(params![n, wake_at, text, kind.word()])?;
    ledger::release(db, n)
}

/// Writes the changes that a batch contains besides events.
pub(super) fn write_all(db: &Connection, n: i64, writes: &[Write]) -> Result<(), Fault> {
    writes.iter().try_for_each(|change| write(db, n, change))
}

fn write(db: &Connection, n: i64, write: &Write) -> Result<(), Fault> {
    match write {
        Write::Ask(question) => ask(db, n, question),
        Write::Notice { key, body, at } => {
            let sql = "INSERT INTO outbox (run, finish_ordinal, skill, key, body, at, try_at) \
                       SELECT n, finish_ordinal, skill, ?2, ?3, ?4, ?4 FROM run WHERE n = ?1 \
                       ON CONFLICT DO NOTHING";
            db.prepare_cached(sql)?
                .execute(params![n, key, body, micros(*at)])?;
            Ok(())
        }
        Write::Fact(fact) => outbox::add_fact(db, fact).map(|_| ()),
        Write::Open(new) => conversations::open(db, new).map(drop),
        Write::Say {
            conversation,
            first,
            messages,
        } => conversations::say(db, n, conversation, *first, messages),
        Write::Spend(spend) => ledger::spend(db, n, spend),
        Write::Unreserve { key } => ledger::unreserve(db, n, key),
        Write::Cache {
            key,
            value,
            at,
            expires_at,
        } => {
            sweep(db, micros(*at))?;
            let sql = "INSERT OR REPLACE INTO cache (key, value, made_at, expires_at) \
                       VALUES (?1, ?2, ?3, ?4)";
            db.prepare_cached(sql)?.execute(params![
                key,
                value,
                micros(*at),
                micros(*expires_at)
            ])?;
            Ok(())
        }
    }
}

fn sweep(db: &Connection, now: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM cache WHERE key IN \
               (SELECT key FROM cache WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
    db.prepare_cached(sql)?.execute(params![now, SWEEP])?;
    Ok(())
}

/// Refuses questions whose ids are in use, before anything of a batch is written.
pub(super) fn check_questions(db: &Connection, writes: &[Write]) -> Result<(), Fault> {
    let mut taken = backend::asked_twice(writes);
    for question in backend::questions(writes) {
        let sql = "SELECT 1 FROM approval WHERE id = ?1";
        if db.prepare_cached(sql)?.exists([&question.id])? {
            taken = Some(&question.id);
        }
    }
    match taken {
        None => Ok(()),
        Some(id) => Err(Fault::Store(Error::Taken {
            what: "an approval",
            id: id.to_owned(),
        })),
    }
}

fn ask(db: &Connection, n: i64, question: &NewApproval) -> Result<(), Fault> {
    let sql = "INSERT INTO approval (id, run, path, message, options, operation, asked_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    db.prepare_cached(sql)?.execute(params![
        question.id,
        n,
        question.path,
        question.message,
        question.options,
        question.operation,
        micros(question.at),
    ])?;
    Ok(())
}

//! Queries for runs, events and owners.

use deft_model::{Choice, RunId, RunStatus};
use jiff::{SignedDuration, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::append::events_of;
use super::damage;
use super::fault::Fault;
use super::row::{self, micros, run_columns, to_signed};
use crate::{PageEnd, RunFilter, RunPage, RunRow, StoredEvent};

pub(super) fn owners(db: &Connection) -> Result<Vec<String>, Fault> {
    let sql = "SELECT DISTINCT owner FROM run INDEXED BY run_active \
               WHERE status = 'running' AND turn IS NOT NULL ORDER BY owner";
    let mut owners = db.prepare_cached(sql)?;
    let owners = owners.query_map([], |row| damage::read(row, "run", 0, || row.get(0)))?;
    Ok(owners.collect::<Result<_, _>>()?)
}

pub(super) fn next_wake(db: &Connection) -> Result<Option<Timestamp>, Fault> {
    let sql = "SELECT wake_at, id FROM run INDEXED BY run_asleep \
               WHERE status = 'waiting' AND wake_at IS NOT NULL ORDER BY wake_at LIMIT 1";
    let mut next = db.prepare_cached(sql)?;
    let next = next.query_row([], |row| {
        damage::read(row, "run", 1, || row::instant(row, 0))
    });
    Ok(next.optional()?)
}

pub(super) fn late_running(db: &Connection, late: SignedDuration) -> Result<u64, Fault> {
    let late = i64::try_from(late.as_micros()).unwrap_or(i64::MAX);
    // The index contains only active runs, and limits bound how many of them are running.
    let sql = "SELECT count(*) FROM run INDEXED BY run_active WHERE status = 'running' \
               AND turn IS NOT NULL AND slot IS NOT NULL AND admitted_at - slot > ?1";
    let mut count = db.prepare_cached(sql)?;
    Ok(count.query_row([late], |row| row.get::<_, u32>(0))?.into())
}

pub(super) fn run(db: &Connection, id: &RunId) -> Result<Option<RunRow>, Fault> {
    let sql = concat!("SELECT ", run_columns!(), " FROM run WHERE id = ?1");
    let mut run = db.prepare_cached(sql)?;
    Ok(run.query_row([id.as_str()], row::run).optional()?)
}

pub(super) fn page(
    db: &Connection,
    filter: &RunFilter,
    after: Option<PageEnd>,
) -> Result<RunPage, Fault> {
    let (which, mut values) = conditions(filter);
    values.push(Value::Integer(after.map_or(i64::MAX, |PageEnd(n)| n)));
    values.push(Value::Integer(filter.limit.map_or(-1, i64::from)));
    let sql = format!(
        "SELECT {} FROM run {which} AND n < ? ORDER BY n DESC LIMIT ?",
        run_columns!()
    );
    let mut page = RunPage::default();
    let mut runs = db.prepare_cached(&sql)?;
    let mut rows = runs.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        page.end = Some(PageEnd(row.get("n")?));
        page.runs.push(row::run(row)?);
    }
    Ok(page)
}

pub(super) fn count(db: &Connection, filter: &RunFilter) -> Result<u64, Fault> {
    let (which, values) = conditions(filter);
    let sql = format!("SELECT count(*) FROM run {which}");
    let mut count = db.prepare_cached(&sql)?;
    Ok(count.query_row(params_from_iter(values), |row| row::natural(row, 0))?)
}

/// Returns the SQL condition of a filter and the values of its parameters.
fn conditions(filter: &RunFilter) -> (String, Vec<Value>) {
    let active = !filter.statuses.is_empty() && !filter.statuses.contains(&RunStatus::Done);
    // `run_active` contains only unfinished runs. Its condition, true for all of these, must be repeated.
    let whose = if active {
        "INDEXED BY run_active WHERE turn IS NOT NULL"
    } else {
        "WHERE true"
    };
    let mut which = Vec::new();
    let mut values = Vec::new();
    if let Some(skill) = &filter.skill {
        which.push("skill = ?".to_owned());
        values.push(Value::Text(skill.clone()));
    }
    if let Some(skill) = &filter.not_skill {
        which.push("skill <> ?".to_owned());
        values.push(Value::Text(skill.clone()));
    }
    which.extend(one_of("status", &filter.statuses));
    which.extend(one_of("outcome", &filter.outcomes));
    if let Some(prefix) = &filter.id_prefix {
        // A range of the index; the largest character ends it.
        which.push("id BETWEEN ? AND ?".to_owned());
        values.push(Value::Text(prefix.clone()));
        values.push(Value::Text(format!("{prefix}{}", char::MAX)));
    }
    if let Some(since) = filter.since {
        // A run's number is never less than its instant (in milliseconds), so the primary key skips older
        // rows.
        which.push("admitted_at >= ? AND n >= ?".to_owned());
        values.push(Value::Integer(micros(since)));
        values.push(Value::Integer(row::least_number(since)));
    }
    let which = which.iter().map(|one: &String| format!(" AND {one}"));
    (format!("{whose}{}", which.collect::<String>()), values)
}

/// Builds a condition from words of our own enums, which need no parameters.
fn one_of<T: Choice>(column: &str, choices: &[T]) -> Option<String> {
    let words = choices.iter().map(|choice| format!("'{}'", choice.word()));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("{column} IN ({})", words.join(", ")))
}

pub(super) fn newest_event(db: &Connection) -> Result<u64, Fault> {
    let mut newest = db.prepare_cached("SELECT coalesce(max(seq), 0) FROM event")?;
    let newest: i64 = newest.query_row([], |row| row.get(0))?;
    Ok(u64::try_from(newest).unwrap_or_default())
}

pub(super) fn paused_runs(db: &Connection, runs: &[RunId]) -> Result<Vec<RunId>, Fault> {
    // The same kinds as in the index and in `PAUSES`.
    let sql = "SELECT id FROM run WHERE id = ?1 AND EXISTS \
               (SELECT 1 FROM event INDEXED BY event_pause WHERE run = n \
                AND (kind = 'asked' OR kind = 'recovered' OR kind = 'resumed'))";
    let mut found = db.prepare_cached(sql)?;
    let mut paused = Vec::new();
    for run in runs {
        if found.exists([run.as_str()])? {
            paused.push(run.clone());
        }
    }
    Ok(paused)
}

pub(super) fn events(
    db: &Connection,
    run: Option<&RunId>,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, Fault> {
    let Some(run) = run else {
        return all_events(db, after, limit);
    };
    let sql = "SELECT n FROM run WHERE id = ?1";
    let mut n = db.prepare_cached(sql)?;
    let n = n.query_row([run.as_str()], |row| row.get(0)).optional()?;
    n.map_or(Ok(Vec::new()), |n| {
        events_of(db, n, run, after, i64::from(limit))
    })
}

fn all_events(db: &Connection, after: u64, limit: u32) -> Result<Vec<StoredEvent>, Fault> {
    // The cross join makes SQLite scan events in order and look up their runs, not the reverse.
    let sql = "SELECT seq, at, kind, body, id FROM event CROSS JOIN run ON n = run \
               WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut events = db.prepare_cached(sql)?;
    let events = events.query_map(params![to_signed(after), limit], |row| {
        row::event(row, row::run_id(row, 4)?)
    })?;
    Ok(events.collect::<Result<_, _>>()?)
}

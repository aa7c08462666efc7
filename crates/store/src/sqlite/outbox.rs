//! Notices, facts, holds and settings.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::damage;
use super::fault::Fault;
use super::row::{self, micros};
use crate::{
    FactFilter, FactRow, NewFact, NewNotice, NoticeEnd, NoticeFilter, NoticeRow, NoticeStatus,
};

const COLUMNS: &str = "outbox.n, run.id, outbox.skill, outbox.key, body, at, outbox.status, \
     attempts, try_at, receipt, outbox.error, ended_at, parts";
const FROM: &str = "outbox LEFT JOIN run ON run.n = outbox.run";

fn read(row: &Row<'_>) -> rusqlite::Result<NoticeRow> {
    damage::read(row, "outbox", 0, || {
        Ok(NoticeRow {
            id: row.get(0)?,
            run: row.get::<_, Option<String>>(1)?.map(deft_model::RunId::new),
            skill: row.get(2)?,
            key: row.get(3)?,
            body: row.get(4)?,
            at: row::instant(row, 5)?,
            status: row::known_word(row, 6, NoticeStatus::from_word)?,
            attempts: row.get(7)?,
            try_at: row::maybe_instant(row, 8)?,
            receipt: row.get(9)?,
            error: row.get(10)?,
            ended_at: row::maybe_instant(row, 11)?,
            parts: row.get(12)?,
        })
    })
}

pub(super) fn add(db: &Connection, notice: &NewNotice) -> Result<bool, Fault> {
    let sql = "INSERT INTO outbox (run, finish_ordinal, skill, key, body, at, try_at) \
               VALUES (NULL, 0, ?1, ?2, ?3, ?4, ?4) ON CONFLICT DO NOTHING";
    let added = db.prepare_cached(sql)?.execute(params![
        notice.skill,
        notice.key,
        notice.body,
        micros(notice.at),
    ])?;
    Ok(added > 0)
}

pub(super) fn take(
    db: &Connection,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<NoticeRow>, Fault> {
    let sql = "UPDATE outbox SET try_at = ?2, attempts = attempts + 1 WHERE n IN \
               (SELECT n FROM outbox INDEXED BY outbox_due \
               WHERE try_at IS NOT NULL AND try_at <= ?1 ORDER BY try_at, n LIMIT ?3) RETURNING n";
    let mut taken = db.prepare_cached(sql)?;
    let taken = taken.query_map(params![micros(now), micros(until), limit], |row| row.get(0))?;
    let mut taken: Vec<i64> = taken.collect::<Result<_, _>>()?;
    taken.sort_unstable();
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE outbox.n = ?1");
    let mut row = db.prepare_cached(&sql)?;
    let rows = taken.iter().map(|n| row.query_row([n], read));
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn end(db: &Connection, id: i64, end: &NoticeEnd, at: Timestamp) -> Result<(), Fault> {
    let (status, try_at, ended_at) = match end {
        NoticeEnd::Sent { .. } => (NoticeStatus::Sent, None, Some(at)),
        NoticeEnd::Again { at, .. } | NoticeEnd::Later { at, .. } => {
            (NoticeStatus::Queued, Some(*at), None)
        }
        NoticeEnd::Dead { .. } => (NoticeStatus::Dead, None, Some(at)),
    };
    let (receipt, error) = match end {
        NoticeEnd::Sent { receipt } => (Some(receipt), None),
        NoticeEnd::Again { error, .. }
        | NoticeEnd::Later { error, .. }
        | NoticeEnd::Dead { error } => (None, Some(error)),
    };
    let tried = !matches!(end, NoticeEnd::Later { .. });
    // A delivered notice stays delivered, whatever later reports say.
    let sql = "UPDATE outbox SET status = ?2, try_at = ?3, receipt = ?4, error = ?5, ended_at = ?6, \
               attempts = max(attempts - ?7, 0) WHERE n = ?1 AND status <> 'sent'";
    db.prepare_cached(sql)?.execute(params![
        id,
        status.word(),
        row::maybe(try_at),
        receipt,
        error,
        row::maybe(ended_at),
        u8::from(!tried),
    ])?;
    Ok(())
}

pub(super) fn keep_parts(db: &Connection, id: i64, parts: u32) -> Result<(), Fault> {
    // The number of delivered parts never decreases.
    let sql = "UPDATE outbox SET parts = max(parts, ?2) WHERE n = ?1";
    db.prepare_cached(sql)?.execute(params![id, parts])?;
    Ok(())
}

pub(super) fn list(db: &Connection, filter: &NoticeFilter) -> Result<Vec<NoticeRow>, Fault> {
    let (which, mut values) = conditions(filter);
    values.push(Value::Integer(filter.limit.map_or(-1, i64::from)));
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE {which} ORDER BY outbox.n DESC LIMIT ?");
    let mut notices = db.prepare_cached(&sql)?;
    let notices = notices.query_map(params_from_iter(values), read)?;
    Ok(notices.collect::<Result<_, _>>()?)
}

pub(super) fn count(db: &Connection, filter: &NoticeFilter) -> Result<u64, Fault> {
    let (which, values) = conditions(filter);
    let sql = format!("SELECT count(*) FROM outbox WHERE {which}");
    let mut count = db.prepare_cached(&sql)?;
    Ok(count.query_row(params_from_iter(values), |row| row::natural(row, 0))?)
}

/// Returns the conditions of a filter and the values of its parameters.
fn conditions(filter: &NoticeFilter) -> (String, Vec<Value>) {
    let mut which = vec!["true"];
    let mut values = Vec::new();
    if let Some(run) = &filter.run {
        which.push("outbox.run = (SELECT n FROM run WHERE id = ?)");
        values.push(Value::Text(run.to_string()));
    }
    if let Some(status) = filter.status {
        which.push("outbox.status = ?");
        values.push(Value::Text(status.word().to_owned()));
    }
    if let Some(before) = filter.before {
        which.push("outbox.n < ?");
        values.push(Value::Integer(before));
    }
    (which.join(" AND "), values)
}

pub(super) fn next(db: &Connection) -> Result<Option<Timestamp>, Fault> {
    let sql = "SELECT try_at, n FROM outbox INDEXED BY outbox_due \
               WHERE try_at IS NOT NULL ORDER BY try_at LIMIT 1";
    let mut next = db.prepare_cached(sql)?;
    let next = next.query_row([], |row| {
        damage::read(row, "outbox", 1, || row::instant(row, 0))
    });
    Ok(next.optional()?)
}

pub(super) fn retry(db: &Connection, id: Option<i64>, at: Timestamp) -> Result<u64, Fault> {
    let sql = "UPDATE outbox SET status = 'queued', try_at = ?2, attempts = 0, ended_at = NULL \
               WHERE status = 'dead' AND n = coalesce(?1, n)";
    let changed = db.prepare_cached(sql)?.execute(params![id, micros(at)])?;
    Ok(changed as u64)
}

pub(super) fn add_fact(db: &Connection, fact: &NewFact) -> Result<i64, Fault> {
    let sql = "INSERT INTO fact (agent_id, category, text, source, at) VALUES (?1, ?2, ?3, ?4, ?5)";
    Ok(db.prepare_cached(sql)?.insert(params![
        fact.agent_id,
        fact.category,
        fact.text,
        fact.source,
        micros(fact.at),
    ])?)
}

/// Stores a fact unless it exists; lookup and insertion share the transaction of the request.
pub(super) fn save_fact(db: &Connection, fact: &NewFact) -> Result<(FactRow, bool), Fault> {
    let sql = "SELECT n, agent_id, category, text, source, at FROM fact \
               WHERE category = ?1 AND text = ?2 COLLATE NOCASE ORDER BY n DESC LIMIT 1";
    let mut same = db.prepare_cached(sql)?;
    let same = same.query_row([&fact.category, &fact.text], read_fact);
    if let Some(known) = same.optional()? {
        return Ok((known, false));
    }
    let id = add_fact(db, fact)?;
    let fact = fact.clone();
    Ok((FactRow { id, fact }, true))
}

fn read_fact(row: &Row<'_>) -> rusqlite::Result<FactRow> {
    damage::read(row, "fact", 0, || {
        Ok(FactRow {
            id: row.get(0)?,
            fact: NewFact {
                agent_id: row.get(1)?,
                category: row.get(2)?,
                text: row.get(3)?,
                source: row.get(4)?,
                at: row::instant(row, 5)?,
            },
        })
    })
}

pub(super) fn delete_fact(db: &Connection, id: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM fact WHERE n = ?1";
    Ok(db.prepare_cached(sql)?.execute([id])? > 0)
}

pub(super) fn facts(db: &Connection, filter: &FactFilter) -> Result<Vec<FactRow>, Fault> {
    let mut which = vec!["true"];
    let mut values = Vec::new();
    let given = [
        ("agent_id = ?", &filter.agent_id),
        ("category = ?", &filter.category),
        ("instr(lower(text), lower(?)) > 0", &filter.text),
    ];
    for (condition, value) in given {
        if let Some(value) = value {
            which.push(condition);
            values.push(Value::Text(value.clone()));
        }
    }
    values.push(Value::Integer(filter.limit.map_or(-1, i64::from)));
    let which = which.join(" AND ");
    let sql = format!(
        "SELECT n, agent_id, category, text, source, at FROM fact \
         WHERE {which} ORDER BY n DESC LIMIT ?"
    );
    let mut facts = db.prepare_cached(&sql)?;
    let facts = facts.query_map(params_from_iter(values), read_fact)?;
    Ok(facts.collect::<Result<_, _>>()?)
}

pub(super) fn hold(db: &Connection, skill: &str, held: bool, at: Timestamp) -> Result<(), Fault> {
    if held {
        let sql = "INSERT INTO hold (skill, since) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        db.prepare_cached(sql)?
            .execute(params![skill, micros(at)])?;
    } else {
        db.prepare_cached("DELETE FROM hold WHERE skill = ?1")?
            .execute([skill])?;
    }
    Ok(())
}

pub(super) fn held_since(db: &Connection, skill: &str) -> Result<Option<Timestamp>, Fault> {
    let mut since = db.prepare_cached("SELECT since FROM hold WHERE skill = ?1")?;
    let since = since.query_row([skill], |row| {
        damage::read_by(row, "hold", skill, || row::instant(row, 0))
    });
    Ok(since.optional()?)
}

pub(super) fn setting(db: &Connection, name: &str) -> Result<Option<String>, Fault> {
    let mut value = db.prepare_cached("SELECT value FROM setting WHERE name = ?1")?;
    let value = value.query_row([name], |row| {
        damage::read_by(row, "setting", name, || row.get(0))
    });
    Ok(value.optional()?)
}

pub(super) fn keep_setting(db: &Connection, name: &str, value: &str) -> Result<(), Fault> {
    let sql = "INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)";
    db.prepare_cached(sql)?.execute([name, value])?;
    Ok(())
}

pub(super) fn replace_setting(
    db: &Connection,
    name: &str,
    before: Option<&str>,
    value: &str,
) -> Result<bool, Fault> {
    let is_current = setting(db, name)?.as_deref() == before;
    if is_current {
        keep_setting(db, name, value)?;
    }
    Ok(is_current)
}

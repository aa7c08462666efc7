//! Reservations and spending.
//!
//! There is one row per reserved call and scope, few enough to sum on request. Spending is stored as sums.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::damage;
use super::fault::Fault;
use super::row::{self, micros, natural, to_signed};
use crate::ledger::{Balance, amount, bucket, bucket_end};
use crate::{Error, Lease, ReservationResult, Reserve, Spend, SpentFilter, SpentRow, UsageRow};

pub(super) fn reserve(
    db: &Connection,
    lease: &Lease,
    request: &Reserve,
) -> Result<ReservationResult, Fault> {
    let sql = "SELECT n FROM run WHERE id = ?1 AND token = ?2 AND status = 'running'";
    let mut held = db.prepare_cached(sql)?;
    let held = held.query_row(params![lease.run.as_str(), to_signed(lease.token)], |row| {
        row.get(0)
    });
    let Some(n) = held.optional()? else {
        return Err(Error::fenced_error(&lease.run).into());
    };
    for limit in &request.scopes {
        let balance = balance(db, &limit.scope, n, &request.key)?;
        if let Some(refusal) = balance.refuse(limit, request) {
            return Ok(ReservationResult::Refused(refusal));
        }
    }
    unreserve(db, n, &request.key)?;
    let sql = "INSERT INTO reservation (run, key, scope, tokens, micros, agent, estimated_tokens, \
               estimated_micros) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
    let mut insert = db.prepare_cached(sql)?;
    for limit in &request.scopes {
        insert.execute(params![
            n,
            request.key,
            limit.scope,
            number(request.tokens),
            number(request.micros),
            request.estimate.agent,
            number(request.estimate.tokens),
            number(request.estimate.micros),
        ])?;
    }
    Ok(ReservationResult::Granted)
}

/// Replaces the reservations of a run by their estimates, because its owner is dead or late.
pub(super) fn spend_estimates(db: &Connection, n: i64, at: Timestamp) -> Result<(), Fault> {
    let sql = "SELECT key, agent, estimated_tokens, estimated_micros, json_group_array(scope) \
               FROM reservation WHERE run = ?1 GROUP BY key ORDER BY key";
    let mut lost = db.prepare_cached(sql)?;
    let lost = lost.query_map([n], |row| {
        damage::read(row, "reservation", 0, || {
            Ok(Spend {
                key: format!("{} interrupted at {at}", row.get::<_, String>(0)?),
                scopes: scopes(row, 4)?,
                tokens_in: natural(row, 2)?,
                tokens_out: 0,
                micros: natural(row, 3)?,
                calls: 1,
                agent: row.get(1)?,
                at,
            })
        })
    })?;
    for spend in lost.collect::<Result<Vec<_>, _>>()? {
        count(db, n, &spend, true)?;
    }
    release(db, n)
}

/// Parses the scopes of one call from a JSON list.
fn scopes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let list: String = row.get(column)?;
    serde_json::from_str(&list).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
    })
}

/// Returns the balance of a scope without the reservation under `key`.
fn balance(db: &Connection, scope: &str, n: i64, key: &str) -> Result<Balance, Fault> {
    let sql = "SELECT tokens_in + tokens_out, micros FROM ledger WHERE scope = ?1";
    let spent = db
        .prepare_cached(sql)?
        .query_row([scope], |row| pair(row, "ledger", scope))
        .optional()?;
    let sql = "SELECT coalesce(sum(tokens), 0), coalesce(sum(micros), 0) FROM reservation \
               WHERE scope = ?1 AND NOT (run = ?2 AND key = ?3)";
    let mut reserved = db.prepare_cached(sql)?;
    Ok(Balance {
        spent: spent.unwrap_or_default(),
        reserved: reserved.query_row(params![scope, n, key], |row| {
            pair(row, "reservation", scope)
        })?,
    })
}

fn pair(row: &Row<'_>, table: &'static str, scope: &str) -> rusqlite::Result<(u64, u64)> {
    damage::read_by(row, table, scope, || {
        Ok((natural(row, 0)?, natural(row, 1)?))
    })
}

fn number(wanted: u64) -> i64 {
    to_signed(amount(wanted))
}

/// Records the usage of a call and removes its reservation.
pub(super) fn spend(db: &Connection, n: i64, spend: &Spend) -> Result<(), Fault> {
    unreserve(db, n, &spend.key)?;
    count(db, n, spend, false)
}

/// Adds the usage of a call to the sums, unless its key was counted before.
fn count(db: &Connection, n: i64, spend: &Spend, estimated: bool) -> Result<(), Fault> {
    let sql = "INSERT INTO counted (run, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    if db.prepare_cached(sql)?.execute(params![n, spend.key])? == 0 {
        return Ok(());
    }
    let [tokens_in, tokens_out] = [spend.tokens_in, spend.tokens_out].map(number);
    let [cost, calls] = [spend.micros, spend.calls].map(number);
    let sql = "INSERT INTO ledger (scope, tokens_in, tokens_out, micros, calls, at, \
               estimated_tokens, estimated_micros, estimated_calls) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7 * (?2 + ?3), ?7 * ?4, ?7 * ?5) \
               ON CONFLICT DO UPDATE SET \
               tokens_in = tokens_in + ?2, tokens_out = tokens_out + ?3, micros = micros + ?4, \
               calls = calls + ?5, at = max(at, ?6), \
               estimated_tokens = estimated_tokens + ?7 * (?2 + ?3), \
               estimated_micros = estimated_micros + ?7 * ?4, \
               estimated_calls = estimated_calls + ?7 * ?5";
    let mut add = db.prepare_cached(sql)?;
    for (place, scope) in spend.scopes.iter().enumerate() {
        if !spend.scopes[..place].contains(scope) {
            let at = micros(spend.at);
            add.execute(params![
                scope, tokens_in, tokens_out, cost, calls, at, estimated
            ])?;
        }
    }
    let sql = "INSERT INTO usage (agent, bucket, tokens, micros, calls) \
               VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET \
               tokens = tokens + ?3, micros = micros + ?4, calls = calls + ?5";
    let bucket = micros(bucket(spend.at));
    let tokens = tokens_in + tokens_out;
    db.prepare_cached(sql)?
        .execute(params![spend.agent, bucket, tokens, cost, calls])?;
    Ok(())
}

/// Deletes the reservation of a call.
pub(super) fn unreserve(db: &Connection, n: i64, key: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM reservation WHERE run = ?1 AND key = ?2";
    db.prepare_cached(sql)?.execute(params![n, key])?;
    Ok(())
}

/// Deletes all reservations of a run whose lease has ended.
pub(super) fn release(db: &Connection, n: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM reservation WHERE run = ?1";
    db.prepare_cached(sql)?.execute([n])?;
    Ok(())
}

pub(super) fn list_spent(db: &Connection, filter: &SpentFilter) -> Result<Vec<SpentRow>, Fault> {
    // Scopes are sorted, so that reading starts at the first one with the prefix and stops after the last.
    let (from, to) = match (&filter.scope, &filter.prefix) {
        (Some(scope), _) => (scope.as_str(), Some(scope.as_str())),
        (None, Some(prefix)) => (prefix.as_str(), None),
        (None, None) => ("", None),
    };
    // One statement, so that both tables are read from the same snapshot.
    let sql = "SELECT scope, sum(a) tokens_in, sum(b) tokens_out, sum(c) micros, sum(d) calls, \
               sum(e) reserved_tokens, sum(f) reserved_micros, sum(g) estimated_tokens, \
               sum(h) estimated_micros, sum(i) estimated_calls FROM (SELECT scope, tokens_in a, tokens_out b, micros c, calls d, 0 e, 0 f, \
               estimated_tokens g, estimated_micros h, estimated_calls i FROM ledger \
               WHERE scope >= ?1 AND (?2 IS NULL OR scope <= ?2) UNION ALL \
               SELECT scope, 0, 0, 0, 0, tokens, micros, 0, 0, 0 FROM reservation \
               WHERE scope >= ?1 AND (?2 IS NULL OR scope <= ?2)) GROUP BY scope ORDER BY scope";
    let mut rows = db.prepare_cached(sql)?;
    let mut rows = rows.query(params![from, to])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let scope: String = damage::read(row, "ledger", 0, || row.get(0))?;
        if filter
            .prefix
            .as_ref()
            .is_some_and(|prefix| !scope.starts_with(prefix))
        {
            break;
        }
        if filter.fits(&scope) {
            found.push(read_spent(row, scope)?);
        }
    }
    Ok(found)
}

fn read_spent(row: &Row<'_>, scope: String) -> rusqlite::Result<SpentRow> {
    damage::read(row, "ledger", 0, || {
        Ok(SpentRow {
            scope,
            tokens_in: natural(row, 1)?,
            tokens_out: natural(row, 2)?,
            micros: natural(row, 3)?,
            calls: natural(row, 4)?,
            reserved_tokens: natural(row, 5)?,
            reserved_micros: natural(row, 6)?,
            estimated_tokens: natural(row, 7)?,
            estimated_micros: natural(row, 8)?,
            estimated_calls: natural(row, 9)?,
        })
    })
}

/// Returns the usage of a run as JSON for its row. Most runs make no model call, which costs one lookup by
/// key.
pub(super) fn of_run(db: &Connection, n: i64) -> Result<Option<String>, Fault> {
    let sql = "SELECT tokens_in, tokens_out, micros, calls, estimated_calls, scope FROM ledger \
               WHERE scope = 'run:' || (SELECT id FROM run WHERE n = ?1)";
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_row([n], |row| {
        damage::read(row, "ledger", 5, || {
            Ok(SpentRow {
                tokens_in: natural(row, 0)?,
                tokens_out: natural(row, 1)?,
                micros: natural(row, 2)?,
                calls: natural(row, 3)?,
                estimated_calls: natural(row, 4)?,
                ..SpentRow::default()
            })
        })
    });
    Ok(found.optional()?.and_then(|spent| spent.document()))
}

pub(super) fn usage_since(
    db: &Connection,
    agent: &str,
    from: Timestamp,
) -> Result<Vec<UsageRow>, Fault> {
    let sql = "SELECT bucket, tokens, micros, calls FROM usage \
               WHERE agent = ?1 AND bucket >= ?2 ORDER BY bucket";
    let mut rows = db.prepare_cached(sql)?;
    let rows = rows.query_map(params![agent, micros(bucket(from))], |row| {
        damage::read_by(row, "usage", agent, || {
            Ok(UsageRow {
                bucket: row::instant(row, 0)?,
                tokens: natural(row, 1)?,
                micros: natural(row, 2)?,
                calls: natural(row, 3)?,
            })
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn forget(db: &Connection, before: Timestamp) -> Result<u64, Fault> {
    let sql = "DELETE FROM ledger WHERE at < ?1";
    let scopes = db.prepare_cached(sql)?.execute([micros(before)])?;
    let length = micros(bucket_end(Timestamp::UNIX_EPOCH));
    let sql = "DELETE FROM usage WHERE bucket + ?2 <= ?1";
    let buckets = db.prepare_cached(sql)?.execute([micros(before), length])?;
    Ok((scopes + buckets) as u64)
}

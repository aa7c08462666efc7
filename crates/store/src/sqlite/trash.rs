//! Conversion of deleted rows to JSON lines and back.
//!
//! Lines come from a file that a person may have edited: other tables are refused.

use deft_model::clip;
use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};
use serde_json::{Map, Value, json};

use super::conversations;
use super::fault::Fault;
use crate::{Error, TrashItem};

/// A table whose rows can be exported and restored.
struct TrashTable {
    name: &'static str,
    /// The column of the row number, which another row may have by then; a restored row gets a new one.
    number: Option<&'static str>,
    /// The `ON CONFLICT` clause of an insertion.
    conflict: &'static str,
}

const IGNORE: &str = "ON CONFLICT DO NOTHING";

const fn table(name: &'static str) -> TrashTable {
    TrashTable {
        name,
        number: None,
        conflict: IGNORE,
    }
}

const fn numbered_table(name: &'static str) -> TrashTable {
    TrashTable {
        number: Some("n"),
        ..table(name)
    }
}

/// The tables of a run besides `run`, whose row comes first.
const OF_RUN: [TrashTable; 5] = [
    TrashTable {
        // Deleting the newest event of all leaves an empty row without a run; it is overwritten.
        conflict: "ON CONFLICT (seq) DO UPDATE SET run = excluded.run, at = excluded.at, \
                   kind = excluded.kind, body = excluded.body WHERE event.run = 0",
        ..table("event")
    },
    numbered_table("approval"),
    table("outbox"),
    table("reservation"),
    table("counted"),
];
const RUN: TrashTable = table("run");
const SKILL: TrashTable = table("skill");
const CONVERSATION: TrashTable = numbered_table("conversation");
const MESSAGE: TrashTable = numbered_table("message");

pub(super) fn lines(db: &Connection, what: &TrashItem) -> Result<Vec<String>, Fault> {
    let mut lines = Vec::new();
    match what {
        TrashItem::Runs(runs) => {
            for run in runs {
                add(db, &mut lines, &RUN, "id = ?1", run.as_str())?;
                for table in &OF_RUN {
                    let which = "run = (SELECT n FROM run WHERE id = ?1)";
                    add(db, &mut lines, table, which, run.as_str())?;
                }
            }
        }
        TrashItem::Skill(id) => add(db, &mut lines, &SKILL, "id = ?1", id)?,
        TrashItem::Conversation(id) => {
            add(db, &mut lines, &CONVERSATION, "id = ?1", id)?;
            let which = "conversation = (SELECT n FROM conversation WHERE id = ?1) ORDER BY seq";
            add(db, &mut lines, &MESSAGE, which, id)?;
        }
    }
    Ok(lines)
}

/// Exports the rows of a table that satisfy a condition.
fn add(
    db: &Connection,
    lines: &mut Vec<String>,
    table: &TrashTable,
    which: &str,
    key: impl ToSql,
) -> Result<(), Fault> {
    let name = table.name;
    let mut rows = db.prepare_cached(&format!("SELECT * FROM {name} WHERE {which}"))?;
    let columns: Vec<String> = rows.column_names().into_iter().map(Into::into).collect();
    for row in rows.query_map([key], |row| fields(row, &columns))? {
        lines.push(json!({"table": name, "row": row?}).to_string());
    }
    Ok(())
}

fn fields(row: &Row<'_>, columns: &[String]) -> rusqlite::Result<Map<String, Value>> {
    let field = |(at, column): (usize, &String)| {
        let value = match row.get_ref(at)? {
            // None of these tables has a blob.
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Real(number) => Value::from(number),
            ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text)),
        };
        Ok((column.clone(), value))
    };
    columns.iter().enumerate().map(field).collect()
}

pub(super) fn restore(db: &Connection, lines: &[String]) -> Result<u64, Fault> {
    let mut restored = 0;
    // The new row number of the conversation that the following messages belong to.
    let mut conversation = None;
    for line in lines {
        let (table, mut row) = parse(line).ok_or_else(|| unreadable(line))?;
        if let Some(number) = table.number {
            row.remove(number);
        }
        if table.name == MESSAGE.name {
            let Some(conversation) = conversation else {
                continue;
            };
            row.insert("conversation".to_owned(), Value::from(conversation));
        }
        let added = insert(db, table, &row)?;
        let text = |column: &str| row.get(column).and_then(Value::as_str);
        if table.name == RUN.name && added {
            db.prepare_cached("DELETE FROM spent WHERE id = ?1")?
                .execute([text("id")])?;
        } else if table.name == CONVERSATION.name {
            conversation = added.then(|| db.last_insert_rowid());
        } else if table.name == MESSAGE.name && added {
            let n = db.last_insert_rowid();
            conversations::index_words(db, n, text("text").unwrap_or_default())?;
        }
        let is_whole = [RUN.name, SKILL.name, CONVERSATION.name].contains(&table.name);
        restored += u64::from(added && is_whole);
    }
    Ok(restored)
}

fn parse(line: &str) -> Option<(&'static TrashTable, Map<String, Value>)> {
    const OTHERS: [&TrashTable; 4] = [&RUN, &SKILL, &CONVERSATION, &MESSAGE];
    let mut line: Map<String, Value> = serde_json::from_str(line).ok()?;
    let name = line.get("table")?.as_str()?;
    let mut tables = OTHERS.into_iter().chain(&OF_RUN);
    let table = tables.find(|table| table.name == name)?;
    let Some(Value::Object(row)) = line.remove("row") else {
        return None;
    };
    let is_name = |name: &String| name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'));
    row.keys().all(is_name).then_some((table, row))
}

fn insert(db: &Connection, table: &TrashTable, row: &Map<String, Value>) -> Result<bool, Fault> {
    let columns: Vec<&str> = row.keys().map(String::as_str).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({}) {}",
        table.name,
        columns.join(", "),
        vec!["?"; columns.len()].join(", "),
        table.conflict
    );
    let values = row.values().map(sql_value);
    Ok(db.prepare_cached(&sql)?.execute(params_from_iter(values))? > 0)
}

fn sql_value(value: &Value) -> SqlValue {
    match value {
        Value::Null => SqlValue::Null,
        Value::Bool(yes) => SqlValue::Integer(i64::from(*yes)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => SqlValue::Integer(number),
            None => SqlValue::Real(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => SqlValue::Text(text.clone()),
        other @ (Value::Array(_) | Value::Object(_)) => SqlValue::Text(other.to_string()),
    }
}

fn unreadable(line: &str) -> Fault {
    let line = clip(line, 60);
    Fault::Store(Error::UnreadableLine { line })
}

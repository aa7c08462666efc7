//! Conversations and their messages.
//!
//! `words.rs` splits texts into words; FTS5 only stores and finds them.

use std::collections::HashSet;

use deft_model::{Choice, RunId};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::damage;
use super::fault::Fault;
use super::row::{self, maybe, micros, to_signed};
use crate::words::{self, Query};
use crate::{
    ConversationFilter, ConversationRow, MessageRow, NewConversation, NewMessage, SearchHit,
};

const COLUMNS: &str =
    "id, agent, channel, title, created_at, updated_at, messages, run, archived_at, n";

fn read(row: &Row<'_>) -> rusqlite::Result<ConversationRow> {
    damage::read(row, "conversation", 0, || {
        Ok(ConversationRow {
            id: row.get(0)?,
            agent: row.get(1)?,
            channel: row.get(2)?,
            title: row.get(3)?,
            created_at: row::instant(row, 4)?,
            updated_at: row::instant(row, 5)?,
            message_count: row::natural(row, 6)?,
            run: row.get::<_, Option<String>>(7)?.map(RunId::new),
            archived_at: row::maybe_instant(row, 8)?,
        })
    })
}

pub(super) fn open(db: &Connection, new: &NewConversation) -> Result<ConversationRow, Fault> {
    let sql = "INSERT INTO conversation (id, agent, channel, title, created_at, updated_at, run) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6) ON CONFLICT DO NOTHING";
    db.prepare_cached(sql)?.execute(params![
        new.id,
        new.agent,
        new.channel,
        new.title,
        micros(new.at),
        new.run.as_ref().map(RunId::as_str),
    ])?;
    let sql = format!("SELECT {COLUMNS} FROM conversation WHERE id = ?1");
    Ok(db.prepare_cached(&sql)?.query_row([&new.id], read)?)
}

pub(super) fn one(db: &Connection, id: &str) -> Result<Option<ConversationRow>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM conversation WHERE id = ?1");
    let mut found = db.prepare_cached(&sql)?;
    Ok(found.query_row([id], read).optional()?)
}

pub(super) fn list(
    db: &Connection,
    filter: &ConversationFilter,
) -> Result<Vec<ConversationRow>, Fault> {
    let mut which = vec!["true"];
    let mut values = Vec::new();
    let given = [
        ("agent = ?", &filter.agent),
        ("channel = ?", &filter.channel),
    ];
    for (condition, value) in given {
        if let Some(value) = value {
            which.push(condition);
            values.push(Value::Text(value.clone()));
        }
    }
    if !filter.archived {
        which.push("archived_at IS NULL");
    }
    if let Some(after) = &filter.after {
        // If the conversation was deleted, the others of its microsecond are skipped.
        which.push("(updated_at, n) < (?, (SELECT n FROM conversation WHERE id = ?))");
        values.push(Value::Integer(micros(after.updated_at)));
        values.push(Value::Text(after.id.clone()));
    }
    let query = filter.query.as_deref().map(Query::new);
    let limit = filter.limit.map_or(-1, i64::from);
    // With a query, rows are filtered after reading, so SQL must not limit them.
    values.push(Value::Integer(if query.is_some() { -1 } else { limit }));
    let sql = format!(
        "SELECT {COLUMNS} FROM conversation WHERE {} ORDER BY updated_at DESC, n DESC LIMIT ?",
        which.join(" AND ")
    );
    let mut rows = db.prepare_cached(&sql)?;
    let rows = rows.query_map(params_from_iter(values), |row| {
        Ok((read(row)?, row.get(9)?))
    })?;
    let Some(query) = query else {
        return Ok(rows
            .map(|row| Ok(row?.0))
            .collect::<rusqlite::Result<_>>()?);
    };
    let speaking = matching_conversations(db, &query)?;
    let fits = |row: &rusqlite::Result<(ConversationRow, i64)>| {
        let Ok((row, n)) = row else {
            return true;
        };
        speaking.contains(n) || query.fits(&row.title)
    };
    let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
    let rows = rows.filter(fits).take(limit).map(|row| Ok(row?.0));
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the conversations with a message that matches.
fn matching_conversations(db: &Connection, query: &Query) -> Result<HashSet<i64>, Fault> {
    let Some(words) = query.fts() else {
        return Ok(HashSet::new());
    };
    let sql = "SELECT DISTINCT conversation FROM word CROSS JOIN message ON message.n = word.rowid \
               WHERE word MATCH ?1";
    let mut found = db.prepare_cached(sql)?;
    let found = found.query_map([words], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn messages(
    db: &Connection,
    id: &str,
    after: u64,
    limit: u32,
) -> Result<Vec<MessageRow>, Fault> {
    let sql = "SELECT seq, role, body, text, run, at FROM message WHERE conversation = \
               (SELECT n FROM conversation WHERE id = ?1) AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut rows = db.prepare_cached(sql)?;
    let rows = rows.query_map(params![id, to_signed(after), limit], |row| {
        damage::read_by(row, "message", id, || read_message(row, id))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_message(row: &Row<'_>, conversation: &str) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        conversation: conversation.to_owned(),
        seq: row::natural(row, 0)?,
        role: row::word(row, 1)?,
        body: row.get(2)?,
        text: row.get(3)?,
        run: row.get::<_, Option<String>>(4)?.map(RunId::new),
        at: row::instant(row, 5)?,
    })
}

/// A conversation to which messages are being added.
struct OpenConversation {
    n: i64,
    messages: i64,
    updated_at: i64,
}

impl OpenConversation {
    fn find(db: &Connection, id: &str) -> Result<Option<Self>, Fault> {
        let sql = "SELECT n, messages, updated_at FROM conversation WHERE id = ?1";
        let mut found = db.prepare_cached(sql)?;
        let found = found.query_row([id], |row| {
            damage::read_by(row, "conversation", id, || {
                Ok(Self {
                    n: row.get(0)?,
                    messages: row.get(1)?,
                    updated_at: row.get(2)?,
                })
            })
        });
        Ok(found.optional()?)
    }

    /// Adds a message, unless the run has already filled this position.
    fn add(
        &mut self,
        db: &Connection,
        run: Option<&str>,
        place: Option<u32>,
        message: &NewMessage,
    ) -> Result<(), Fault> {
        let sql = "INSERT INTO message (conversation, seq, role, run, place, at, text, body) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
                   ON CONFLICT (run, place, conversation) WHERE place IS NOT NULL DO NOTHING";
        let added = db.prepare_cached(sql)?.execute(params![
            self.n,
            self.messages + 1,
            message.role.word(),
            run,
            place,
            micros(message.at),
            message.text,
            message.body,
        ])?;
        if added == 0 {
            return Ok(());
        }
        self.messages += 1;
        self.updated_at = self.updated_at.max(micros(message.at));
        index_words(db, db.last_insert_rowid(), &message.text)
    }

    fn close(self, db: &Connection, run: Option<&str>) -> Result<(), Fault> {
        let sql = "UPDATE conversation SET messages = ?2, updated_at = ?3, \
                   run = coalesce(?4, run) WHERE n = ?1 AND messages < ?2";
        db.prepare_cached(sql)?
            .execute(params![self.n, self.messages, self.updated_at, run])?;
        Ok(())
    }
}

/// Makes the text of message `n` searchable.
pub(super) fn index_words(db: &Connection, n: i64, text: &str) -> Result<(), Fault> {
    let words = words::index(text);
    if !words.is_empty() {
        let sql = "INSERT INTO word (rowid, words) VALUES (?1, ?2)";
        db.prepare_cached(sql)?.execute(params![n, words])?;
    }
    Ok(())
}

/// Adds messages of a run, as part of a batch.
pub(super) fn say(
    db: &Connection,
    n: i64,
    conversation: &str,
    first: u32,
    messages: &[NewMessage],
) -> Result<(), Fault> {
    let Some(mut open) = OpenConversation::find(db, conversation)? else {
        return Ok(());
    };
    let mut run = db.prepare_cached("SELECT id FROM run WHERE n = ?1")?;
    let run: String = run.query_row([n], |row| row.get(0))?;
    for (place, message) in (first..=u32::MAX).zip(messages) {
        open.add(db, Some(&run), Some(place), message)?;
    }
    open.close(db, Some(&run))
}

/// Adds messages outside of a batch.
pub(super) fn append(
    db: &Connection,
    id: &str,
    run: Option<&RunId>,
    messages: &[NewMessage],
) -> Result<Option<u64>, Fault> {
    let Some(mut open) = OpenConversation::find(db, id)? else {
        return Ok(None);
    };
    let run = run.map(RunId::as_str);
    for message in messages {
        open.add(db, run, None, message)?;
    }
    let last = open.messages.unsigned_abs();
    open.close(db, run)?;
    Ok(Some(last))
}

pub(super) fn search(db: &Connection, query: &str, limit: u32) -> Result<Vec<SearchHit>, Fault> {
    let query = Query::new(query);
    let Some(words) = query.fts() else {
        return Ok(Vec::new());
    };
    let sql = "SELECT conversation.id, channel, title, seq, role, at, text FROM word \
               CROSS JOIN message ON message.n = word.rowid \
               CROSS JOIN conversation ON conversation.n = message.conversation \
               WHERE word MATCH ?1 ORDER BY word.rowid DESC LIMIT ?2";
    let mut hits = db.prepare_cached(sql)?;
    let hits = hits.query_map(params![words, limit], |row| {
        damage::read(row, "message", 0, || {
            Ok(SearchHit {
                conversation: row.get(0)?,
                channel: row.get(1)?,
                title: row.get(2)?,
                seq: row::natural(row, 3)?,
                role: row::word(row, 4)?,
                at: row::instant(row, 5)?,
                snippet: query.snippet(&row.get::<_, String>(6)?),
            })
        })
    })?;
    Ok(hits.collect::<Result<_, _>>()?)
}

pub(super) fn rename(db: &Connection, id: &str, title: &str) -> Result<bool, Fault> {
    let sql = "UPDATE conversation SET title = ?2 WHERE id = ?1";
    Ok(db.prepare_cached(sql)?.execute([id, title])? > 0)
}

pub(super) fn archive(db: &Connection, id: &str, at: Option<Timestamp>) -> Result<bool, Fault> {
    let sql = "UPDATE conversation SET archived_at = ?2 WHERE id = ?1";
    Ok(db.prepare_cached(sql)?.execute(params![id, maybe(at)])? > 0)
}

/// Deletes the messages of a conversation with a number above `after`.
pub(super) fn cut(db: &Connection, id: &str, after: u64) -> Result<u64, Fault> {
    let Some(open) = OpenConversation::find(db, id)? else {
        return Ok(0);
    };
    let which = params![open.n, to_signed(after)];
    let sql = "DELETE FROM word WHERE rowid IN \
               (SELECT n FROM message WHERE conversation = ?1 AND seq > ?2)";
    db.prepare_cached(sql)?.execute(which)?;
    let sql = "DELETE FROM message WHERE conversation = ?1 AND seq > ?2";
    let cut = db.prepare_cached(sql)?.execute(which)?;
    let sql = "UPDATE conversation SET messages = min(messages, ?2), run = (SELECT message.run \
               FROM message WHERE message.conversation = ?1 ORDER BY seq DESC LIMIT 1) WHERE n = ?1";
    db.prepare_cached(sql)?.execute(which)?;
    Ok(u64::try_from(cut).unwrap_or(u64::MAX))
}

/// Deletes a conversation. A foreign key deletes its messages.
pub(super) fn delete(db: &Connection, id: &str) -> Result<bool, Fault> {
    let sql = "DELETE FROM word WHERE rowid IN (SELECT message.n FROM message \
               JOIN conversation ON conversation.n = message.conversation \
               WHERE conversation.id = ?1)";
    db.prepare_cached(sql)?.execute([id])?;
    let sql = "DELETE FROM conversation WHERE id = ?1";
    Ok(db.prepare_cached(sql)?.execute([id])? > 0)
}

//! Files: their contents survive, and files of other programs are refused.

use std::path::Path;

use deft_model::{MessageRole, RunId, WaitKind};
use deft_store::WaitReason;
use deft_store::prelude::*;
use deft_store::{
    Batch, ConversationFilter, Error, NewConversation, NewMessage, NoticeFilter, RunFilter, Sqlite,
    SqliteOptions, Write,
};

use crate::support::{admit, at, bulky, open, start};

fn refusal(path: &Path) -> Error {
    match Sqlite::open(path, &SqliteOptions::default()) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    }
}

#[tokio::test]
async fn everything_is_stored_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    let lease = start(&store, "r1").await;
    store.append(&lease, bulky(10)).await.unwrap();
    store.keep_revision("sha256:1", "text").await.unwrap();
    let runs = store.runs(RunFilter::default()).await.unwrap();
    let events = store.events(None, 0, 9).await.unwrap();
    drop(store);
    let store = open(&path);
    assert_eq!(store.runs(RunFilter::default()).await.unwrap(), runs);
    assert_eq!(store.events(None, 0, 9).await.unwrap(), events);
    let text = store.revision("sha256:1").await.unwrap();
    assert_eq!(text.as_deref(), Some("text"));
    // The lease is still valid.
    store.append(&lease, bulky(10)).await.unwrap();
}

/// The index of words is in tables that no other table refers to.
#[tokio::test]
async fn words_are_found_after_reopening_and_by_read_only_stores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    let new = |id: &str| NewConversation {
        id: id.to_owned(),
        agent: "main".to_owned(),
        channel: "cli".to_owned(),
        title: String::new(),
        run: None,
        at: at(1),
    };
    for id in ["c1", "c2"] {
        store.open_conversation(new(id)).await.unwrap();
        let said = NewMessage {
            role: MessageRole::User,
            body: "{}".to_owned(),
            text: "drink water".to_owned(),
            at: at(2),
        };
        store.append_messages(id, None, vec![said]).await.unwrap();
    }
    store.delete_conversation("c2").await.unwrap();
    let found = store.search_conversations("water", 9).await.unwrap();
    assert_eq!(found.len(), 1);
    drop(store);
    let store = open(&path);
    assert_eq!(store.search_conversations("water", 9).await.unwrap(), found);
    drop(store);
    let reader = Sqlite::open_read_only(&path, &SqliteOptions::default()).unwrap();
    assert_eq!(
        reader.search_conversations("water", 9).await.unwrap(),
        found
    );
    drop(reader);
    let db = rusqlite::Connection::open(&path).unwrap();
    let check = "INSERT INTO word (word) VALUES ('integrity-check')";
    db.execute(check, []).unwrap();
    let left: i64 = db
        .query_row("SELECT count(*) FROM word", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 1);
}

/// Reads next to a log that another connection has open, and without any log.
#[tokio::test]
async fn a_store_can_be_opened_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a #1%.db");
    let options = SqliteOptions::default();
    assert!(Sqlite::open_read_only(&path, &options).is_err());
    assert!(!path.exists());
    let store = open(&path);
    start(&store, "r1").await;
    let runs = store.runs(RunFilter::default()).await.unwrap();
    let beside = Sqlite::open_read_only(&path, &options).unwrap();
    assert_eq!(beside.runs(RunFilter::default()).await.unwrap(), runs);
    drop((store, beside));
    let alone = Sqlite::open_read_only(&path, &options).unwrap();
    assert_eq!(alone.runs(RunFilter::default()).await.unwrap(), runs);
    let refused = alone.keep_revision("sha256:1", "text").await;
    assert_eq!(refused, Err(Error::ReadOnly { path }));
}

#[tokio::test]
async fn dropping_the_store_writes_pending_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    for n in 0..100 {
        drop(store.admit(crate::support::admission(&format!("r{n}"))));
    }
    drop(store);
    let runs = open(&path).runs(RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 100);
}

#[tokio::test]
async fn numbers_of_deleted_events_are_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    let lease = start(&store, "r1").await;
    let before = store.append(&lease, bulky(1)).await.unwrap().first_seq;
    let other = rusqlite::Connection::open(&path).unwrap();
    for round in 1..=3 {
        other.execute("DELETE FROM event", []).unwrap();
        // The row that keeps the newest number is not an event, and exists only once.
        assert_eq!(store.events(None, 0, 9).await.unwrap(), []);
        assert_eq!(store.events(Some(&lease.run), 0, 9).await.unwrap(), []);
        let rows = other.query_row("SELECT count(*) FROM event", [], |row| row.get(0));
        assert_eq!(rows, Ok(1));
        let after = store.append(&lease, bulky(1)).await.unwrap().first_seq;
        assert_eq!(after, before + round);
    }
}

fn pages(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len() / 4096
}

/// Opens a store with `log_pages` and writes at least `pages` pages.
async fn written(path: &Path, log_pages: u32, pages: usize) -> Sqlite {
    let options = SqliteOptions {
        log_pages,
        ..SqliteOptions::default()
    };
    let store = Sqlite::open(path, &options).unwrap();
    let lease = start(&store, "r1").await;
    for _ in 0..pages {
        store.append(&lease, bulky(4096)).await.unwrap();
    }
    store
}

async fn long_log(folder: &Path) {
    let path = folder.join("a.db");
    let _store = written(&path, 30, 500).await;
    // The log never gets much longer than four times its configured length.
    let [log, file] = [pages(&path.with_extension("db-wal")), pages(&path)];
    assert!(
        log < 150 && file > 400,
        "{log} pages of log, {file} of file"
    );
}

#[tokio::test]
async fn a_long_log_is_checkpointed_at_once() {
    long_log(tempfile::tempdir().unwrap().path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_checkpointed_by_the_committing_thread() {
    long_log(tempfile::tempdir().unwrap().path()).await;
}

#[tokio::test]
async fn a_long_log_is_checkpointed_when_idle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.db");
    // The schema alone exceeds the configured length, but not four times that.
    let _store = written(&path, 30, 1).await;
    let copied = async {
        while pages(&path) < 30 {
            tokio::task::yield_now().await;
        }
    };
    let timeout = std::time::Duration::from_secs(20);
    tokio::time::timeout(timeout, copied).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("deft.db"));
    admit(&store, "r1").await;
    for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", entry.path().display());
    }
}

#[tokio::test]
async fn a_newer_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    admit(&open(&path), "r1").await;
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 8).unwrap();
    let error = refusal(&path);
    let wanted = format!(
        "the database `{}` has format 8; this version of deft supports formats up to 7",
        path.display()
    );
    assert_eq!(error.to_string(), wanted);
    assert!(error.hint().is_some());
    other.pragma_update(None, "user_version", 7).unwrap();
    let run = open(&path).run(&RunId::new("r1")).await.unwrap();
    assert!(run.is_some());
}

/// Format 4 distinguished wait reasons by their first words; the migration gives them a kind.
#[tokio::test]
async fn reasons_of_an_older_format_get_a_kind() {
    let reasons = [
        ("tool: no model is configured", WaitKind::Tool),
        ("an answer: Really?", WaitKind::Answer),
        ("a wait until 2026-01-26T14:30:00Z", WaitKind::Time),
        ("a retry at 2026-01-26T14:30:00Z", WaitKind::Retry),
        ("its record to be stored", WaitKind::Record),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    for n in 0..reasons.len() {
        admit(&store, &format!("r{n}")).await;
    }
    drop(store);
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch("ALTER TABLE run DROP COLUMN waiting_kind; DROP INDEX event_pause; PRAGMA user_version = 4;")
        .unwrap();
    for (n, (text, _)) in reasons.iter().enumerate() {
        let sql = "UPDATE run SET status = 'waiting', waiting_for = ?2 WHERE id = ?1";
        old.execute(sql, (format!("r{n}"), text)).unwrap();
    }
    drop(old);
    let store = open(&path);
    for (n, (text, kind)) in reasons.into_iter().enumerate() {
        let run = store.run(&RunId::new(format!("r{n}"))).await.unwrap();
        let text = text.to_owned();
        assert_eq!(run.unwrap().waiting_for, Some(WaitReason { kind, text }));
    }
}

/// A list of more than two words in a check or a partial index is a tree of its own, which is made and dropped with every
/// row that is written.
#[test]
fn no_table_has_a_separate_key_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    drop(open(&path));
    let db = rusqlite::Connection::open(&path).unwrap();
    let strings = |sql: &str, column: &str| -> Vec<String> {
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(column)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' \
                  AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'word_%'";
    let tables = strings(tables, "name");
    assert!(tables.len() > 15, "{tables:?}");
    for table in tables {
        let codes = strings(
            &format!("EXPLAIN INSERT INTO {table} DEFAULT VALUES"),
            "opcode",
        );
        assert!(!codes.iter().any(|code| code == "OpenEphemeral"), "{table}");
    }
}

/// A file written by an older deft is migrated with its contents.
#[tokio::test]
async fn an_older_format_is_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../../src/sqlite/schema.sql"))
        .unwrap();
    let sql = "PRAGMA user_version = 1; INSERT INTO revision (id, content) VALUES ('h', 'kept');";
    old.execute_batch(sql).unwrap();
    drop(old);
    let store = open(&path);
    assert_eq!(store.revision("h").await.unwrap().as_deref(), Some("kept"));
    assert_eq!(store.notices(NoticeFilter::default()).await.unwrap(), []);
    assert_eq!(store.grants("any").await.unwrap(), []);
    let all = ConversationFilter::default();
    assert_eq!(store.conversations(all).await.unwrap(), []);
    admit(&store, "r1").await;
}

#[test]
fn foreign_files_are_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    let words = "not a database, by no means, however long it gets. ".repeat(100);
    std::fs::write(&text, &words).unwrap();
    let error = refusal(&text);
    assert_eq!(error, Error::NotADatabase { path: text.clone() });
    assert!(error.hint().is_some());
    assert_eq!(std::fs::read_to_string(&text).unwrap(), words);

    let other = folder.path().join("other.db");
    let db = rusqlite::Connection::open(&other).unwrap();
    db.execute("CREATE TABLE run (a)", []).unwrap();
    let before = std::fs::read(&other).unwrap();
    assert_eq!(
        refusal(&other),
        Error::NotOurs {
            path: other.clone()
        }
    );
    assert_eq!(std::fs::read(&other).unwrap(), before);
}

#[test]
fn a_missing_or_unreadable_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/deft.db");
    let error = refusal(&missing);
    assert!(matches!(error, Error::NoAccess { .. }), "{error}");
    assert!(error.hint().is_some());
    // No user can write to this folder, not even root.
    let closed = refusal(Path::new("/proc/self/deft.db"));
    assert!(matches!(closed, Error::NoAccess { .. }), "{closed}");
    let itself = refusal(folder.path());
    assert!(matches!(itself, Error::NoAccess { .. }), "{itself}");
}

#[tokio::test]
async fn a_completion_notice_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    let lease = start(&store, "r1").await;
    let notice = || Write::Notice {
        key: "mail".to_owned(),
        body: "{}".to_owned(),
        at: at(1),
    };
    let batch = Batch {
        writes: vec![notice(), notice()],
        ..Batch::default()
    };
    store.append(&lease, batch.clone()).await.unwrap();
    store.append(&lease, batch).await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    let count = |sql: &str| other.query_row(sql, [], |row| row.get::<_, i64>(0));
    assert_eq!(count("SELECT count(*) FROM outbox").unwrap(), 1);
}

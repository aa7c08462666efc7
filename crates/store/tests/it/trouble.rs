//! Locks and full disks: distinct errors, no lost data, and full recovery.

use deft_model::RunId;
use deft_store::prelude::*;
use deft_store::{Error, RunFilter, Sqlite, SqliteOptions};

use crate::support::{admission, admit, bulky, open, short_timeout_options, start};

#[tokio::test]
async fn a_lock_of_another_process_is_reported_until_released() {
    lock_of_another_process().await;
}

/// The first commit is tried on this thread, and passed to the writer because the file is locked.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_lock_is_reported_to_the_committing_thread() {
    lock_of_another_process().await;
}

async fn lock_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    admit(&store, "r1").await;
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let answers = ["r2", "r3"].map(|run| store.admit(admission(run)));
    for answer in answers {
        let error = answer.await.unwrap_err();
        assert_eq!(error, Error::Locked { path: path.clone() });
        assert!(error.hint().is_some());
    }
    // Reads still work.
    assert!(store.run(&RunId::new("r1")).await.unwrap().is_some());
    other.execute_batch("COMMIT").unwrap();
    admit(&store, "r2").await;
    let runs = store.runs(RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 2);
}

#[tokio::test]
async fn a_locked_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = Sqlite::open(&path, &short_timeout_options()).err();
    assert_eq!(error, Some(Error::Locked { path: path.clone() }));
    other.execute_batch("ROLLBACK").unwrap();
    admit(&open(&path), "r1").await;
}

#[tokio::test]
async fn a_full_disk_loses_no_data() {
    full_disk().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_full_disk_is_reported_to_the_committing_thread() {
    full_disk().await;
}

/// Limits the size of the file: writes that need space fail, all other requests succeed.
async fn full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    drop(open(&path));
    let options = SqliteOptions {
        max_pages: Some(80),
        ..short_timeout_options()
    };
    let store = Sqlite::open(&path, &options).unwrap();
    let lease = start(&store, "r1").await;
    let mut stored = 0;
    let error = loop {
        match store.append(&lease, bulky(10_000)).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::Full { path: path.clone() });
    assert!(error.hint().is_some());
    assert!(stored > 3);
    // Of several concurrent writes, those without space fail and the others are stored.
    let answers: Vec<_> = (0..6)
        .map(|n| store.append(&lease, bulky(if n % 2 == 0 { 100_000 } else { 1 })))
        .collect();
    for answer in answers {
        match answer.await {
            Ok(_) => stored += 1,
            Err(error) => assert_eq!(error, Error::Full { path: path.clone() }),
        }
    }
    let events = store.events(None, 0, 1000).await.unwrap();
    assert_eq!(events.len(), stored);
    // Frees space.
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute("DELETE FROM event WHERE seq < 4", [])
        .unwrap();
    drop(other);
    store.append(&lease, bulky(10_000)).await.unwrap();
    let left = store.events(None, 0, 1000).await.unwrap();
    assert_eq!(left.len(), stored - 3 + 1);
}

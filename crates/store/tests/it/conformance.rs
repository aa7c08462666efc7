//! The conformance suite over both backends.

use deft_store::{Sqlite, SqliteOptions};
use deft_store_testkit::{Memory, conformance};

#[tokio::test]
async fn memory_keeps_the_rules() {
    conformance::check(Memory::new).await;
}

#[tokio::test]
async fn sqlite_keeps_the_rules() {
    sqlite().await;
}

/// On a multi-threaded runtime, a caller without other waiters commits on its own thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn sqlite_keeps_the_rules_on_the_calling_thread() {
    sqlite().await;
}

async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    conformance::check(|| {
        count.set(count.get() + 1);
        let path = folder.path().join(format!("{}.db", count.get()));
        Sqlite::open(&path, &SqliteOptions::default()).unwrap()
    })
    .await;
}

//! Several users of one file: two stores, and another process.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;

use deft_store::prelude::*;
use deft_store::{RunFilter, Sqlite, SqliteOptions};

use crate::support::{admit, bulky, claim_request, start};

/// The variable with the path of the file for the other process. Only the test below sets it.
const FILE: &str = "DEFT_STORE_TEST_FILE";

fn open(path: &Path) -> Arc<Sqlite> {
    Arc::new(Sqlite::open(path, &SqliteOptions::default()).unwrap())
}

/// Claims runs until none is due.
async fn claim_all(store: Arc<Sqlite>, owner: String) -> Vec<String> {
    let mut claimed = Vec::new();
    while let Some(run) = store.claim(claim_request(&owner)).await.unwrap() {
        claimed.push(run.run.id.to_string());
    }
    claimed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_claim_each_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let stores = [open(&path), open(&path)];
    for n in 0..200 {
        admit(&*stores[0], &format!("r{n}")).await;
    }
    let tasks: Vec<_> = (0..4)
        .map(|n| tokio::spawn(claim_all(Arc::clone(&stores[n % 2]), format!("owner{n}"))))
        .collect();
    let mut claimed = Vec::new();
    for task in tasks {
        claimed.extend(task.await.unwrap());
    }
    assert_eq!(claimed.len(), 200);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 200);
}

#[tokio::test]
async fn each_store_sees_that_the_other_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let (one, other) = (open(&path), open(&path));
    let before = one.version().await.unwrap();
    admit(&*other, "r1").await;
    let after = one.version().await.unwrap();
    assert_ne!(before, after);
    assert_eq!(one.version().await.unwrap(), after);
    assert_eq!(one.runs(RunFilter::default()).await.unwrap().len(), 1);
}

#[test]
fn many_threads_can_create_the_file_at_once() {
    // A new file each time: races occur only while the file is being created.
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deft.db");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| drop(open(&path)));
            }
        });
    }
}

/// Starts this test program as another process that runs one test.
fn another_process(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sharing::the_other_process"])
        .env(FILE, path)
        .spawn()
        .unwrap()
}

/// Does nothing unless this is the other process.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "how the other process learns of the file"
)]
async fn the_other_process() {
    let Ok(path) = std::env::var(FILE) else {
        return;
    };
    let store = open(Path::new(&path));
    let lease = start(&*store, "other").await;
    for _ in 0..200 {
        store.append(&lease, bulky(100)).await.unwrap();
    }
    claim_all(store, "other".to_owned()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_processes_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let store = open(&path);
    for n in 0..200 {
        admit(&*store, &format!("r{n}")).await;
    }
    let mut other = another_process(&path);
    // This process keeps its writer busy, but the other process still gets its turn.
    let busy: Vec<_> = (0..8)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let lease = start(&*store, &format!("busy{n}")).await;
                for _ in 0..300 {
                    store.append(&lease, bulky(100)).await.unwrap();
                }
            })
        })
        .collect();
    let claimed = claim_all(Arc::clone(&store), "me".to_owned()).await;
    for task in busy {
        task.await.unwrap();
    }
    let ended = tokio::task::spawn_blocking(move || other.wait().unwrap());
    assert!(ended.await.unwrap().success());
    let runs = store.runs(RunFilter::default()).await.unwrap();
    let owned = |owner: &str| {
        let owned = runs
            .iter()
            .filter(|run| run.owner.as_deref() == Some(owner));
        owned.filter(|run| run.id.as_str().starts_with('r')).count()
    };
    assert_eq!(owned("me"), claimed.len());
    assert_eq!(owned("me") + owned("other"), 200);
    let events = store.events(None, 0, 10_000).await.unwrap();
    assert_eq!(events.len(), 8 * 300 + 200);
    assert!(events.is_sorted_by(|a, b| a.seq < b.seq));
}

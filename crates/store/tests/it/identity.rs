//! A database that is deleted, replaced or overwritten while open is not used any further.

use std::fs;
use std::path::{Path, PathBuf};

use deft_model::RunId;
use deft_store::prelude::*;
use deft_store::{Batch, Error, FileChange, Sqlite, SqliteOptions};
use tokio::task::JoinSet;

use crate::support::{admission, admit, open, short_timeout_options, start};

fn log(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

/// Modifies the files of an open store and returns the errors of two writes and a read after that.
async fn change(harm: impl FnOnce(&Path)) -> [Option<Error>; 3] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("deft.db");
    let store = open(&path);
    let lease = start(&store, "r1").await;
    harm(&path);
    let appended = store.append(&lease, Batch::default()).await.err();
    let admitted = store.admit(admission("r2")).await.err();
    let read = store.run(&RunId::new("r1")).await.err();
    drop(store);
    // Nothing was written to the file now at the path.
    if path.exists() && log(&path).exists() {
        let now = Sqlite::open(&path, &short_timeout_options());
        if let Ok(now) = now {
            assert_eq!(now.run(&RunId::new("r2")).await.unwrap(), None);
        }
    }
    [appended, admitted, read].map(|error| error.map(|error| relative(error, folder.path())))
}

/// Replaces the path in the error by the file name.
fn relative(error: Error, folder: &Path) -> Error {
    match error {
        Error::FileChanged { path, change } => {
            let folder = folder.canonicalize().unwrap();
            let path = path.strip_prefix(folder).unwrap().to_path_buf();
            Error::FileChanged { path, change }
        }
        other => other,
    }
}

fn changed(name: &str, change: FileChange) -> [Option<Error>; 3] {
    [(); 3].map(|()| {
        Some(Error::FileChanged {
            path: name.into(),
            change,
        })
    })
}

#[tokio::test]
async fn a_deleted_file_refuses_reads_and_writes() {
    let errors = change(|path| fs::remove_file(path).unwrap()).await;
    assert_eq!(errors, changed("deft.db", FileChange::Deleted));
}

/// Commits are made on the calling thread here.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_deleted_file_refuses_writes_of_the_committing_thread() {
    let errors = change(|path| fs::remove_file(path).unwrap()).await;
    assert_eq!(errors, changed("deft.db", FileChange::Deleted));
}

#[tokio::test]
async fn a_replaced_file_refuses_reads_and_writes() {
    let errors = change(|path| {
        let copy = path.with_extension("copy");
        fs::copy(path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    })
    .await;
    assert_eq!(errors, changed("deft.db", FileChange::Replaced));
}

/// The file keeps its inode, as with `cp backup deft.db`.
#[tokio::test]
async fn an_overwritten_file_refuses_reads_and_writes() {
    let backup = tempfile::tempdir().unwrap();
    let backup = backup.path().join("backup.db");
    let other = open(&backup);
    admit(&other, "old").await;
    drop(other);
    let errors = change(|path| {
        assert!(fs::copy(&backup, path).unwrap() > 0);
    })
    .await;
    assert_eq!(errors, changed("deft.db", FileChange::Overwritten));
}

#[tokio::test]
async fn an_emptied_file_refuses_reads_and_writes() {
    let errors = change(|path| fs::write(path, "").unwrap()).await;
    assert_eq!(errors, changed("deft.db", FileChange::Overwritten));
}

/// An older copy of the same database is restored after checkpoints by the process itself.
#[tokio::test]
async fn a_restored_backup_is_detected_after_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("deft.db");
    let backup = folder.path().join("backup.db");
    let store = small_log(&path);
    for nth in 0..200 {
        admit(&store, &format!("r{nth}")).await;
        if nth == 100 {
            fs::copy(&path, &backup).unwrap();
        }
    }
    assert_ne!(fs::read(&path).unwrap(), fs::read(&backup).unwrap());
    fs::copy(&backup, &path).unwrap();
    let error = store.admit(admission("after")).await.unwrap_err();
    let change = FileChange::Overwritten;
    assert_eq!(error, Error::FileChanged { path, change });
}

/// Opens a store that copies its log into the file every few commits.
fn small_log(path: &Path) -> Sqlite {
    let options = SqliteOptions {
        log_pages: 4,
        ..short_timeout_options()
    };
    Sqlite::open(path, &options).unwrap()
}

/// Checkpoints of one connection must not look like a foreign write to another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn checkpoints_are_not_mistaken_for_foreign_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let options = SqliteOptions {
        log_pages: 4,
        ..SqliteOptions::default()
    };
    let mut working = JoinSet::new();
    for who in 0..4 {
        let store = Sqlite::open(&path, &options).unwrap();
        working.spawn(async move {
            for nth in 0..100 {
                let run = format!("{who}-{nth}");
                store.admit(admission(&run)).await.unwrap();
                assert!(store.run(&RunId::new(run)).await.unwrap().is_some());
            }
        });
    }
    working.join_all().await;
}

#[tokio::test]
async fn a_deleted_log_is_detected() {
    let errors = change(|path| fs::remove_file(log(path)).unwrap()).await;
    assert_eq!(errors, changed("deft.db-wal", FileChange::Deleted));
}

#[tokio::test]
async fn a_deleted_folder_is_a_deleted_file() {
    let errors = change(|path| {
        for entry in fs::read_dir(path.parent().unwrap()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    })
    .await;
    assert_eq!(errors, changed("deft.db", FileChange::Deleted));
}

#[tokio::test]
async fn a_link_to_the_file_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("real.db");
    let link = folder.path().join("deft.db");
    drop(open(&path));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let store = open(&link);
    admit(&store, "r1").await;
    fs::remove_file(&path).unwrap();
    let error = store.admit(admission("r2")).await.unwrap_err();
    let change = FileChange::Deleted;
    assert_eq!(error, Error::FileChanged { path, change });
    assert!(error.hint().is_some());
}

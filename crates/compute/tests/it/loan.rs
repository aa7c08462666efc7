//! Lending a worker: a command next to a daemon starts no interpreter of its own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use deft_compute::{Compute, Error, Limits, Options};

use crate::support::{block, children_of, compute, value, wait_for};

fn options(program: &str) -> Options {
    Options {
        program: program.into(),
        args: Vec::new(),
        limits: Limits::default(),
    }
}

/// Starts a lender with its own socket.
async fn lender(name: &str) -> (Compute, PathBuf) {
    let place = std::env::temp_dir().join(format!("deft-loan-{name}-{}", std::process::id()));
    let lender = compute();
    tokio::spawn({
        let (lender, place) = (lender.clone(), place.clone());
        async move { lender.lend(&place).await }
    });
    wait_for("a socket", || {
        std::fs::metadata(&place).is_ok_and(|file| file.permissions().mode() & 0o777 == 0o600)
    })
    .await;
    (lender, place)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_program_uses_a_lent_worker() {
    let (lender, place) = lender("same").await;
    let ours = env!("CARGO_BIN_EXE_compute-worker");
    let borrower = Compute::with_borrowed_worker(options(ours), place.clone());
    let mut session = borrower.session();
    let code = "import json\nresult = json.loads('[2]')";
    let got = session.run(block(code), None).await.unwrap().value;
    assert_eq!(got, serde_json::json!([2]));
    assert_eq!(borrower.worker_id(), None);
    let worker = lender.worker_id().unwrap();
    assert_eq!(children_of(worker).len(), 1);
    // The child ends with the session, the worker stays.
    drop(session);
    wait_for("no child", || children_of(worker).is_empty()).await;
    borrower.shutdown().await;
    assert_eq!(value(&lender, "result = 3").await.unwrap(), 3);
    assert_eq!(lender.worker_id(), Some(worker));
    // A lender that has ended leaves its socket behind; the borrower then starts its own worker.
    lender.shutdown().await;
    assert_eq!(value(&borrower, "result = 4").await.unwrap(), 4);
    drop(std::fs::remove_file(place));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_starts_its_own() {
    let (lender, place) = lender("other").await;
    let other = Compute::with_borrowed_worker(options("/bin/false"), place.clone());
    let error = value(&other, "result = 1").await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error}");
    assert_eq!(value(&lender, "result = 1").await.unwrap(), 1);
    drop(std::fs::remove_file(place));
}

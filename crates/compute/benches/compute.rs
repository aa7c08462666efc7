//! The time to a value: with a cold worker, as the first job of a session, and later in a session.
//!
//! Limits: cold 120 ms, first of a session 10 ms, later 1 ms. They apply to a release build.

use std::cell::RefCell;
use std::time::Duration;

use deft_compute::{Compute, Job, Kind, Limits, Options, Session};
use deft_model::Object;
use divan::Bencher;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

const BRANCH: &str = r#"issue_type = issue_data.get("type", "task").lower()
summary = issue_data.get("summary", "work")[:40]
slug = summary.lower().replace(" ", "-").replace("/", "-")
result = f"{inputs.branch_prefix}/{inputs.issue_key}-{slug}"
"#;

const NOW: &str = r#"import json
from datetime import datetime
result = {"at": datetime.now().isoformat(), "data": json.dumps(inputs)}
"#;

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.unwrap_or_else(|error| panic!("no runtime: {error}"))
}

fn compute() -> Compute {
    Compute::new(Options {
        program: env!("CARGO_BIN_EXE_compute-worker").into(),
        args: Vec::new(),
        limits: Limits {
            time: Duration::from_secs(30),
            ..Limits::default()
        },
    })
}

/// Returns a scope with a large value that the code does not read.
fn scope() -> Object {
    let rows: Vec<_> = (0..2000)
        .map(|row| json!({"row": row, "text": "x".repeat(50)}))
        .collect();
    let scope = json!({
        "inputs": {"branch_prefix": "feature", "issue_key": "AAP-12345"},
        "issue_data": {"type": "Story", "summary": "Fix login/logout flow when a token expires"},
        "unread": rows,
    });
    scope.as_object().cloned().unwrap_or_default()
}

async fn run(session: &mut Session, kind: Kind, code: &str, scope: &Object) {
    let job = Job::new(kind, code, scope.clone());
    let output = session.run(job, None).await;
    divan::black_box(output.unwrap_or_else(|error| panic!("{error}")));
}

/// Starts the worker and waits for the first value.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn cold(bencher: Bencher) {
    let (runtime, scope) = (runtime(), scope());
    bencher.bench_local(|| {
        runtime.block_on(async {
            let compute = compute();
            run(&mut compute.session(), Kind::Block, BRANCH, &scope).await;
            compute
        })
    });
}

/// The worker is running; the child has to be forked.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn first_of_session(bencher: Bencher) {
    let (runtime, scope, compute) = (runtime(), scope(), compute());
    runtime.block_on(run(
        &mut compute_session(&runtime, &compute),
        Kind::Block,
        BRANCH,
        &scope,
    ));
    bencher.bench_local(|| {
        let mut session = compute.session();
        runtime.block_on(run(&mut session, Kind::Block, BRANCH, &scope));
        session
    });
}

/// The child is running.
#[divan::bench(args = ["1 + 1", "branch", "now", "condition"], sample_count = 500, sample_size = 1)]
fn later(bencher: Bencher, what: &str) {
    let (kind, code) = match what {
        "branch" => (Kind::Block, BRANCH),
        "now" => (Kind::Block, NOW),
        "condition" => (Kind::Condition, "issue_data.get('type') == 'Story'"),
        _ => (Kind::Block, "result = 1 + 1"),
    };
    let (runtime, scope, compute) = (runtime(), scope(), compute());
    let session = RefCell::new(compute_session(&runtime, &compute));
    bencher.bench_local(|| {
        runtime.block_on(run(&mut session.borrow_mut(), kind, code, &scope));
    });
}

fn compute_session(runtime: &Runtime, compute: &Compute) -> Session {
    let mut session = compute.session();
    runtime.block_on(run(&mut session, Kind::Block, NOW, &scope()));
    session
}

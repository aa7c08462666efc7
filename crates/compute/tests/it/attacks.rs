//! Hostile code: it must not read, write, start or outlive anything, and the next session must work.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deft_compute::{Compute, Error, Kind, Output};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::support::{block, cases_folder, children_of, compute, corpus, job, text, wait_for};

/// The time limit of an attack; many attacks run until it expires.
const TIME: Duration = Duration::from_millis(900);

/// The number of attacks that run at once.
const WIDTH: usize = 3;

/// Text that no attack may obtain: the first line of `/etc/passwd`, names in the root folder, the
/// environment of the tests, the output of `id`.
const SECRETS: [&str; 6] = ["root:x:", "\"etc\"", "'etc'", "CARGO", "LD_LIBRARY", "uid="];

/// S3.33.
#[tokio::test]
async fn plain_attacks_are_survived() {
    let file = corpus("attacks.json");
    let attacks = file["attacks"].as_array().unwrap().iter();
    let attacks = attacks.map(|attack| (text(attack, "name").into(), text(attack, "code").into()));
    run_attacks(attacks.collect(), context()).await;
}

/// S3.33.
#[tokio::test]
async fn devious_attacks_are_survived() {
    let text = std::fs::read_to_string(cases_folder().join("attacks.txt")).unwrap();
    let attacks: Vec<(String, String)> = text
        .split("=== ")
        .filter_map(|attack| attack.split_once('\n'))
        .map(|(name, code)| (name.to_owned(), code.to_owned()))
        .collect();
    assert!(attacks.len() >= 40);
    run_attacks(attacks, context()).await;
    let canary = |entry: std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("deft-compute-canary").then_some(name)
    };
    let written: Vec<String> = std::fs::read_dir(Path::new("/tmp"))
        .unwrap()
        .filter_map(|entry| canary(entry.unwrap()))
        .collect();
    assert!(written.is_empty(), "{written:?}");
}

fn context() -> Value {
    corpus("battery.json")["ctx"].clone()
}

/// Runs each attack in its own session, followed by a healthy one.
async fn run_attacks(attacks: Vec<(String, String)>, context: Value) {
    let compute = compute();
    let gate = Arc::new(Semaphore::new(WIDTH));
    let mut running = JoinSet::new();
    for (name, code) in attacks {
        let (compute, gate, context) = (compute.clone(), gate.clone(), context.clone());
        running.spawn(async move {
            let _turn = gate.acquire().await.unwrap();
            let fault = attack(&compute, &code, &context).await.err();
            fault.map_or_else(|| Ok(name.clone()), |fault| Err(format!("{name}: {fault}")))
        });
    }
    let mut failed = Vec::new();
    let mut count = 0;
    while let Some(done) = running.join_next().await {
        count += 1;
        failed.extend(done.unwrap().err());
    }
    assert!(
        failed.is_empty(),
        "{} of {count}:\n{}",
        failed.len(),
        failed.join("\n")
    );
    // All sessions and children have ended, and no other process was started.
    let worker = compute.worker_id().unwrap();
    wait_for("no children", || children_of(worker).is_empty()).await;
}

async fn attack(compute: &Compute, code: &str, context: &Value) -> Result<(), String> {
    let started = Instant::now();
    let mut session = compute.session();
    let got = session
        .run(job(Kind::Block, code, context), Some(TIME))
        .await;
    let took = started.elapsed();
    let shown = format!("{got:?}");
    if let Some(secret) = SECRETS.iter().find(|secret| shown.contains(**secret)) {
        return Err(format!("got hold of {secret}: {}", clip(&shown)));
    }
    if took > TIME * 8 {
        return Err(format!("took {took:?}: {}", clip(&shown)));
    }
    if let Err(Error::Unavailable { why }) = &got {
        return Err(format!("made the worker unavailable: {why}"));
    }
    outcome(code, &got);
    // In the same session and in a new one.
    for mut session in [session, compute.session()] {
        let one = session.run(block("result = 1 + 1"), None).await;
        if !one.as_ref().is_ok_and(|one| one.value == 2) {
            return Err(format!("after {}: {one:?}", clip(&shown)));
        }
    }
    Ok(())
}

/// Prints the result with `--nocapture`, to show which attacks end by a limit.
fn outcome(code: &str, got: &Result<Output, Error>) {
    let shown = match got {
        Ok(output) => format!("value {}", clip(&output.value.to_string())),
        Err(error) => clip(&error.to_string()),
    };
    println!("{shown}   <- {}", code.lines().last().unwrap_or_default());
}

fn clip(text: &str) -> String {
    text.chars().take(300).collect()
}

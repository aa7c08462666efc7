//! Two processes whose agents share a budget only through the database: they stay within the limit, except
//! for calls in flight that exceed their reservations.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use deft_model::{Outcome, Usage};
use deft_store::prelude::*;
use deft_store::{RunFilter, SpentFilter, Sqlite, SqliteOptions};
use deft_testkit::{Script, server_binary};
use serde_json::json;

use crate::crash::example;

/// How many runs each of two processes fires at once.
const EACH: u64 = 10;

const SPENDS: &str = "\
name: spends
description: d
inputs:
  - {name: kind, type: string, required: true}
  - {name: turns, type: string, required: true}
steps:
  - {id: mind, agent: \"{{ inputs.kind }} {{ inputs.turns }}\", tools: [look]}
";

/// The result of a race: the tokens spent, and the finished and refused runs of each process.
struct RaceResult {
    spent: u64,
    through: usize,
    refused: usize,
    processes: usize,
}

async fn race(kind: &str, limit: u64) -> RaceResult {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("skills")).unwrap();
    fs::write(home.path().join("skills/spends.yaml"), SPENDS).unwrap();
    fs::write(home.path().join("race"), format!("{kind} {limit}")).unwrap();
    let look = json!({"annotations": {"readOnlyHint": true}, "text": "seen"});
    let arguments = Script::new().tool("look", look).write(home.path(), "world");
    let start = || {
        Command::new(example("crash_driver"))
            .arg("spenders")
            .arg(home.path())
            .arg(server_binary())
            .arg(EACH.to_string())
            .args(arguments.list())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut processes = [start(), start()];
    processes.iter_mut().for_each(wait_until_ready);
    for process in &mut processes {
        let mut told = process.stdin.take().unwrap();
        told.write_all(b"go\n").unwrap();
    }
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    let database = home.path().join("deft.db");
    raced(&Sqlite::open(&database, &SqliteOptions::default()).unwrap()).await
}

fn wait_until_ready(process: &mut Child) {
    let mut line = String::new();
    let mut said = BufReader::new(process.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
}

/// Compares the rows of all runs with the ledger.
async fn raced(store: &Sqlite) -> RaceResult {
    let runs = store.runs(RunFilter::default()).await.unwrap();
    assert_eq!(runs.len() as u64, 2 * EACH);
    let (mut through, mut refused, mut used) = (0, 0, Usage::default());
    let mut processes = std::collections::BTreeSet::new();
    for run in &runs {
        let usage = run.usage.as_deref();
        let usage: Option<Usage> = usage.map(|usage| serde_json::from_str(usage).unwrap());
        match (run.outcome, usage) {
            (Some(Outcome::Success), Some(_)) => through += 1,
            (Some(Outcome::Error), Some(_)) | (Some(Outcome::Skipped), None) => refused += 1,
            other => panic!("{other:?}: {run:?}"),
        }
        let usage = usage.unwrap_or_default();
        used.input_tokens += usage.input_tokens;
        used.output_tokens += usage.output_tokens;
        used.cost_usd += usage.cost_usd;
        used.llm_calls += usage.llm_calls;
        processes.insert(run.cause.to_string());
    }
    let rows = store.list_spent(SpentFilter::default()).await.unwrap();
    for row in &rows {
        let held = (row.reserved_tokens, row.reserved_micros);
        assert_eq!(held, (0, 0), "{row:?}");
    }
    let all = rows.iter().find(|row| row.scope.starts_with("all@"));
    let all = all.unwrap();
    assert_eq!(all.usage(), used, "rows say what the ledger says");
    RaceResult {
        spent: all.tokens_in + all.tokens_out,
        through,
        refused,
        processes: processes.len(),
    }
}

#[tokio::test]
async fn two_processes_stay_within_one_budget() {
    // Each answer takes 150 tokens, less than is reserved for it.
    let limit = 5_000;
    let raced = race("modest", limit).await;
    let RaceResult { spent, .. } = raced;
    assert!(spent <= limit, "{spent} of {limit} were spent");
    assert!(raced.through > 0 && raced.refused > 0, "both must happen");
    assert_eq!(raced.processes, 2);
}

#[tokio::test]
async fn two_processes_overspend_only_by_calls_in_flight() {
    // Each answer takes 2050 tokens, far more than is reserved for it.
    let (limit, answer) = (30_000, 2050);
    let raced = race("greedy", limit).await;
    let RaceResult { spent, .. } = raced;
    let most = limit + 2 * EACH * answer;
    assert!(spent <= most, "{spent} of {limit} were spent");
    assert!(spent * 2 > limit, "{spent}: most was left unused");
    assert!(raced.through > 0 && raced.refused > 0, "both must happen");
    assert_eq!(raced.processes, 2);
}

//! This crate's own snippets: ordinary Python, with the values that `CPython` returned.

use std::process::Command;

use deft_compute::Kind;
use serde_json::{Value, json};

use crate::battery::same;
use crate::support::{cases, cases_folder, compute, job};

#[tokio::test]
async fn snippets_give_the_results_of_cpython() {
    let context = cases("context.json");
    let expected = cases("expected.json");
    let compute = compute();
    let mut session = compute.session();
    let mut failed = Vec::new();
    let snippets = snippets();
    for (name, kind, code) in &snippets {
        let got = session.run(job(*kind, code, &context), None).await;
        let got = got.map(|output| output.value);
        if !got.as_ref().is_ok_and(|value| same(value, &expected[name])) {
            let expected = &expected[name];
            failed.push(format!("{name}:\n  got {got:?}\n  not {expected}"));
        }
    }
    let (count, all) = (failed.len(), snippets.len());
    assert!(
        failed.is_empty(),
        "{count} of {all}:\n{}",
        failed.join("\n")
    );
    assert!(all >= 60);
}

#[test]
fn the_recorded_values_are_those_of_cpython() {
    let script = cases_folder().join("record.py");
    let checked = Command::new("python3")
        .arg(script)
        .arg("--check")
        .env("PYTHONUTF8", "1")
        .output()
        .expect("python3 must be installed");
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

#[tokio::test]
async fn the_compute_blocks_of_the_seed_run_unchanged() {
    // The blocks named `own_…` in `tests/corpus/battery.json` cover the same Python.
    let Some(seed) = deft_testkit::find_shared("seeds/003_05a37b41105d180e.txt") else {
        return;
    };
    let blocks = blocks(&std::fs::read_to_string(seed).unwrap());
    assert_eq!(blocks.len(), 5);
    let context = seed_context();
    let compute = compute();
    for block in blocks {
        let got = compute
            .session()
            .run(job(Kind::Block, &block, &context), None)
            .await;
        assert!(
            got.as_ref().is_ok_and(|got| got.value != Value::Null),
            "{block}\n{got:?}"
        );
    }
}

/// The names that the seed's blocks read.
fn seed_context() -> Value {
    json!({
        "inputs": {"issue_key": "OPS-77", "branch_prefix": "topic"},
        "issue_data": {"type": "Task", "summary": "Paint the hall"},
        "create_branch": "fatal: timeout",
        "tool_result": "404 not found",
        "pods": [{"name": "a", "status": "Running"}, {"name": "b", "status": "Pending"}],
        "items": [1, 2],
    })
}

/// Returns the literal blocks after `compute: |`, without their indentation.
fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    let indent = |line: &str| line.len() - line.trim_start().len();
    while let Some(line) = lines.next() {
        if line.trim() != "compute: |" {
            continue;
        }
        let mut block = String::new();
        while let Some(next) =
            lines.next_if(|next| next.trim().is_empty() || indent(next) > indent(line))
        {
            block.push_str(next.get(indent(line) + 2..).unwrap_or_default());
            block.push('\n');
        }
        found.push(block);
    }
    found
}

fn snippets() -> Vec<(String, Kind, String)> {
    let text = std::fs::read_to_string(cases_folder().join("snippets.txt")).unwrap();
    let mut found: Vec<(String, Kind, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix("=== "), found.last_mut()) {
            (Some(name), _) => {
                let kind = match name.get(..2) {
                    Some("C ") => Kind::Condition,
                    Some("E ") => Kind::Expression,
                    _ => Kind::Block,
                };
                found.push((name.trim().to_owned(), kind, String::new()));
            }
            (None, Some((_, _, code))) => code.push_str(line),
            (None, None) => panic!("code before the first heading"),
        }
    }
    found
}

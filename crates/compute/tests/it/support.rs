//! Helpers of the tests: a worker, jobs, and the files with cases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deft_compute::{Compute, Error, Job, Kind, Limits, Options, Output};
use serde_json::{Map, Value};

/// Creates a handle to a new worker with the default limits.
pub(crate) fn compute() -> Compute {
    with_limits(Limits::default())
}

pub(crate) fn with_limits(limits: Limits) -> Compute {
    Compute::new(Options {
        program: env!("CARGO_BIN_EXE_compute-worker").into(),
        args: Vec::new(),
        limits,
    })
}

/// Returns a job at a fixed time.
pub(crate) fn job(kind: Kind, code: &str, scope: &Value) -> Job {
    let mut job = Job::new(kind, code, scope.as_object().cloned().unwrap_or_default());
    job.now = "2026-11-15T08:30:00.25Z".parse().unwrap();
    job.seed = 7;
    job
}

pub(crate) fn block(code: &str) -> Job {
    job(Kind::Block, code, &Value::Object(Map::new()))
}

/// Returns the value of a block in a new session.
pub(crate) async fn value(compute: &Compute, code: &str) -> Result<Value, Error> {
    let output: Result<Output, Error> = compute.session().run(block(code), None).await;
    output.map(|output| output.value)
}

/// The time limit of jobs in tests that let it expire.
pub(crate) const SHORT: Option<Duration> = Some(Duration::from_millis(1500));

/// Reads a file of snippets or attacks, with their context.
pub(crate) fn corpus(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    read(&Path::new(folder).join(name))
}

/// Reads a file of this crate's own cases.
pub(crate) fn cases(name: &str) -> Value {
    read(&cases_folder().join(name))
}

pub(crate) fn cases_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn read(path: &Path) -> Value {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("no `{key}` in {value}"))
}

/// Waits until a condition holds; fails if it does not within a few seconds.
pub(crate) async fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..400 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}: not within four seconds");
}

/// Returns the processes with the given parent.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process may end during the search.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let after_name = stat.rsplit_once(')').unwrap().1;
        let mut fields = after_name.split_whitespace();
        let (state, parent_now) = (fields.next().unwrap(), fields.next().unwrap());
        if state != "Z" && parent_now.parse() == Ok(parent) {
            found.push(pid);
        }
    }
    found
}

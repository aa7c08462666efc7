//! How the time of a block grows with its data, compared with the installed python3 in the same run.
//!
//! Limits at 80,000 elements: ten times `CPython`'s time, and no steeper growth from 10,000 elements on.
//! Growth is the exponent `e` in `time = c * n^e` between the two sizes: 1 is linear, 2 quadratic. Two runs
//! of `CPython` itself differ by up to 0.1, so only a larger difference counts as steeper. The limits apply
//! to a release build, which `cargo bench -p deft-compute --all-features --bench growth` makes. Without
//! `--bench` each case runs once with little data, to check that it works.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deft_compute::{Compute, Job, Kind, Limits, Options, Session};
use deft_model::Object;
use serde_json::Value;

/// By how much an exponent may exceed that of `CPython` by chance.
const NOISE: f64 = 0.1;

/// Runs of each case, of which the fastest counts. `CPYTHON` uses the same number.
const RUNS: usize = 9;

/// The cases to time; the line before each sets `n`.
const CASES: [(&str, &str); 12] = [
    (
        "sort ints",
        "x = [(i * 7919) % 100003 for i in range(n)]\nfor _ in range(3): y = sorted(x)\nresult = y[5]",
    ),
    (
        "sort by key",
        "x = [{'k': str((i * 7919) % 100003)} for i in range(n)]\nx.sort(key=lambda d: d['k'])\nresult = x[5]['k']",
    ),
    (
        "regex findall",
        "import re\nt = '\\n'.join(f'2026-11-15 ERROR code={i} é' for i in range(n))\nresult = len(re.findall(r'(\\w+) code=(\\d+)', t))",
    ),
    (
        "regex sub",
        "import re\nt = 'a1 ' * n\nresult = len(re.sub(r'\\d', 'x', t))",
    ),
    (
        "split",
        "t = 'word é ' * n\nresult = len(t.split()) + len(t.split('é'))",
    ),
    (
        "index",
        "t = 'é' * n\ns = 0\nfor i in range(n):\n    s += t[i] == 'é'\nresult = s",
    ),
    (
        "json",
        "import json\nx = [{'id': i, 'name': f'n{i}', 'on': True} for i in range(n)]\nresult = len(json.loads(json.dumps(x)))",
    ),
    (
        "dict",
        "d = {}\nfor i in range(n):\n    k = f'k{i % 1000}'\n    d[k] = d.get(k, 0) + i\nresult = len(d)",
    ),
    (
        "dict of many",
        "d = {str(i): i for i in range(n)}\nresult = sum(d[str(i)] for i in range(n))",
    ),
    ("join", "result = len(''.join([str(i) for i in range(n)]))"),
    (
        "s += in a block",
        "s = ''\nfor i in range(n):\n    s += 'x'\nresult = len(s)",
    ),
    (
        "s += in a function",
        "def f(n):\n    s = ''\n    for i in range(n):\n        s += f'{i},'\n    return len(s)\nresult = f(n)",
    ),
];

/// Runs the cases from standard input in `CPython` and prints the seconds of each.
const CPYTHON: &str = r"
import json, sys, time
for case in json.load(sys.stdin):
    best = 1e9
    for _ in range(9):
        begun = time.perf_counter()
        exec(case, {})
        best = min(best, time.perf_counter() - begun)
    print(best)
";

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let sizes: &[usize] = if full {
        &[10_000, 20_000, 40_000, 80_000]
    } else {
        &[300]
    };
    let mut steeper = 0;
    let codes: Vec<String> = CASES
        .iter()
        .flat_map(|(_, code)| sizes.iter().map(move |n| format!("n = {n}\n{code}")))
        .collect();
    let ours = ours(&codes);
    let theirs = cpython(&codes);
    println!(
        "{:20} {:>8} {:>10} {:>10} {:>7}",
        "case", "n", "deft ms", "CPython ms", "ratio"
    );
    for (at, (name, _)) in CASES.iter().enumerate() {
        let row = |of: &[f64]| {
            of.iter()
                .skip(at * sizes.len())
                .take(sizes.len())
                .copied()
                .collect::<Vec<_>>()
        };
        let (ours, theirs) = (row(&ours), row(&theirs));
        for ((n, ours), theirs) in sizes.iter().zip(&ours).zip(&theirs) {
            let ratio = ours / theirs;
            println!(
                "{name:20} {n:>8} {:>10.2} {:>10.2} {ratio:>7.1}",
                ours * 1e3,
                theirs * 1e3
            );
        }
        if let ([first, .., last], [their_first, .., their_last]) = (&*ours, &*theirs) {
            let (ours, theirs) = (exponent(last / first), exponent(their_last / their_first));
            let is_steeper = ours > theirs + NOISE;
            steeper += usize::from(is_steeper);
            let verdict = if is_steeper { "steeper" } else { "" };
            println!("{name:20} exponent {ours:>10.2} {theirs:>10.2} {verdict}");
        }
    }
    println!(
        "{steeper} of {} cases grow steeper than CPython",
        CASES.len()
    );
}

/// Returns the `e` in `growth = 8^e`: the largest size is eight times the smallest.
fn exponent(growth: f64) -> f64 {
    growth.ln() / 8_f64.ln()
}

/// Returns the seconds of each case, the best of [`RUNS`], in a warm child.
fn ours(codes: &[String]) -> Vec<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
    runtime.block_on(async {
        let compute = Compute::new(Options {
            program: env!("CARGO_BIN_EXE_compute-worker").into(),
            args: Vec::new(),
            limits: Limits {
                time: Duration::from_mins(1),
                ..Limits::default()
            },
        });
        let mut session = compute.session();
        run(&mut session, "import json, re").await;
        let mut seconds = Vec::new();
        for code in codes {
            let mut best = f64::MAX;
            for _ in 0..RUNS {
                let begun = Instant::now();
                run(&mut session, code).await;
                best = best.min(begun.elapsed().as_secs_f64());
            }
            seconds.push(best);
        }
        seconds
    })
}

async fn run(session: &mut Session, code: &str) {
    let output = session
        .run(Job::new(Kind::Block, code, Object::new()), None)
        .await;
    output.unwrap_or_else(|error| panic!("{error} in\n{code}"));
}

fn cpython(codes: &[String]) -> Vec<f64> {
    let child = Command::new("python3")
        .args(["-c", CPYTHON])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| panic!("python3: {error}"));
    let input = Value::from(codes.to_vec()).to_string();
    if let Some(mut stdin) = child.stdin.take() {
        stdin
            .write_all(input.as_bytes())
            .unwrap_or_else(|error| panic!("{error}"));
    }
    let output = child
        .wait_with_output()
        .unwrap_or_else(|error| panic!("{error}"));
    let printed = String::from_utf8_lossy(&output.stdout);
    printed
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect()
}

//! The battery of `tests/corpus`: snippets with the values that `CPython` returns.

use deft_compute::Kind;
use serde_json::Value;

use crate::support::{compute, corpus, job, text};

#[tokio::test]
async fn the_battery_gives_the_results_of_cpython() {
    let battery = corpus("battery.json");
    let compute = compute();
    let mut session = compute.session();
    let mut failed = Vec::new();
    let tests = battery["tests"].as_array().unwrap();
    for test in tests {
        let kind = match text(test, "kind") {
            "c" => Kind::Condition,
            _ => Kind::Block,
        };
        let job = job(kind, text(test, "code"), &battery["ctx"]);
        let got = session.run(job, None).await.map(|output| output.value);
        if !got.as_ref().is_ok_and(|value| same(value, &test["expect"])) {
            failed.push(format!("{}: {got:?}", text(test, "name")));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} failed:\n{}",
        failed.len(),
        tests.len(),
        failed.join("\n")
    );
}

/// Compares values including the order of keys; integers equal floats of the same value.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|((k, x), (l, y))| k == l && same(x, y))
        }
        _ => a == b,
    }
}

//! Comparison with `CPython`: both accept the same conditions, with the same tree, and refuse the same.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use deft_template::Condition;
use serde_json::Value;

use crate::cases::inputs;
use crate::dump;

/// Accepted by Python and refused by us on purpose.
const REFUSED: [(&str, &str); 10] = [
    (
        "f'{x for x in y}'",
        "a generator needs parentheses in an f-string, as in the sandbox",
    ),
    (r"'\ud800'", "a lone surrogate is no text outside Python"),
    ("[1 for x.y in z]", "a condition changes no values"),
    ("[1 for x[0] in z]", "a condition changes no values"),
    ("(lambda: (yield))", "a condition has no generators"),
    ("(lambda: (yield x))", "a condition has no generators"),
    ("[1 for a, b.c in z]", "a condition changes no values"),
    ("[1 for a.b in c]", "a condition changes no values"),
    (
        "{{1: 2}[1]}",
        "`{{` side by side is a template in almost every case",
    ),
    (
        "{{a}} == b",
        "`{{` side by side is a template in almost every case",
    ),
];

/// Refused by Python and accepted by us and the sandbox, which has the same parser.
const TAKEN: [&str; 1] = ["f'{a!r }'"];

/// Runs `python3` once for all texts. Fails if it is not installed, because there is no other reference.
fn judge(texts: &[String]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cpython.py");
    let mut child = Command::new("python3")
        .arg(script)
        .env("PYTHONUTF8", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 must be installed");
    let mut stdin = child.stdin.take().unwrap();
    let request = serde_json::to_vec(texts).unwrap();
    stdin.write_all(&request).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns all condition cases and those written for this test.
fn texts() -> Vec<String> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut texts = inputs(&cases.join("python.txt"));
    for entry in std::fs::read_dir(cases.join("condition")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name != "markup.txt") {
            texts.extend(inputs(&path));
        }
    }
    texts
}

#[test]
fn python_agrees() {
    let texts = texts();
    let mut wrong = Vec::new();
    for (text, expected) in texts.iter().zip(judge(&texts)) {
        let found = match Condition::parse(text) {
            Ok(condition) => dump::expr(condition.expr()),
            Err(_) => Value::Null,
        };
        let refused = REFUSED.iter().any(|(refused, _)| refused == text);
        let taken = TAKEN.contains(&text.as_str()) && expected.is_null();
        if !refused && !taken && found != expected {
            wrong.push(format!("{text}\n  ours:   {found}\n  python: {expected}"));
        }
    }
    assert!(texts.len() > 200);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn exceptions_are_still_exceptions() {
    let texts = REFUSED.map(|(text, _)| text.to_owned());
    for (text, expected) in texts.iter().zip(judge(&texts)) {
        assert!(!expected.is_null(), "Python refuses {text}");
        assert!(Condition::parse(text).is_err(), "we take {text}");
    }
}

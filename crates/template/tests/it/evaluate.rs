//! Conditions compared with results recorded from Python, and with the battery of the compute study.

use std::path::{Path, PathBuf};
use std::process::Command;

use deft_template::{Condition, EvalKind};
use serde_json::Value;

use crate::cases::inputs;
use crate::world::{World, context};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/evaluate")
}

/// Returns the inputs and recorded results of the case files in a folder.
pub(crate) fn recorded(folder: &Path) -> Vec<(String, Value)> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "txt") {
            let recordings = std::fs::read_to_string(path.with_extension("jsonl")).unwrap();
            let recordings: Vec<Value> = recordings
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let inputs = inputs(&path);
            assert_eq!(
                inputs.len(),
                recordings.len(),
                "run record.py for {}",
                path.display()
            );
            cases.extend(inputs.into_iter().zip(recordings));
        }
    }
    cases
}

#[test]
fn python_agrees_on_values() {
    let scope = World(context());
    let (mut wrong, mut unsupported) = (Vec::new(), Vec::new());
    let cases = recorded(&folder());
    for (text, expected) in &cases {
        let Ok(condition) = Condition::parse(text) else {
            assert!(expected.get("error").is_some(), "Python takes {text}");
            continue;
        };
        match (condition.evaluate(&scope), expected.get("value")) {
            (Ok(ours), Some(value)) if ours == *value => {}
            (Err(error), _) if error.kind == EvalKind::Unsupported => unsupported.push(text),
            (Err(_), None) => {}
            (ours, _) => wrong.push(format!("{text}\n  ours:   {ours:?}\n  python: {expected}")),
        }
    }
    assert!(cases.len() > 600, "{}", cases.len());
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(unsupported.len() * 20 < cases.len(), "{unsupported:#?}");
}

/// The recorded results equal those of the installed Python.
#[test]
fn recordings_are_current() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/record.py");
    let output = Command::new("python3")
        .arg(script)
        .arg("--check")
        .env("PYTHONUTF8", "1")
        .output()
        .expect("python3 must be installed");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
}

#[test]
fn the_battery_agrees() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../compute/tests/corpus/battery.json"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let battery: Value = serde_json::from_str(&text).unwrap();
    let scope = World(battery["ctx"].clone());
    let tests = battery["tests"].as_array().unwrap();
    let conditions = tests.iter().filter(|test| test["kind"] == "c");
    let mut count = 0;
    for test in conditions {
        let condition = Condition::parse(test["code"].as_str().unwrap()).unwrap();
        let truth = condition.is_true(&scope).unwrap();
        assert_eq!(Some(truth), test["expect"].as_bool(), "{}", test["code"]);
        count += 1;
    }
    assert!(count >= 10);
}

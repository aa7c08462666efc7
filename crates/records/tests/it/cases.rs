//! Case files: the input of a model and the complete result.
//!
//! The time, the zone and the known tools of a file apply to all of its cases. `input` is sent to
//! `memory_update_skill` if there is an `existing` record, and to `queue_task` if the file sets `queue`.

use std::fmt::Write as _;
use std::path::Path;

use deft_model::{Object, nearest};
use deft_records::{Moment, NormalisedRecord, ToolState, check, describe, job, merge, normalise};
use serde_json::{Value, json};

/// The contents of a case file.
struct File {
    moment: Moment,
    known: Vec<String>,
    unlisted: Vec<String>,
    queue: bool,
    head: Object,
    cases: Vec<Object>,
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items
        .map(|item| item.as_str().expect("a text").to_owned())
        .collect()
}

fn load(path: &Path) -> File {
    let text = std::fs::read_to_string(path).expect("a case file");
    let mut head: Object = serde_json::from_str(&text).expect("a JSON object");
    let cases = head.shift_remove("cases").expect("cases");
    let cases = cases.as_array().expect("a list").iter();
    let text = |key: &str| head[key].as_str().expect("a text");
    File {
        moment: Moment {
            now: text("now").parse().expect("an instant"),
            zone: deft_schedule::parse_zone(text("zone")).expect("a zone"),
        },
        known: texts(head.get("tools")),
        unlisted: texts(head.get("unlisted")),
        queue: head.contains_key("queue"),
        cases: cases
            .map(|case| case.as_object().expect("a case").clone())
            .collect(),
        head,
    }
}

/// Returns the case with its actual result.
fn outcome(file: &File, case: &Object) -> Object {
    let mut out = Object::new();
    for key in ["name", "existing", "input"] {
        out.extend(case.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    let input = case["input"].as_object().expect("an input");
    let normalised = match case.get("existing").and_then(Value::as_object) {
        Some(existing) => merge(existing, input, &file.moment),
        None if file.queue => match job(input) {
            Ok(record) => NormalisedRecord {
                record,
                applied: Vec::new(),
                zone_added: false,
            },
            Err(refusal) => {
                let problems = refusal.problems.iter().map(deft_records::Problem::to_value);
                out.insert("problems".to_owned(), problems.collect());
                return out;
            }
        },
        None => normalise(input, &file.moment),
    };
    judge(file, &normalised, &mut out);
    out
}

fn judge(file: &File, normalised: &NormalisedRecord, out: &mut Object) {
    let find = |name: &str| match name {
        name if file.known.iter().any(|known| known == name) => ToolState::Known,
        name if file.unlisted.iter().any(|known| known == name) => ToolState::Unknown,
        name => ToolState::Missing {
            near: nearest(name, file.known.iter().map(String::as_str))
                .map(str::to_owned)
                .into_iter()
                .collect(),
        },
    };
    out.insert("applied".to_owned(), json!(normalised.applied));
    match check(&normalised.record, &file.moment, &find) {
        Ok(checked) => {
            assert_eq!(checked.record, normalised.record);
            out.insert("record".to_owned(), Value::Object(checked.record));
            out.insert(
                "words".to_owned(),
                json!(describe(&checked.skill, &file.moment)),
            );
            if !checked.missing_tools.is_empty() {
                out.insert("missing_tools".to_owned(), json!(checked.missing_tools));
                out.insert("waits".to_owned(), json!(checked.waits));
            }
            let warnings: Vec<Value> = checked
                .warnings
                .iter()
                .map(deft_records::Problem::to_value)
                .collect();
            if !warnings.is_empty() {
                out.insert("warnings".to_owned(), json!(warnings));
            }
        }
        Err(refusal) => {
            let problems = refusal.problems.iter().map(deft_records::Problem::to_value);
            out.insert("problems".to_owned(), problems.collect());
        }
    }
}

/// Renders the file with one line for each part of a case.
fn written(head: &Object, cases: &[Object]) -> String {
    let mut out = "{\n".to_owned();
    for (key, value) in head {
        writeln!(out, "  {}: {value},", json!(key)).expect("a string");
    }
    out.push_str("  \"cases\": [\n");
    for (at, case) in cases.iter().enumerate() {
        let parts: Vec<String> = case
            .iter()
            .map(|(key, value)| format!("{}: {value}", json!(key)))
            .collect();
        let comma = if at + 1 < cases.len() { "," } else { "" };
        writeln!(out, "    {{ {} }}{comma}", parts.join(",\n      ")).expect("a string");
    }
    out.push_str("  ]\n}\n");
    out
}

/// The actual result is written to the build folder, to be compared and, if it is correct, copied.
#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut wrong = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file = load(&path);
        let found: Vec<Object> = file.cases.iter().map(|case| outcome(&file, case)).collect();
        count += found.len();
        let different = file
            .cases
            .iter()
            .zip(&found)
            .filter(|(case, found)| case != found);
        let names: Vec<&Value> = different.map(|(case, _)| &case["name"]).collect();
        if !names.is_empty() {
            let copy = beside.join(path.file_name().expect("a name"));
            std::fs::write(&copy, written(&file.head, &found)).expect("a file");
            writeln!(
                wrong,
                "{names:?}\n  diff {} {}",
                path.display(),
                copy.display()
            )
            .expect("a string");
        }
    }
    assert!(count > 120, "only {count} cases were found");
    assert!(wrong.is_empty(), "other than expected:\n{wrong}");
}

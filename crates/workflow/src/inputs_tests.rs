//! Messages about inputs that do not fit (S3.2, S3.32).

use deft_model::{Input, InputType, Object};
use serde_json::{Value, json};

use crate::inputs::{check_inputs, read_input};

fn input(name: &str, kind: InputType) -> Input {
    Input {
        name: name.to_owned(),
        kind,
        required: false,
        default: None,
        description: None,
        pattern: None,
        choices: Vec::new(),
        max_length: None,
    }
}

fn object(value: Value) -> Object {
    let Value::Object(map) = value else {
        panic!("the inputs are no mapping");
    };
    map
}

/// Returns the problems with the given inputs, as `message (hint)`.
fn problems(declared: &[Input], given: Value) -> Vec<String> {
    let problems = check_inputs(declared, &object(given)).unwrap_err();
    let shown = problems.into_iter().map(|problem| match problem.hint {
        Some(hint) => format!("{} ({hint})", problem.message),
        None => problem.message,
    });
    shown.collect()
}

/// The inputs of the seeds' example (S3.2).
fn seeds() -> [Input; 2] {
    let mut key = input("issue_key", InputType::String);
    key.required = true;
    key.description = Some("Jira issue key (e.g., AAP-12345)".to_owned());
    key.pattern = Some(r"^[A-Z]+-\d+$".to_owned());
    let mut prefix = input("branch_prefix", InputType::String);
    prefix.default = Some(json!("feature"));
    prefix.choices = vec![
        json!("feature"),
        json!("fix"),
        json!("hotfix"),
        json!("chore"),
    ];
    [key, prefix]
}

#[test]
fn defaults_replace_missing_inputs() {
    let inputs = check_inputs(&seeds(), &object(json!({ "issue_key": "AAP-1" }))).unwrap();
    let expected = json!({ "issue_key": "AAP-1", "branch_prefix": "feature" });
    assert_eq!(Value::Object(inputs), expected);
    let given = json!({ "issue_key": "AAP-1", "branch_prefix": null });
    let inputs = check_inputs(&seeds(), &object(given)).unwrap();
    assert_eq!(Value::Object(inputs), expected);
}

#[test]
fn every_problem_is_named_at_once() {
    let found = problems(
        &seeds(),
        json!({ "branch_prefix": "fixx", "isue_key": "x" }),
    );
    assert_eq!(
        found,
        [
            "input `issue_key` is missing (Jira issue key (e.g., AAP-12345))",
            "input `branch_prefix` cannot be `fixx` (did you mean `fix`?)",
            "unknown input `isue_key` (did you mean `issue_key`?)",
        ]
    );
}

#[test]
fn anchored_patterns_match_whole_strings() {
    for bad in ["aap-1", "AAP-1; rm -rf /", "AAP-1\n"] {
        let found = problems(&seeds(), json!({ "issue_key": bad }));
        assert_eq!(found.len(), 1, "{bad:?}");
        assert!(found[0].starts_with(r"input `issue_key` does not match `^[A-Z]+-\d+$`"));
    }
}

#[test]
fn length_counts_characters() {
    let mut short = input("text", InputType::String);
    short.max_length = Some(3);
    assert!(check_inputs(&[short.clone()], &object(json!({ "text": "äöü" }))).is_ok());
    let found = problems(&[short], json!({ "text": "äöüß" }));
    assert_eq!(found, ["input `text` has 4 characters, more than 3"]);
}

#[test]
fn values_must_be_of_the_type() {
    let cases = [
        (InputType::String, json!(3), "text, not `3`"),
        (
            InputType::Date,
            json!("tomorrow"),
            "a date, not `tomorrow` (write it as `2026-03-01`)",
        ),
        (
            InputType::Date,
            json!("2026-02-30"),
            "a date, not `2026-02-30` (write it as `2026-03-01`)",
        ),
        (
            InputType::Date,
            json!(3),
            "a date, not `3` (write it as `2026-03-01`)",
        ),
        (InputType::Integer, json!(3.5), "a whole number, not `3.5`"),
        (InputType::Integer, json!("3"), "a whole number, not text"),
        (
            InputType::Number,
            json!(true),
            "a number, not true or false",
        ),
        (InputType::Boolean, json!([]), "true or false, not a list"),
        (InputType::Array, json!({}), "a list, not a mapping"),
        (InputType::Object, json!("{}"), "a mapping, not text"),
    ];
    for (kind, value, expected) in cases {
        let found = problems(&[input("x", kind)], json!({ "x": value }));
        assert_eq!(found, [format!("input `x` must be {expected}")]);
    }
    let mut needed = input("x", InputType::String);
    needed.required = true;
    let found = problems(&[needed], json!({ "x": null }));
    assert_eq!(found, ["input `x` must be text, not nothing"]);
    let any = [input("x", InputType::Any)];
    let inputs = check_inputs(&any, &object(json!({ "x": null }))).unwrap();
    assert_eq!(Value::Object(inputs), json!({ "x": null }));
}

#[test]
fn hints_list_the_existing_names() {
    let found = problems(&[], json!({ "x": 1 }));
    assert_eq!(found, ["unknown input `x` (this skill takes no inputs)"]);
    let found = problems(&seeds(), json!({ "issue_key": "A-1", "zebra": 1 }));
    let hint = "inputs are `issue_key`, `branch_prefix`";
    assert_eq!(found, [format!("unknown input `zebra` ({hint})")]);
    let found = problems(
        &seeds(),
        json!({ "issue_key": "A-1", "branch_prefix": "zebra" }),
    );
    let hint = "one of `feature`, `fix`, `hotfix`, `chore`";
    assert_eq!(
        found,
        [format!("input `branch_prefix` cannot be `zebra` ({hint})")]
    );
}

#[test]
fn long_values_do_not_fill_the_message() {
    let mut few = input("x", InputType::String);
    few.choices = vec![json!("a")];
    let found = problems(&[few], json!({ "x": "y".repeat(500) }));
    assert!(found[0].len() < 120, "{}", found[0]);
}

#[test]
fn strings_become_values_of_the_input_type() {
    let cases = [
        (InputType::String, "3", json!("3")),
        (InputType::Integer, "-3", json!(-3)),
        (InputType::Integer, "3.5", json!("3.5")),
        (InputType::Number, "3", json!(3)),
        (InputType::Number, "3.5", json!(3.5)),
        (InputType::Number, "nan", json!("nan")),
        (InputType::Boolean, "Yes", json!(true)),
        (InputType::Boolean, "off", json!(false)),
        (InputType::Boolean, "maybe", json!("maybe")),
        (InputType::Array, "[1, 2]", json!([1, 2])),
        (InputType::Array, "a, b,", json!(["a", "b"])),
        (InputType::Array, "", json!([])),
        (InputType::Array, "[1, 2", json!("[1, 2")),
        (InputType::Object, r#"{"a": 1}"#, json!({ "a": 1 })),
        (InputType::Object, "a=1", json!("a=1")),
        (InputType::Any, "[1]", json!([1])),
        (InputType::Any, "text", json!("text")),
    ];
    for (kind, text, expected) in cases {
        let declared = [input("x", kind)];
        assert_eq!(
            read_input(&declared, "x", text),
            expected,
            "{kind} {text:?}"
        );
    }
    assert_eq!(read_input(&[], "unknown", "1"), json!("1"));
}

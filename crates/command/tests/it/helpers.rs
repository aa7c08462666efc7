//! Tests of the helpers for handlers, and of results.

use deft_command::{
    CommandResult, CommandStatus, ProblemKind, apply_defaults, check, fill_flags, fill_page,
    reads_only, require, validate_enum,
};
use deft_model::{Flag, FlagValue, Object};
use serde_json::{Value, json};

use crate::cases::start;

fn flags(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

/// S2.43, S2.44.
#[test]
fn missing_flags_are_reported_together() {
    let given = flags(json!({"to": "bob"}));
    assert_eq!(require(&given, &["to"]), Ok(()));
    let problem = require(&given, &["to", "subject", "body"]).expect_err("two are missing");
    let flags = vec!["subject".to_owned(), "body".to_owned()];
    assert_eq!(problem.kind, ProblemKind::MissingFlags { flags });
    assert_eq!(problem.code(), "missing_flags");
}

/// S2.43, S2.44.
#[test]
fn enum_flags_accept_a_value_or_a_list() {
    let allowed = ["todo", "done"];
    let check = |value: Value| validate_enum(&flags(json!({"status": value})), "status", &allowed);
    assert_eq!(validate_enum(&Object::new(), "status", &allowed), Ok(()));
    assert_eq!(check(json!("todo")), Ok(()));
    assert_eq!(check(json!(["done", "todo"])), Ok(()));
    let one = check(json!("doen")).expect_err("not in the set");
    assert_eq!(one.code(), "invalid_value");
    assert_eq!(one.hint().as_deref(), Some("did you mean `done`?"));
    let allowed: Vec<String> = allowed.map(str::to_owned).to_vec();
    assert_eq!(
        one.kind,
        ProblemKind::InvalidValue {
            flag: "status".to_owned(),
            value: "doen".to_owned(),
            allowed: allowed.clone(),
        }
    );
    let several = check(json!(["x", "todo", "y"])).expect_err("not in the set");
    assert_eq!(several.to_string(), "`--status` cannot be `x` or `y`");
    assert_eq!(
        several.kind,
        ProblemKind::InvalidValues {
            flag: "status".to_owned(),
            values: vec!["x".to_owned(), "y".to_owned()],
            allowed,
        }
    );
}

/// S2.43.
#[test]
fn dates_have_one_form() {
    let due = Flag {
        name: "due".to_owned(),
        description: String::new(),
        required: false,
        value: FlagValue::Date,
        default: Vec::new(),
    };
    let date = |text: &str| check(std::slice::from_ref(&due), flags(json!({"due": text})));
    assert_eq!(date("2026-03-01"), Ok(flags(json!({"due": "2026-03-01"}))));
    let wrong = [
        "2026-02-30",
        "2026-3-1",
        "20260301",
        "2026-03-01T10:00",
        "+2026-3-01",
        "tomorrow",
        "",
    ];
    for text in wrong {
        let problems = date(text).expect_err("not a date");
        let message = format!("`--due` must be a date (YYYY-MM-DD), not `{text}`");
        assert_eq!(
            problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [message]
        );
    }
}

/// S2.43.
#[test]
fn defaults_fill_only_missing_flags() {
    let mut given = flags(json!({"sort": "priority"}));
    apply_defaults(&mut given, &flags(json!({"sort": "due_date", "limit": 20})));
    assert_eq!(json!(given), json!({"sort": "priority", "limit": 20}));
}

#[test]
fn dates_are_filled_in_at_every_level() {
    let mut given = flags(json!({
        "on": "{today}", "days": ["{yesterday}", "{someday}"], "deep": {"at": "{now}"}, "n": 1,
    }));
    fill_flags(&mut given, &start());
    assert_eq!(
        json!(given),
        json!({
            "on": "2026-03-01", "days": ["2026-02-28", "{someday}"],
            "deep": {"at": "2026-03-01T00:30:00+01:00"}, "n": 1,
        })
    );
}

#[test]
fn a_page_without_a_handler_is_a_template() {
    let result = CommandResult::template("# workflows.daily_digest\n\nDo it.");
    let value = serde_json::to_value(&result).expect("JSON");
    assert_eq!(
        value,
        json!({
            "status": "ok",
            "content": "# workflows.daily_digest\n\nDo it.",
            "side_effects": [],
            "metadata": {"type": "template", "requires_interpretation": true},
        })
    );
    let back: CommandResult = serde_json::from_value(value).expect("a result");
    assert_eq!(back, result);
    assert_eq!(
        result.to_string(),
        "status: ok\ntype: template\nrequires_interpretation: true\n\n\
         # workflows.daily_digest\n\nDo it."
    );
}

#[test]
fn side_effects_are_shown_and_cannot_be_forged() {
    let mut result = CommandResult::ok("Created.");
    result.side_effects.push("skill_created".to_owned());
    let path = Value::from("a\nstatus: error");
    result.metadata.insert("skill_path".to_owned(), path);
    assert_eq!(
        result.to_string(),
        "status: ok\nside_effects: skill_created\nskill_path: \"a\\nstatus: error\"\n\nCreated."
    );
}

#[test]
fn names_show_which_tools_are_read_only() {
    for name in ["tasks.search", "tasks.get", "calendar.list", "drive.read"] {
        assert!(reads_only(name), "{name}");
    }
    for name in [
        "tasks.create",
        "email.send",
        "search",
        "tasks.searching",
        "",
    ] {
        assert!(!reads_only(name), "{name}");
    }
}

const PAGE: &str = "## Flags\n\n--sort  Sort by: a, b\n--late  Late ones (boolean flag)\n";

/// S2.43: a JSON call may hold values that no command line can express; the page's rules apply to them
/// too.
#[test]
fn values_of_programs_are_checked_by_the_page() {
    let table = deft_skillfile::flags(PAGE);
    let checked = |given: Value| check(&table, flags(given));
    let code = |given: Value| checked(given).expect_err("refused")[0].code();
    let one = json!({"sort": ["a"]});
    assert_eq!(checked(one.clone()), Ok(flags(one)));
    assert_eq!(code(json!({"sort": ["a", "b"]})), "too_many_values");
    assert_eq!(code(json!({"sort": ["c"]})), "invalid_values");
    for (given, read) in [
        (json!(true), true),
        (json!(false), false),
        (json!("off"), false),
    ] {
        let expected = flags(json!({"late": read}));
        assert_eq!(checked(json!({"late": given})), Ok(expected));
    }
    for wrong in [json!("late"), json!(7), json!([true])] {
        assert_eq!(code(json!({"late": wrong})), "invalid_value");
    }
}

/// S2.9: dates and flags are filled into a page; placeholders for a model stay.
#[test]
fn pages_are_filled() {
    let page = "To {recipient} on {today}: {compiled_digest} {{ today }} {due_by} {tags} {late}";
    let given = flags(json!({
        "recipient": "bob@co.com", "due-by": 5, "tags": ["a", "b c"], "late": true,
        "today": "never",
    }));
    assert_eq!(
        fill_page(page, &start(), &given),
        "To bob@co.com on never: {compiled_digest} {{ today }} 5 a, b c true"
    );
    assert_eq!(
        fill_page("{today} {yesterday} {recipient}", &start(), &Object::new()),
        "2026-03-01 2026-02-28 {recipient}"
    );
}

/// S2.45, S2.46: an output in the form of a result is used as it is.
#[test]
fn outputs_become_results() {
    let result = CommandResult::from_output(&json!({
        "status": "error", "content": "no such folder", "metadata": {"folder": "x"},
    }));
    assert_eq!(
        result,
        CommandResult {
            status: CommandStatus::Error,
            metadata: flags(json!({"folder": "x"})),
            ..CommandResult::ok("no such folder")
        }
    );
    for (output, content) in [
        (json!("text"), "text"),
        (json!({"id": 1}), r#"{"id":1}"#),
        (
            json!({"status": "ok", "content": "x", "id": 1}),
            r#"{"status":"ok","content":"x","id":1}"#,
        ),
        (
            json!({"status": "done", "content": "x"}),
            r#"{"status":"done","content":"x"}"#,
        ),
        (Value::Null, ""),
    ] {
        assert_eq!(
            CommandResult::from_output(&output),
            CommandResult::ok(content)
        );
    }
}

//! Properties for arbitrary input: nothing panics, and normalising is idempotent.

use deft_model::{Choice, Object, Trigger};
use deft_records::{Moment, ToolState, check, describe, job, merge, normalise, target};
use proptest::prelude::*;
use serde_json::{Value, json};

fn moment() -> Moment {
    Moment {
        now: "2026-02-14T13:00:00Z".parse().expect("an instant"),
        zone: deft_schedule::parse_zone("Europe/Berlin").expect("a zone"),
    }
}

/// Known keys, and a few unknown ones.
fn key() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "name",
        "instructions",
        "prompt",
        "description",
        "trigger",
        "trigger_type",
        "triggerConfig",
        "trigger_config",
        "schedule",
        "cron",
        "cronExpression",
        "interval_minutes",
        "interval",
        "every",
        "everyMs",
        "at",
        "when",
        "in",
        "in_minutes",
        "inHours",
        "in_days",
        "timezone",
        "tz",
        "required_tools",
        "tools",
        "execution_plan",
        "steps",
        "plan",
        "tool",
        "toolName",
        "params",
        "parameters",
        "arguments",
        "function",
        "type",
        "id",
        "keywords",
        "enabled",
        "disabled",
        "max_steps",
        "agent_id",
        "skill",
        "updates",
        "preflight",
        "timeout",
        "on_error",
        "action",
    ];
    prop_oneof![9 => proptest::sample::select(KNOWN).prop_map(str::to_owned), 1 => ".{0,8}"]
}

fn scalar() -> impl Strategy<Value = Value> {
    const TEXTS: &[&str] = &[
        "",
        " ",
        "null",
        "0 9 * * *",
        "0 9 *",
        "every 5 minutes",
        "in 5 minutes",
        "every day at 9",
        "15:00",
        "tomorrow at 9:00",
        "2026-02-20T15:00:00",
        "2026-02-20T15:00:00Z",
        "1h30m",
        "5",
        "true",
        "cron",
        "manual",
        "interval",
        "Europe/Berlin",
        "Mars/Base",
        "local",
        "[\"a\"]",
        "{\"tool\": \"a\"}",
        "['a', 'b']",
        "{{ step1.result }}",
        "`0 9 * * *`",
        "a, b",
        "```json\n[]\n```",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..200).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(TEXTS).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Object> {
    proptest::collection::vec((key(), value()), 0..8).prop_map(|pairs| pairs.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn normalising_is_idempotent(args in object()) {
        let once = normalise(&args, &moment());
        let twice = normalise(&once.record, &moment());
        prop_assert_eq!(&twice.record, &once.record);
        let changed: Vec<&String> = twice.applied.iter().filter(|note| !note.starts_with("kept the plan")).collect();
        prop_assert!(changed.is_empty(), "{:?}", changed);
    }

    #[test]
    fn nothing_panics(existing in object(), args in object()) {
        let known = |_: &str| ToolState::Known;
        for normalised in [normalise(&args, &moment()), merge(&existing, &args, &moment())] {
            match check(&normalised.record, &moment(), &known) {
                Ok(checked) => prop_assert!(!describe(&checked.skill, &moment()).is_empty()),
                Err(refusal) => prop_assert!(!refusal.problems.is_empty()),
            }
        }
        // Records that were not normalised do not panic either.
        drop(check(&args, &moment(), &known));
        drop(target(&args));
    }

    /// A valid job is a valid record, unless it contains an invalid template.
    #[test]
    fn jobs_are_records(args in object()) {
        let known = |_: &str| ToolState::Known;
        if let Ok(record) = job(&args) {
            prop_assert_eq!(record.get("trigger_type"), Some(&json!(Trigger::Manual.word())));
            drop(check(&record, &moment(), &known));
        }
    }

    /// Storing a stored record again gives the same skill.
    #[test]
    fn an_empty_update_changes_nothing(args in object()) {
        let known = |_: &str| ToolState::Known;
        let stored = normalise(&args, &moment());
        if check(&stored.record, &moment(), &known).is_ok() {
            let merged = merge(&stored.record, &Object::new(), &moment());
            prop_assert_eq!(merged.record, stored.record);
        }
    }
}

//! Strategies for policies: a value for each row of the table of policy fields.
//!
//! The rows come from the reference, and the types of most of them from the JSON Schema. Only values with
//! special rules have a separate strategy.

use deft_model::{
    Budget, BudgetPeriod, ExhaustedAction, Expect, FailureClass, Heal, Policy, seconds,
};
use deft_skillfile::{Document, Schema, field_reference, parse_record, schema};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{choice, duration, object, prose, word};
use crate::support::moment;

pub(crate) fn heals() -> impl Strategy<Value = Vec<Heal>> {
    let heal = (
        vec(choice::<FailureClass>(), 1..3),
        word(),
        prop_oneof![Just(Value::Null), object()],
    );
    vec(
        heal.prop_map(|(when, tool, args)| Heal { when, tool, args }),
        0..3,
    )
}

pub(crate) fn expect() -> impl Strategy<Value = Option<Expect>> {
    let that = select(vec!["len(x) > 0", "a and not b", "'✅' in str(x)"]);
    let one = (vec(word(), 0..3), option::of(that), option::of(object()));
    option::of(one.prop_map(|(called, that, schema)| Expect {
        called,
        that: that.map(str::to_owned),
        schema,
    }))
}

/// Returns the keys of the table of policy fields.
fn keys() -> Vec<String> {
    let reference = field_reference();
    let (_, table) = reference
        .split_once("### How a skill may run, in every dialect\n\n")
        .unwrap();
    let rows = table.lines().skip(2).take_while(|line| !line.is_empty());
    let key = |row: &str| row.split('`').nth(1).unwrap().to_owned();
    rows.map(key).collect()
}

/// Returns values of a field; `None` if there is no strategy for it.
fn values(key: &str) -> Option<BoxedStrategy<Value>> {
    Some(match key {
        "heal" => heals().prop_map(|heals| Heal::list(&heals)).boxed(),
        "expect" => given(expect(), |expect| expect.value()).boxed(),
        "budget" => budget().boxed(),
        "preflight" => preflight().boxed(),
        "timezone" => select(vec!["Europe/Berlin", "UTC"])
            .prop_map(Value::from)
            .boxed(),
        "tests" => vec(object(), 0..3).prop_map(Value::from).boxed(),
        _ => fitting(&schema(Schema::Record)["properties"][key])?,
    })
}

/// Converts an optional value to JSON; null if absent.
fn given<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = Option<T>>,
    value: impl Fn(T) -> Value,
) -> impl Strategy<Value = Value> {
    strategy.prop_map(move |one| one.map_or(Value::Null, &value))
}

/// Returns values for the first form that a schema allows.
fn fitting(schema: &Value) -> Option<BoxedStrategy<Value>> {
    let form = schema["anyOf"].get(0).unwrap_or(schema);
    if let Some(words) = form["enum"].as_array() {
        return Some(select(words.clone()).boxed());
    }
    let kind = form["type"].get(0).unwrap_or(&form["type"]).as_str()?;
    Some(match kind {
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => {
            let least = form["minimum"].as_u64()?;
            let most = form["maximum"].as_u64().unwrap_or(u32::MAX.into());
            (least..=most).prop_map(Value::from).boxed()
        }
        "number" if form["exclusiveMinimum"] == 0 => duration().prop_map(seconds).boxed(),
        "string" => {
            let most = form["maxLength"].as_u64();
            let most = most.map_or(usize::MAX, |most| most.try_into().unwrap());
            let short = move |text: &String| text.chars().count() <= most;
            prose()
                .prop_filter("short enough", short)
                .prop_map(Value::from)
                .boxed()
        }
        "array" if form["items"]["type"].is_array() => {
            vec(word(), 0..3).prop_map(Value::from).boxed()
        }
        _ => return None,
    })
}

fn budget() -> impl Strategy<Value = Value> {
    let cost = option::of((0..100_000_u32).prop_map(|cents| f64::from(cents) / 100.0));
    let one = (
        option::of(1..=u64::MAX),
        cost,
        choice::<BudgetPeriod>(),
        choice::<ExhaustedAction>(),
    );
    one.prop_map(|(tokens, cost_usd, per, on_exhausted)| {
        let budget = Budget {
            tokens,
            cost_usd,
            per,
            on_exhausted,
        };
        budget.value()
    })
}

/// Preflight checks; an absent value is no check.
fn preflight() -> impl Strategy<Value = Value> {
    let known = select(vec![
        json!({"calendar": "1h30m"}),
        json!({"email": "new"}),
        json!({"compute": "result = 1 > 0"}),
        json!({"tool": "mail_count", "condition": "result > 0"}),
    ]);
    prop_oneof![
        known,
        object().prop_map(|args| json!({"tool": "t", "args": args}))
    ]
}

/// A policy with some of the fields, as in a record.
pub(crate) fn policy() -> impl Strategy<Value = Policy> {
    let field = |key: String| {
        let values = values(&key).unwrap_or_else(|| panic!("`{key}` has no strategy"));
        option::of(values).prop_map(move |value| (key.clone(), value))
    };
    let fields: Vec<_> = keys().into_iter().map(field).collect();
    fields.prop_map(read)
}

/// Parses the policy of a record with these fields.
fn read(fields: Vec<(String, Option<Value>)>) -> Policy {
    let mut record = json!({"name": "x", "trigger_type": "manual", "instructions": "z"});
    for (key, value) in fields {
        record[key] = value.unwrap_or_default();
    }
    let parsed = parse_record(&record, &moment());
    match parsed.document {
        Some(Document::Skill(skill)) => Policy::clone(&skill.policy),
        _ => panic!("{record}\n{:?}", parsed.diagnostics),
    }
}

/// A new row gets a strategy from its schema; one with a special type needs a line in [`values`].
#[test]
fn each_policy_field_has_a_strategy() {
    let mut runner = TestRunner::deterministic();
    let keys = keys();
    assert!(keys.len() > 15, "{keys:?}");
    for key in keys {
        let values = values(&key).unwrap_or_else(|| panic!("`{key}` has no strategy"));
        let differs = (0..50).any(|_| {
            let value = values.new_tree(&mut runner).unwrap().current();
            let policy = read(vec![(key.clone(), Some(value.clone()))]);
            policy
                .entries()
                .iter()
                .any(|(one, read)| *one == key && *read == value)
        });
        assert!(
            differs,
            "the strategy for `{key}` gives nothing but its default"
        );
    }
}

//! A skill's fields as the keys and values of a file.

use std::time::Duration;

use deft_model::{Budget, Expect, Heal, Object, Policy, Skill};
use serde_json::{Value, json};

/// Adds a key unless there is nothing to say.
pub(super) fn put(object: &mut Object, key: &str, value: impl Into<Value>) {
    let value = value.into();
    let empty = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !empty {
        object.insert(key.to_owned(), value);
    }
}

/// Adds a key whenever there is a value, be it an empty one: `[]` as a default
/// is not the same as none.
pub(super) fn put_given(object: &mut Object, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value);
    }
}

/// When the skill fires, as it was written.
pub(super) fn timing(skill: &Skill, object: &mut Object) {
    if let Some(timing) = &skill.timing {
        put(
            object,
            "trigger_config",
            Value::Object(timing.config.clone()),
        );
    }
}

/// The parts of the policy that differ from the default.
pub(super) fn policy(policy: &Policy, object: &mut Object) {
    let default = Policy::default();
    let differs = |differs: bool, value: Value| if differs { value } else { Value::Null };
    put(object, "enabled", differs(!policy.enabled, json!(false)));
    put(
        object,
        "agent_id",
        differs(policy.agent_id != default.agent_id, json!(policy.agent_id)),
    );
    put(
        object,
        "max_steps",
        differs(
            policy.max_steps != default.max_steps,
            json!(policy.max_steps),
        ),
    );
    put(
        object,
        "notify_on_completion",
        differs(!policy.notify_on_completion, json!(false)),
    );
    let interval = policy.notify_interval_minutes;
    put(
        object,
        "notify_interval_minutes",
        differs(interval != 0, json!(interval)),
    );
    put(
        object,
        "effects",
        policy.effects.map(|effects| effects.to_string()),
    );
    put(object, "heal", heals(&policy.heal));
    put(
        object,
        "max_heals",
        differs(
            policy.max_heals != default.max_heals,
            json!(policy.max_heals),
        ),
    );
    put_given(object, "expect", policy.expect.as_ref().map(expect));
    put(object, "budget", policy.budget.as_ref().map(budget));
    put(
        object,
        "misfire",
        differs(
            policy.misfire != default.misfire,
            json!(policy.misfire.to_string()),
        ),
    );
    let window = policy.misfire_window;
    put(
        object,
        "misfire_window",
        differs(window != default.misfire_window, seconds(window)),
    );
    put(
        object,
        "overlap",
        policy.overlap.map(|overlap| overlap.to_string()),
    );
    put_given(object, "preflight", policy.preflight.clone());
    put(object, "timezone", policy.timezone.clone());
    put(object, "timeout", policy.timeout.map(seconds));
    put(object, "concurrency", policy.concurrency);
    put(object, "secrets", policy.secrets.clone());
    put(object, "tests", policy.tests.clone());
}

/// A length of time in seconds.
pub(super) fn seconds(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 {
        json!(duration.as_secs())
    } else {
        json!(duration.as_secs_f64())
    }
}

pub(super) fn heals(heals: &[Heal]) -> Vec<Value> {
    let heal = |heal: &Heal| {
        let mut object = Object::new();
        let when: Vec<String> = heal.when.iter().map(ToString::to_string).collect();
        put(&mut object, "when", when);
        put(&mut object, "tool", heal.tool.clone());
        let args = Some(heal.args.clone()).filter(|args| !args.is_null());
        put_given(&mut object, "args", args);
        Value::Object(object)
    };
    heals.iter().map(heal).collect()
}

pub(super) fn expect(expect: &Expect) -> Value {
    let mut object = Object::new();
    put(&mut object, "called", expect.called.clone());
    put(&mut object, "that", expect.that.clone());
    put_given(&mut object, "schema", expect.schema.clone());
    Value::Object(object)
}

pub(super) fn budget(budget: &Budget) -> Value {
    let mut object = Object::new();
    put(&mut object, "tokens", budget.tokens);
    put(&mut object, "cost_usd", budget.cost_usd);
    put(&mut object, "per", budget.per.to_string());
    put(&mut object, "on_exhausted", budget.on_exhausted.to_string());
    Value::Object(object)
}

//! Evaluation of one parsed condition, and rendering of one parsed template.

#![expect(clippy::unwrap_used, reason = "the inputs are fixed and valid")]

use std::collections::HashMap;
use std::sync::Arc;

use deft_template::{Condition, Lookup, Scope, Template};
use serde_json::json;

fn main() {
    divan::main();
}

/// A scope with values in a map, as in the engine.
struct World(HashMap<&'static str, Arc<serde_json::Value>>);

impl World {
    fn new() -> Self {
        let values = [
            (
                "inputs",
                json!({"issue_key": "AAP-12345", "branch_prefix": "feature"}),
            ),
            (
                "failure_info",
                json!({"needs_vpn": true, "needs_auth": false}),
            ),
            (
                "check_existing_branch",
                json!("✅ branch feature/AAP-12345 exists on origin"),
            ),
            ("summary", json!("Fix Login When The Session Token Expires")),
            (
                "pods",
                json!([{"name": "a", "cpu": 1.5}, {"name": "b", "cpu": 0.25}]),
            ),
            ("text", json!("Connection TIMEOUT, no route to host")),
        ];
        Self(
            values
                .into_iter()
                .map(|(name, value)| (name, Arc::new(value)))
                .collect(),
        )
    }
}

impl Scope for World {
    fn get(&self, name: &str) -> Lookup {
        self.0
            .get(name)
            .map_or(Lookup::Unknown, |value| Lookup::Value(Arc::clone(value)))
    }
}

#[divan::bench(args = [
    "failure_info",
    "pods and len(pods) > 0",
    "failure_info and failure_info.get('needs_vpn')",
    "not check_existing_branch or '✅' not in str(check_existing_branch)",
    "any(x in text.lower() for x in ['no route', 'timeout', 'network'])",
    "sum(p.cpu for p in pods if p.name != 'x') > 1",
])]
fn condition(bencher: divan::Bencher<'_, '_>, text: &str) {
    let (condition, world) = (Condition::parse(text).unwrap(), World::new());
    bencher.bench_local(|| condition.is_true(&world).unwrap());
}

#[divan::bench(args = [
    "a plain text without any markup in it",
    "{{ inputs.issue_key }}",
    "{{ pods[1].name }}",
    "{{ missing | default('default') }}",
    "{{ summary | lower | replace(' ', '-') }}",
    "Create {{ inputs.branch_prefix }}/{{ inputs.issue_key }}?",
    "{% for p in pods %}{{ loop.index }}: {{ p.name }}{% endfor %}",
])]
fn template(bencher: divan::Bencher<'_, '_>, text: &str) {
    let (template, world) = (Template::parse(text).unwrap(), World::new());
    bencher.bench_local(|| template.render(&world).unwrap());
}

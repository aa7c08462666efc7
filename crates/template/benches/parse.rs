//! Parsing of one typical template or condition.

#![expect(clippy::unwrap_used, reason = "the inputs are fixed and valid")]

use deft_template::{Condition, Template};

fn main() {
    divan::main();
}

#[divan::bench(args = [
    "a plain text without any markup in it",
    "{{ inputs.issue_key }}",
    "{{ namespace | default('default') }}",
    "{{ summary | lower | replace(' ', '-') }}",
])]
fn template(text: &str) -> Template {
    Template::parse(divan::black_box(text)).unwrap()
}

#[divan::bench(args = [
    "failure_info",
    "pods and len(pods) > 0",
    "failure_info and failure_info.get('needs_vpn')",
    "not check_existing_branch or '✅' not in str(check_existing_branch)",
    "any(x in text for x in ['no route', 'timeout', 'network'])",
])]
fn condition(text: &str) -> Condition {
    Condition::parse(divan::black_box(text)).unwrap()
}

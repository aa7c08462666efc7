//! Tests of the dry run: what is known before anything is called.

use deft_model::Object;
use deft_workflow::{Remedy, Rules, check_inputs, dry_run};
use serde_json::{Value, json};

use crate::script::plan_of;
use crate::world::World;

/// Returns one line for each step.
fn dry(skill: &str, inputs: Value) -> String {
    let plan = plan_of(skill, "case.yaml");
    let Value::Object(given) = inputs else {
        panic!("inputs are a mapping");
    };
    let inputs: Object = check_inputs(plan.inputs(), &given).unwrap();
    let mut world = World::default();
    world
        .effects
        .insert("jira_view_issue".to_owned(), deft_model::Effects::None);
    let now = "2026-11-15T12:00:00Z".parse().unwrap();
    let steps = dry_run(&plan, &inputs, &Rules::default(), &world, now);
    let lines = steps
        .iter()
        .map(|step| serde_json::to_string(step).unwrap() + "\n");
    lines.collect()
}

#[test]
fn seeds_example() {
    let case = include_str!("../cases/seed-start-work.yaml");
    let skill = case.rsplit_once("\n---\n").unwrap().0;
    insta::assert_snapshot!(dry(skill, json!({ "issue_key": "AAP-12345" })));
}

#[test]
fn known_and_dependent_values_are_shown() {
    let skill = r#"
name: dry
description: x
secrets: [TOKEN]
heal: [{when: auth, tool: login}]
inputs:
  - {name: fast, type: boolean, default: true}
  - {name: names, type: array, default: [a, b]}
steps:
  - id: left_out
    condition: "not fast"
    tool: one
    output: early
  - id: taken
    condition: "fast and not left_out"
    tool: two
    args: {token: "{{ secrets.TOKEN }}", names: "{{ names }}", early: "{{ early | default('none') }}"}
    heal: [{when: [network, timeout], tool: vpn_connect}]
  - id: member
    parallel_group: g
    loop: "{{ names }}"
    tool: "get_{{ item }}"
    args: {of: [{name: "{{ item }}"}, "{{ taken.x }}"], run: "{{ execution_id }}"}
  - id: sibling
    parallel_group: g
    loop: "{{ taken }}"
    loop_concurrency: 3
    skill: other
    args: {text: "for {{ inputs.names[0] }}"}
    on_error: retry:2
  - id: judge
    condition: "sibling"
    agent: "Look at {{ names | join(', ') }}."
  - id: broken
    depends_on: [left_out]
    condition: "len(fast) > 2"
    tool: three
    args: {x: "{{ inputs.names.deep.er }}"}
confirmations:
  - {step: taken, message: "Take {{ names | length }}?"}
  - {step: left_out, message: "Never asked?"}
  - {step: judge, message: "Judge {{ sibling }}?"}
"#;
    insta::assert_snapshot!(dry(skill, json!({})));
}

#[test]
fn heal_rules_of_the_host_come_last() {
    let skill = "
name: healed
description: x
heal: [{when: auth, tool: log_in}]
steps:
  - {id: one, tool: look_up, heal: [{when: network, tool: reconnect}]}
";
    let plan = plan_of(skill, "case.yaml");
    let heal = deft_model::Heal {
        when: vec![deft_model::FailureClass::Network],
        tool: "vpn_connect".to_owned(),
        args: Value::Null,
    };
    let rules = Rules {
        heals: vec![Remedy::compile(&heal).unwrap()],
        ..Rules::default()
    };
    let now = jiff::Timestamp::UNIX_EPOCH;
    let steps = dry_run(&plan, &Object::new(), &rules, &World::default(), now);
    let tools: Vec<&str> = steps[0]
        .heals
        .iter()
        .map(|heal| heal.tool.as_str())
        .collect();
    assert_eq!(tools, ["reconnect", "log_in", "vpn_connect"]);
}

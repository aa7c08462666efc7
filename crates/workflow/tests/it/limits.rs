//! Limits that are too large for a case file, and the steps that a rerun takes over.

use deft_model::{Object, Outcome};
use deft_workflow::{Event, Rules, reuse};
use serde_json::{Value, json};

use crate::drive::Driver;
use crate::script::plan_of;
use crate::world::World;

fn driver(skill: &str, results: &Value) -> Driver {
    let mut world = World::default();
    for (path, value) in results.as_object().unwrap() {
        world.results.insert(path.clone(), vec![Ok(value.clone())]);
    }
    let mut driver = Driver::new(plan_of(skill, "case.yaml"), Rules::default(), world);
    driver.start(Object::new());
    driver
}

#[test]
fn a_loop_has_at_most_ten_thousand_items() {
    let skill = "
name: long
description: x
steps:
  - {id: list, tool: one}
  - {id: each, loop: \"{{ list }}\", tool: two, effects: none, loop_concurrency: 8}
";
    let numbers = |count: u32| json!({ "list": (0..count).collect::<Vec<_>>() });
    let mut run = driver(skill, &numbers(10_000));
    run.run();
    assert_eq!(run.machine.end().unwrap().outcome, Outcome::Success);
    assert_eq!(run.calls.len(), 10_001);

    let mut run = driver(skill, &numbers(10_001));
    run.run();
    let finished = run.machine.end().unwrap();
    let error = finished.error.as_ref().unwrap();
    assert_eq!(
        error.failure.message,
        "the loop has 10001 items, more than 10000"
    );
    assert_eq!(run.calls.len(), 1);
}

#[test]
fn a_rerun_reuses_successful_steps_before_its_start() {
    let skill = "
name: again
description: x
steps:
  - {id: null_value, tool: one}
  - {id: left_out, condition: false, tool: two}
  - {id: broken, tool: three, on_error: continue}
  - {id: each, loop: [1, 2], tool: four}
  - {id: last, tool: five, args: {a: \"{{ null_value }}\", b: \"{{ broken }}\", c: \"{{ each }}\"}}
";
    let results = json!({ "null_value": null, "each": "done" });
    let mut first = driver(skill, &results);
    let failure = deft_model::Failure::new(deft_model::FailureClass::Other, "boom");
    first
        .world
        .results
        .insert("broken".to_owned(), vec![Err(failure)]);
    first.run();
    let events: Vec<Event> = first.log.iter().map(|(_, event)| event.clone()).collect();

    let taken = reuse(&first.plan, &events, "last", "n0nce");
    assert_eq!(taken.len(), 4);
    let mut second = driver(skill, &results);
    for event in &taken {
        second.record(event);
    }
    second.run();
    let called: Vec<&str> = second.calls.iter().map(|call| call.what.as_str()).collect();
    let expected = r#"tool five {"a":null,"b":"❌ boom","c":["done","done"]}"#;
    assert_eq!(called, [expected]);
    let last = |driver: &Driver| driver.calls.last().unwrap().what.clone();
    assert_eq!(last(&first), last(&second));

    let from_broken = reuse(&first.plan, &events, "broken", "n0nce");
    assert_eq!(from_broken.len(), 2);
}

/// Returns the steps that a rerun takes over, with the tools that each called.
fn taken(skill: &str, results: &Value, from: &str) -> Vec<(String, Vec<String>)> {
    let mut first = driver(skill, results);
    first.run();
    let events: Vec<Event> = first.log.iter().map(|(_, event)| event.clone()).collect();
    let reused = reuse(&first.plan, &events, from, "n0nce");
    let of = |event: &Event| match event {
        Event::Reused { path, called, .. } => (path.to_string(), called.clone()),
        other => panic!("{other:?}"),
    };
    reused.iter().map(of).collect()
}

#[test]
fn a_rerun_reuses_dependencies_of_its_first_step_at_any_position() {
    let skill = "
name: order
description: x
steps:
  - {id: waits, tool: one, depends_on: [start]}
  - {id: aside, tool: two, depends_on: []}
  - {id: start, tool: three, depends_on: [source]}
  - {id: sibling, tool: four, depends_on: []}
  - {id: source, tool: five, depends_on: []}
";
    let before = taken(skill, &json!({}), "start");
    let one = |step: &str, tool: &str| (step.to_owned(), vec![tool.to_owned()]);
    assert_eq!(before, [one("aside", "two"), one("source", "five")]);
}

#[test]
fn a_rerun_knows_earlier_calls() {
    let skill = "
name: promised
description: x
expect: {called: [send_mail, look_up]}
steps:
  - {id: each, loop: [1, 2], tool: send_mail}
  - {id: look, tool: look_up}
  - {id: last, tool: tell}
";
    let mut second = driver(skill, &json!({}));
    let mut first = driver(skill, &json!({}));
    first.run();
    let events: Vec<Event> = first.log.iter().map(|(_, event)| event.clone()).collect();
    for event in reuse(&first.plan, &events, "last", "n0nce") {
        second.record(&event);
    }
    second.run();
    let finished = second.machine.end().unwrap();
    assert_eq!(finished.outcome, Outcome::Success, "{finished:?}");
    let called: Vec<&str> = second.calls.iter().map(|call| call.what.as_str()).collect();
    assert_eq!(called, ["tool tell {}"]);
}

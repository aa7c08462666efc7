//! Skills that may not fire as expected: duplicate names, an unknown time zone.

use serde_json::{Value, json};

use crate::records::{call, reminder, store};
use crate::support::{WORKFLOW, World};

/// Returns the findings of a check with this id.
fn found<'a>(document: &'a Value, id: &str) -> Vec<&'a Value> {
    let checks = document["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["id"] == id).collect()
}

#[test]
fn a_name_clash_of_file_and_record_is_reported() {
    let world = World::new();
    store(&world, &reminder("Report", &json!({"interval_minutes": 5})));
    world.write("home/skills/report.yaml", WORKFLOW);
    let all = world.json(&["doctor", "--json"]);
    let clash = found(&all, "skills.clash");
    assert_eq!(clash.len(), 1, "{all:#}");
    assert_eq!(clash[0]["status"], "bad");
    let skills = world.json(&["skills", "doctor", "--json"]);
    assert_eq!(found(&skills, "skills.clash").len(), 1, "{skills:#}");
    let list = world.run(&["skills", "list"]);
    assert!(
        list.contains("disabled: a record has the same id"),
        "{list}"
    );
    let listed = world.json(&["skills", "list", "--json"]);
    let file = &listed["skills"][0];
    assert_eq!(
        (
            &file["clashes_with"],
            &file["enabled"],
            &file["trigger"]["next"]
        ),
        (&json!(1), &json!(false), &json!([])),
        "{file:#}"
    );
    // `skills show` shows the skill that `run` would run.
    let path = world.path("home/skills/report.yaml");
    let shown = world.run(&["skills", "show", "report"]);
    assert!(shown.contains("Remind to drink water"), "{shown}");
    assert!(shown.contains("which does not fire"), "{shown}");
    let shown = world.json(&["skills", "show", "report", "--json"]);
    let columns = ["origin", "record_id", "replaces_file"].map(|key| &shown["skill"][key]);
    assert_eq!(
        columns,
        [&json!("record"), &json!(1), &json!(path)],
        "{shown:#}"
    );
    let next = world.run(&["schedule", "next", "report"]);
    assert!(next.starts_with("exit 0"), "{next}");

    // All commands write the log in the same format.
    assert_eq!(world.code(&["tick"]), 0);
    let log = world.read("home/logs/deft.log");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let message = "a file and a record have the same name";
    assert!(lines.iter().any(|line| line["message"] == message), "{log}");

    let refused = world.run(&["skills", "delete", "report"]);
    assert!(refused.starts_with("exit 2"), "{refused}");
    assert!(refused.contains("is both the file"), "{refused}");
    assert!(refused.contains("`deft skills delete 1`"), "{refused}");
    assert!(world.path("home/skills/report.yaml").exists());
    assert_eq!(world.code(&["skills", "delete", "1"]), 0);
    let all = world.json(&["doctor", "--json"]);
    assert_eq!(found(&all, "skills.clash"), Vec::<&Value>::new());
    assert_eq!(world.code(&["skills", "delete", "report"]), 0);
    assert!(!world.path("home/skills/report.yaml").exists());
}

#[test]
fn a_zone_without_a_name_is_reported() {
    let world = World::new();
    let rule = "CET-1CEST,M3.5.0,M10.5.0/3";
    let json = |args: &[&str]| -> Value {
        let output = world.command(args).env("TZ", rule).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let message = format!("`TZ` is `{rule}`, which is not a time zone: times are read in `");
    let daily = json!({"schedule": "every day at 9"});
    let daily = reminder("Daily", &daily).to_string();
    let stored = json(&[
        "tools",
        "call",
        "memory_store_skill",
        "--args",
        &daily,
        "--json",
    ]);
    let notes = stored["value"]["normalised"].as_array().unwrap();
    let doubts: Vec<_> = notes
        .iter()
        .filter(|note| note.as_str().unwrap().starts_with(&message))
        .collect();
    assert_eq!(doubts.len(), 1, "{stored:#}");
    let doctor = json(&["doctor", "--json"]);
    let zone = found(&doctor, "time.zone");
    assert_eq!(zone.len(), 1, "{doctor:#}");
    assert_eq!(zone[0]["status"], "bad");
    assert!(zone[0]["message"].as_str().unwrap().starts_with(&message));
    // With a configured zone there is no finding.
    world.write("home/config.toml", "[time]\nzone = \"Europe/Berlin\"\n");
    let doctor = json(&["doctor", "--json"]);
    assert_eq!(found(&doctor, "time.zone"), Vec::<&Value>::new());
}

/// Before the first start a skill has no stored state, but commands find its file.
#[test]
fn a_skill_file_is_found_before_the_first_start() {
    let world = World::new();
    assert_eq!(world.code(&["init"]), 0);
    let shown = world.json(&["skills", "show", "email-processor", "--json"]);
    assert_eq!(
        (
            &shown["skill"]["enabled"],
            &shown["skill"]["disabled_reason"]
        ),
        (&json!(false), &Value::Null),
        "{shown:#}"
    );
    let (_, asked) = call(&world, "memory_get_skill", &json!({"name": "countdown"}));
    let skill = &asked["value"]["skill"];
    assert_eq!(
        (&skill["id"], &skill["origin"], &skill["record_id"]),
        (&json!("countdown"), &json!("file"), &Value::Null),
        "{asked:#}"
    );
}

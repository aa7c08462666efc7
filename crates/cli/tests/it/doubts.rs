//! Skills that do not fire as somebody may think: a zone that has no name.

use serde_json::{Value, json};

use crate::records::reminder;
use crate::support::World;

/// The findings of a check, by its id.
fn found<'a>(document: &'a Value, id: &str) -> Vec<&'a Value> {
    let checks = document["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["id"] == id).collect()
}

#[test]
fn a_zone_without_a_name_is_told_of() {
    let world = World::new();
    let rule = "CET-1CEST,M3.5.0,M10.5.0/3";
    let json = |args: &[&str]| -> Value {
        let output = world.command(args).env("TZ", rule).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let said = format!("`TZ` is `{rule}`, which names no zone: times are read in `");
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
        .filter(|note| note.as_str().unwrap().starts_with(&said))
        .collect();
    assert_eq!(doubts.len(), 1, "{stored:#}");
    let doctor = json(&["doctor", "--json"]);
    let zone = found(&doctor, "time.zone");
    assert_eq!(zone.len(), 1, "{doctor:#}");
    assert_eq!(zone[0]["status"], "bad");
    assert!(zone[0]["message"].as_str().unwrap().starts_with(&said));
    // A zone that is configured leaves nothing to wonder about.
    world.write("home/config.toml", "[time]\nzone = \"Europe/Berlin\"\n");
    let doctor = json(&["doctor", "--json"]);
    assert_eq!(found(&doctor, "time.zone"), Vec::<&Value>::new());
}

//! `deft schedule` with stored state: records, and intervals with a stored grid.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::World;

fn store(world: &World, args: &Value) {
    let call = [
        "tools",
        "call",
        "memory_store_skill",
        "--json",
        "--args",
        &args.to_string(),
    ];
    let stored = world.json(&call);
    assert_eq!(stored["ok"], true, "{stored:#}");
}

/// Creates a home with two records: one at nine, one every 45 minutes.
fn world() -> World {
    let world = World::new();
    for (name, when) in [
        (
            "Report",
            json!({"schedule": "0 9 * * *", "timezone": "America/New_York"}),
        ),
        ("Stretch", json!({"interval_minutes": 45})),
    ] {
        let args = json!({
            "name": name,
            "trigger_type": "cron",
            "trigger_config": when,
            "instructions": "Say it",
            "execution_plan": [{"toolName": "notify", "parameters": {"message": name}}],
            "notify_on_completion": false,
        });
        store(&world, &args);
    }
    world
}

fn fires(world: &World, args: &[&str]) -> Vec<Timestamp> {
    let next = world.json(&[&["schedule", "next"], args, &["--json"]].concat());
    let fires = next["fires"].as_array().unwrap();
    fires
        .iter()
        .map(|at| at.as_str().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn records_are_listed_with_their_zone() {
    let world = world();
    let listed = world.json(&["schedule", "list", "--json"]);
    let all = listed["schedules"].as_array().unwrap();
    let of = |id: &str| all.iter().find(|entry| entry["skill"] == id).unwrap();
    assert_eq!(
        (
            &of("report")["words"],
            &of("report")["zone"],
            &of("report")["enabled"]
        ),
        (
            &json!("every day at 09:00"),
            &json!("America/New_York"),
            &json!(true)
        )
    );
    assert_eq!(of("stretch")["words"], "every 45 minutes");
    assert_eq!(world.code(&["skills", "disable", "Report"]), 0);
    let text = world.run(&["schedule", "list"]);
    assert!(text.contains("disabled: by a person"), "{text}");
    let output = world.run(&["schedule", "next", "report"]);
    assert!(
        output.contains("`report` is disabled (by a person); if enabled, it would run at:"),
        "{output}"
    );
}

/// Later queries, queries about later times and late fires do not move the grid.
#[test]
fn an_interval_keeps_its_grid() {
    let world = world();
    let grid = fires(&world, &["stretch", "-n", "3"]);
    let step = SignedDuration::from_mins(45);
    assert_eq!(grid, [grid[0], grid[0] + step, grid[0] + step * 2]);
    for name in ["stretch", "Stretch", "2"] {
        assert_eq!(fires(&world, &[name, "-n", "3"]), grid, "{name}");
    }
    let after = (grid[0] + SignedDuration::from_mins(10)).to_string();
    assert_eq!(
        fires(&world, &["stretch", "--from", &after, "-n", "1"]),
        grid[1..2]
    );
    let late = (grid[0] + SignedDuration::from_mins(7)).to_string();
    let ticked = world.json(&["tick", "--now", &late, "--json"]);
    // Depending on the time of day, the other skill may be due too.
    let fired = ticked["fired"].as_array().unwrap().iter();
    let slots: Vec<&Value> = fired
        .filter(|run| run["skill"] == "stretch")
        .map(|run| &run["slot"])
        .collect();
    assert_eq!(slots, [&json!(grid[0].to_string())], "{ticked:#}");
    assert_eq!(
        fires(&world, &["stretch", "--from", &late, "-n", "2"]),
        grid[1..]
    );
    let shown = world.json(&["skills", "show", "stretch", "--json"]);
    let next: Timestamp = shown["skill"]["trigger"]["next"][0]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(next, grid[1]);
}

/// The grid of a skill with a file begins when deft first sees the file, and is kept as well.
#[test]
fn the_interval_of_a_file_keeps_its_grid_too() {
    let world = World::new();
    world.write(
        "home/skills/stretch.yaml",
        "name: stretch\ndescription: Stretches\ntrigger_config: {interval_minutes: 45}\nsteps:\n  - {id: a, tool: time.now}\n",
    );
    assert_eq!(world.code(&["tick"]), 0);
    let grid = fires(&world, &["stretch", "-n", "2"]);
    let shown = world.json(&["skills", "show", "stretch", "--json"]);
    let next: Timestamp = shown["skill"]["trigger"]["next"][0]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(next, grid[0]);
    // An edit that does not change the schedule does not move the grid.
    world.write(
        "home/skills/stretch.yaml",
        "name: stretch\ndescription: Stretches well\ntrigger_config: {interval_minutes: 45}\nsteps:\n  - {id: a, tool: time.now}\n",
    );
    assert_eq!(world.code(&["tick"]), 0);
    assert_eq!(fires(&world, &["stretch", "-n", "2"]), grid);
}

#[test]
fn simulate_includes_stored_schedules() {
    let world = world();
    let grid = fires(&world, &["stretch", "-n", "4"]);
    let minute = SignedDuration::from_mins(1);
    let (from, to) = (
        (grid[0] - minute).to_string(),
        (grid[3] + minute).to_string(),
    );
    let down = format!("{}..{}", grid[1] - minute, grid[2] + minute);
    let args = [
        "schedule", "simulate", "--skill", "stretch", "--from", &from, "--to", &to, "--down",
        &down, "--json",
    ];
    let simulated = world.json(&args);
    let rows = simulated["rows"].as_array().unwrap();
    let slots: Vec<Timestamp> = rows
        .iter()
        .map(|row| row["slot"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(slots, grid, "{simulated:#}");
    let what: Vec<&Value> = rows.iter().map(|row| &row["what"]).collect();
    assert_eq!(what, ["run", "coalesced", "run", "run"], "{simulated:#}");
}

//! `deft schedule …`, with instants far in the future, so results do not depend on the current day.

use crate::support::{SKILL, World};

fn skill(name: &str, more: &str) -> String {
    format!("name: {name}\ndescription: Does it\n{more}\nsteps:\n  - id: a\n    tool: log\n")
}

fn world() -> World {
    let world = World::new();
    world
        .write("home/skills/greet/SKILL.md", SKILL)
        .write(
            "home/skills/backup.yaml",
            skill(
                "backup",
                "schedule: \"0 30 2 * * * 2098-2099\"\ntimezone: America/New_York",
            ),
        )
        .write(
            "home/skills/digest.yaml",
            skill(
                "digest",
                "trigger_config: {at: \"2098-05-04T09:00\"}\nmisfire: all\nmisfire_window: 2h",
            ),
        )
        .write(
            "home/skills/idle.yaml",
            skill(
                "idle",
                "schedule: \"0 9 * * 1-5\"\nenabled: false\nmisfire: skip",
            ),
        )
        .write(
            "home/skills/done.yaml",
            skill("done", "trigger_config: {at: \"2020-01-01T00:00\"}"),
        );
    world
}

#[test]
fn list() {
    let world = world();
    insta::assert_snapshot!(world.run(&["schedule", "list"]));
    insta::assert_json_snapshot!(world.json(&["schedule", "list", "--json"]));
    insta::assert_snapshot!(World::new().run(&["schedule", "list"]));
}

#[test]
fn next() {
    let world = world();
    let from = ["--from", "2098-03-07T12:00", "-n", "3"];
    let ask = |args: &[&str]| world.run(&[&["schedule", "next"], args, &from[..]].concat());
    insta::assert_snapshot!(ask(&["backup"]));
    insta::assert_snapshot!(ask(&["idle"]));
    insta::assert_snapshot!(ask(&["backup", "--json"]));
    insta::assert_snapshot!(ask(&["done"]));
    insta::assert_snapshot!(world.run(&["schedule", "next", "greet"]));
    insta::assert_snapshot!(world.run(&["schedule", "next", "bakup"]));
}

/// The shape that scripts rely on.
#[test]
fn preview() {
    let world = World::new();
    let from = ["--tz", "America/New_York", "--from", "2026-03-07T00:00"];
    let ask = |args: &[&str]| world.run(&[&["schedule", "preview"], args, &from[..]].concat());
    insta::assert_snapshot!(ask(&["30 2 * * *", "-n", "3", "--json"]));
    insta::assert_snapshot!(ask(&["0 */6 * * *", "-n", "8"]));
    insta::assert_snapshot!(ask(&["every", "30m", "-n", "2"]));
    insta::assert_snapshot!(ask(&["in 1h30m"]));
    insta::assert_snapshot!(ask(&["2020-02-14T15:00"]));
    insta::assert_snapshot!(ask(&["tomorrow"]));
    insta::assert_snapshot!(ask(&["0 25 * * *", "--json"]));
    assert_eq!(world.code(&["schedule", "preview", "@daily", "-n", "0"]), 2);
    assert_eq!(
        world.code(&["schedule", "preview", "@daily", "--tz", "Mars/X"]),
        2
    );
    assert_eq!(
        world.code(&["schedule", "preview", "@daily", "--from", "now"]),
        2
    );
}

/// Compares misfire rules side by side; a second downtime lasts until the end of the period.
#[test]
fn simulate_rules() {
    let world = World::new();
    for (name, misfire) in [("poll", "once"), ("batch", "all"), ("ping", "skip")] {
        let more = format!("schedule: \"*/30 * * * *\"\nmisfire: {misfire}\nmisfire_window: 1h");
        world.write(&format!("home/skills/{name}.yaml"), skill(name, &more));
    }
    insta::assert_snapshot!(world.run(&[
        "schedule",
        "simulate",
        "--from",
        "2026-10-24T23:45",
        "--to",
        "2026-10-25T04:00",
        "--down",
        "2026-10-25T01:10..2026-10-25T02:45:00+01:00",
        "--down",
        "2026-10-25T03:10..2026-10-26T00:00",
    ]));
}

#[test]
fn simulate() {
    let world = world();
    // A night of downtime in which New York's clock goes forward.
    let night = [
        "--from",
        "2098-03-08T06:00",
        "--to",
        "2098-03-10T09:00",
        "--down",
        "2098-03-08T20:00..2098-03-09T09:30",
    ];
    let ask = |args: &[&str]| world.run(&[&["schedule", "simulate"], &night[..], args].concat());
    insta::assert_snapshot!(ask(&[]));
    insta::assert_snapshot!(ask(&["--skill", "idle", "--skill", "backup"]));
    insta::assert_snapshot!(ask(&["--skill", "backup", "--json"]));
    insta::assert_snapshot!(ask(&["--skill", "digest"]));
    insta::assert_snapshot!(ask(&["--down", "2098-03-09"]));
    insta::assert_snapshot!(ask(&["--down", "2098-03-09T10:00..2098-03-09T09:00"]));
    insta::assert_snapshot!(world.run(&[
        "schedule",
        "simulate",
        "--from",
        "2098-03-09T00:00",
        "--to",
        "2098-03-08T00:00",
    ]));
}

/// A result that would be too long is refused.
#[test]
fn a_simulation_has_an_end() {
    let world = World::new();
    world.write(
        "home/skills/busy.yaml",
        skill("busy", "schedule: \"* * * * * *\""),
    );
    let ask = [
        "schedule",
        "simulate",
        "--from",
        "2026-01-01T00:00",
        "--to",
        "2026-02-01T00:00",
    ];
    insta::assert_snapshot!(world.run(&ask));
}

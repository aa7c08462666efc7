//! Reminders and schedules given in words, on a real terminal.

use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::screens::{both_widths, screen};
use crate::support::{SKILL, WORKFLOW, World};

/// A workflow of the home, without a schedule.
const DIGEST: &str =
    "name: digest\ndescription: Sends the digest\nsteps:\n  - {id: look, tool: time.now}\n";

fn home() -> World {
    let world = World::new();
    world
        .write("home/skills/digest.yaml", DIGEST)
        .write("home/skills/report.yaml", WORKFLOW);
    world
}

fn schedule(world: &World, skill: &str) -> Value {
    let listed = world.json(&["schedule", "list", "--json"]);
    let all = listed["schedules"].as_array().unwrap();
    let found = all.iter().find(|entry| entry["skill"] == skill);
    found.cloned().unwrap_or(Value::Null)
}

#[test]
fn a_reminder_is_one_sentence() {
    let world = World::new();
    let shown = [
        both_widths(&world, &["remind", "drink water", "in", "5m"]),
        // Without quotes, and with the time first.
        screen(
            &world,
            &["remind", "me", "to", "stand", "up", "every", "2", "hours"],
            80,
        ),
        screen(&world, &["remind", "tomorrow", "9:00", "call", "mom"], 80),
        screen(&world, &["remind", "soon"], 80),
        screen(&world, &["remind", "tea", "at", "25:00"], 80),
        screen(&world, &["remind", "tea", "in", "0m"], 80),
        screen(&world, &["remind", "tea", "in", "2", "months"], 80),
        screen(&world, &["remind", "pay", "2020-01-01", "9:00"], 80),
        screen(
            &world,
            &["remind", "pay", "rent", "every", "month", "at", "9:00"],
            80,
        ),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

/// A reminder is a record with one call and no model; the daemon sends it.
#[test]
fn a_reminder_arrives() {
    let world = World::new();
    let mut daemon = Daemon::start(&world);
    let set = world.json(&["remind", "drink {{ water }}", "in", "1s", "--json"]);
    assert_eq!(set["change"], "set", "{set:#}");
    assert_eq!(set["daemon_running"], true, "{set:#}");
    daemon.until("Drink {{ water }}");
    let skill = set["skill"].as_str().unwrap();
    let shown = world.json(&["skills", "show", skill, "--json"]);
    assert_eq!(shown["skill"]["tier"], "direct", "{shown:#}");
}

/// Two reminders with the same text are two skills.
#[test]
fn reminders_with_the_same_text_are_numbered() {
    let world = World::new();
    let names = [0, 1].map(|_| {
        let set = world.json(&["remind", "drink", "water", "in", "5m", "--json"]);
        set["name"].as_str().unwrap().to_owned()
    });
    assert_eq!(names, ["Drink water", "Drink water 2"]);
    let removed = world.json(&["schedule", "remove", "drink", "water", "--json"]);
    assert_eq!(removed["change"], "deleted", "{removed:#}");
    assert_eq!(schedule(&world, "drink-water"), Value::Null);
    assert_ne!(schedule(&world, "drink-water-2"), Value::Null);
}

#[test]
fn a_schedule_is_added_paused_resumed_and_removed() {
    let world = home();
    let before = world.read("home/skills/digest.yaml");
    let shown = [
        both_widths(&world, &["schedule", "add", "digest", "daily 9:00"]),
        screen(&world, &["schedule", "pause", "digest"], 80),
        screen(&world, &["schedule", "list"], 120),
        screen(&world, &["schedule", "resume", "digest"], 80),
        screen(&world, &["schedule", "remove", "digest"], 80),
        screen(&world, &["schedule", "pause", "digest"], 80),
        screen(&world, &["schedule", "add", "digset", "daily 9:00"], 80),
        screen(
            &world,
            &["schedule", "add", "digest", "whenever it rains"],
            80,
        ),
    ];
    insta::assert_snapshot!(shown.join("\n"));
    // The schedule is stored as an overlay; the file is unchanged.
    assert_eq!(world.read("home/skills/digest.yaml"), before);
}

/// A new schedule replaces the one in the file, and `skills restore` brings the one in the file back.
#[test]
fn a_schedule_of_a_file_is_replaced_and_restored() {
    let world = home();
    let set = world.json(&[
        "schedule",
        "add",
        "report",
        "mondays",
        "8:00",
        "--tz",
        "America/New_York",
        "--json",
    ]);
    assert_eq!(set["zone"], "America/New_York", "{set:#}");
    // Without `--tz` the next schedule keeps the zone, and a hint says so.
    let kept = world.run(&["schedule", "add", "report", "mondays 8:00"]);
    let hint = "times of this skill stay in the zone `America/New_York`; `--tz Europe/Berlin`";
    assert!(kept.contains(hint), "{kept}");
    assert_eq!(schedule(&world, "report")["words"], "at 08:00 on Monday");
    let removed = world.json(&["schedule", "remove", "report", "--json"]);
    assert_eq!(removed["change"], "removed", "{removed:#}");
    assert_eq!(schedule(&world, "report"), Value::Null);
    assert_eq!(world.code(&["skills", "restore", "report"]), 0);
    assert_eq!(
        schedule(&world, "report")["words"],
        "at 08:00, Monday to Friday"
    );
}

/// Records accept the same words, from an assistant or a person.
#[test]
fn records_take_words() {
    let world = World::new();
    let store = |when: &str| {
        let args = json!({
            "name": when,
            "instructions": "Say hello",
            "trigger_config": {"when": when},
        });
        let args = args.to_string();
        world.json(&[
            "tools",
            "call",
            "memory_store_skill",
            "--args",
            &args,
            "--json",
        ])
    };
    let stored = store("1st of the month 9:00");
    let words = stored["value"]["skill"]["trigger"]["words"].clone();
    assert_eq!(words, "at 09:00 on day 1 of the month", "{stored:#}");
    let stored = store("0 9 * * 1-5");
    let words = stored["value"]["skill"]["trigger"]["words"].clone();
    assert_eq!(words, "at 09:00, Monday to Friday", "{stored:#}");
    let refused = store("whenever it rains");
    assert!(
        refused.to_string().contains("every weekday 9:00"),
        "{refused:#}"
    );
}

/// Filtering by an unknown skill is an error, not an empty list.
#[test]
fn an_unknown_skill_in_a_filter_is_an_error() {
    let world = World::new();
    world.write("home/skills/greet/SKILL.md", SKILL);
    assert_eq!(world.code(&["runs", "list", "--skill", "greet"]), 0);
    let refused = world.json(&["runs", "list", "--skill", "gret", "--json"]);
    assert_eq!(refused["error"]["code"], "unknown_skill", "{refused:#}");
    assert_eq!(refused["error"]["hint"], "did you mean `greet`?");
}

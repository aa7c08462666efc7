//! Changes of assistants to skills with files, and how a person sees and discards them (S0.61).

use serde_json::{Value, json};

use crate::daemon::skill;
use crate::records::call;
use crate::support::{WORKFLOW, World};

/// Creates a home with `deft init`.
fn seeded() -> World {
    let world = World::new();
    assert_eq!(world.code(&["init"]), 0);
    world
}

#[test]
fn changes_to_a_file_skill_can_be_shown_and_reverted() {
    let world = seeded();
    let path = "home/skills/evening-recap/SKILL.md";
    let file = world.read(path);
    let when = json!({"id": "Evening Recap", "trigger_config": {"schedule": "30 17 * * *"}});
    let (code, changed) = call(&world, "memory_update_skill", &when);
    assert_eq!(code, 0, "{changed:#}");
    assert_eq!(world.read(path), file, "the file stays as it was written");
    let shown = skill(&world, "evening-recap");
    assert_eq!(
        (
            &shown["trigger"]["words"],
            &shown["changed_fields"],
            &shown["changed_by"]
        ),
        (
            &json!("every day at 17:30 (America/New_York)"),
            &json!(["trigger_config"]),
            &Value::Null
        ),
        "{shown:#}"
    );
    let text = world.run(&["skills", "show", "Evening Recap"]);
    let message = "trigger_config by a person; `deft skills restore evening-recap` discards that";
    assert!(text.contains(message), "{text}");
    let schedules = world.json(&["schedule", "list", "--json"]);
    let schedules = schedules["schedules"].as_array().unwrap();
    let recap = schedules
        .iter()
        .find(|it| it["skill"] == "evening-recap")
        .unwrap();
    assert_eq!(
        (&recap["words"], &recap["disabled_reason"]),
        (&json!("every day at 17:30"), &json!("missing_tools"))
    );

    let restored = world.run(&["skills", "restore", "Evening Recap"]);
    assert!(
        restored.contains("`evening-recap` restored from its file; it is disabled (tools missing)"),
        "{restored}"
    );
    assert_eq!(
        skill(&world, "evening-recap")["trigger"]["words"],
        "every day at 18:00 (America/New_York)"
    );
    let again = world.run(&["skills", "restore", "evening-recap"]);
    assert!(again.starts_with("exit 2"), "{again}");
    assert!(
        again.contains("no assistant has changed the file skill"),
        "{again}"
    );
}

#[test]
fn a_deleted_default_is_listed_and_can_be_restored() {
    let world = seeded();
    let (code, deleted) = call(
        &world,
        "memory_delete_skill",
        &json!({"id": "Evening Recap"}),
    );
    assert_eq!(
        (code, &deleted["value"]["deleted"]),
        (0, &json!("evening-recap"))
    );
    assert!(world.path("home/skills/evening-recap/SKILL.md").exists());
    let shown = skill(&world, "evening-recap");
    assert_eq!(
        (&shown["enabled"], &shown["disabled_reason"]),
        (&json!(false), &json!("deleted"))
    );
    let list = world.run(&["skills", "list"]);
    assert!(list.contains("disabled (deleted)"), "{list}");
    let run = world.run(&["run", "evening-recap"]);
    assert!(run.starts_with("exit 2"), "{run}");
    assert!(
        run.contains("`deft skills enable evening-recap` restores it"),
        "{run}"
    );
    assert_eq!(world.code(&["skills", "enable", "Evening Recap"]), 0);
    assert_eq!(
        skill(&world, "evening-recap")["disabled_reason"],
        Value::Null
    );
}

/// Commands accept the name of a skill wherever they accept its id.
#[test]
fn commands_accept_names_in_place_of_ids() {
    let world = seeded();
    world.write("home/skills/report.yaml", WORKFLOW);
    for args in [
        ["skills", "show", "Morning Briefing", "--json"].as_slice(),
        &["skills", "disable", "Morning Briefing", "--json"],
        &["skills", "enable", "Morning Briefing", "--json"],
        &["schedule", "next", "Morning Briefing", "--json"],
        &["skills", "export", "Morning Briefing", "--json"],
        &["run", "Report", "--dry-run", "--json"],
    ] {
        assert_eq!(world.code(args), 0, "{args:?}: {}", world.run(args));
    }
    let (code, got) = call(
        &world,
        "memory_get_skill",
        &json!({"name": "Morning Briefing"}),
    );
    assert_eq!(
        (code, &got["value"]["skill"]["id"]),
        (0, &json!("morning-briefing"))
    );
}

/// S0.86: the default skills wait for their tools, whichever command opens a home first.
#[test]
fn defaults_wait_for_tools_after_any_first_command() {
    for first in [
        ["chat", "-p", "hello", "--show-prompt"].as_slice(),
        &["tools", "list"],
        &["skills", "disable", "countdown"],
        &[
            "tools",
            "call",
            "memory_get_skill",
            "--args",
            r#"{"id": "email-processor"}"#,
        ],
        &["tick"],
    ] {
        let world = seeded();
        world.run(first);
        assert_eq!(world.code(&["tick"]), 0);
        for id in [
            "email-processor",
            "meeting-overload-warning",
            "weekly-digest",
        ] {
            assert_eq!(
                skill(&world, id)["disabled_reason"],
                "missing_tools",
                "{first:?}"
            );
        }
    }
}

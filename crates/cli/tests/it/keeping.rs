//! Read-only homes, pruned runs, and standing approvals.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::World;

const STEPS: &str = "\
name: steps
description: A step and a question
steps:
  - {id: first, tool: time.now}
confirmations:
  - {step: first, message: \"Go on?\"}
";

fn steps() -> World {
    let world = World::new();
    world.write("home/skills/steps.yaml", STEPS);
    world
}

fn ids(world: &World) -> Vec<String> {
    let listed = world.json(&["runs", "list", "--json"]);
    let runs = listed["runs"].as_array().unwrap().iter();
    runs.map(|run| run["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Removes or restores write permission for everything in a folder.
pub(crate) fn set_writable(folder: &Path, writable: bool) {
    let mode = |folder: bool| match (folder, writable) {
        (true, true) => 0o755,
        (true, false) => 0o555,
        (false, true) => 0o644,
        (false, false) => 0o444,
    };
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let is_folder = entry.file_type().unwrap().is_dir();
        if is_folder {
            set_writable(&entry.path(), writable);
        } else {
            fs::set_permissions(entry.path(), Permissions::from_mode(mode(false))).unwrap();
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(mode(true))).unwrap();
}

/// Returns a command that runs as a user to whom permissions apply, because root may write anywhere.
pub(crate) fn as_unprivileged_user(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(args);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let copy = world.path("deft");
        if !copy.exists() {
            fs::set_permissions(world.path(""), Permissions::from_mode(0o755)).unwrap();
            fs::copy(env!("CARGO_BIN_EXE_deft"), &copy).unwrap();
        }
        let mut other = Command::new(copy);
        other.args(args).current_dir(world.path(""));
        other
            .env_clear()
            .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
        other.uid(65534).gid(65534);
        command = other;
    }
    command
}

#[test]
fn a_read_only_home_can_be_read() {
    let world = steps();
    world.write("home/config.toml", "[time]\nzone = \"UTC\"\n");
    assert_eq!(world.code(&["init"]), 0);
    let run = world.json(&["run", "steps", "--json", "--yes"]);
    assert_eq!(world.code(&["run", "steps"]), 5);
    let id = run["id"].as_str().unwrap();
    set_writable(&world.path("home"), false);
    for (args, wanted) in [
        (&["runs", "list"][..], id),
        (&["runs", "show", id], "✓ first"),
        (&["runs", "logs", id], "skill_completed"),
        (&["runs", "export", id], "journal"),
        (
            &["runs", "prune", "--older-than", "1ms", "--dry-run"],
            "would delete 1 run",
        ),
        (&["skills", "list"], "steps"),
        (&["skills", "show", "steps"], "steps"),
        (&["approvals", "list"], "Go on?"),
        (&["approvals", "grants", "--json"], "grants"),
        (&["tools", "list"], "time.now"),
        (&["mcp", "list", "--json"], "servers"),
        (&["config", "show"], "UTC"),
    ] {
        let output = as_unprivileged_user(&world, args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let received = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && text.contains(wanted),
            "{args:?}: {text}{received}"
        );
    }
    let refused = as_unprivileged_user(&world, &["runs", "cancel", id])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    for args in [&["init"][..], &["up", "--for", "1s"]] {
        let refused = as_unprivileged_user(&world, args).output().unwrap();
        let received = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{args:?}: {received}");
        assert!(received.contains("`--home DIR`"), "{args:?}: {received}");
    }
    let mending = as_unprivileged_user(&world, &["doctor", "--fix"])
        .output()
        .unwrap();
    let received = String::from_utf8_lossy(&mending.stdout);
    // The owner of the home may repair it; any other user gets an error.
    let mended = received.contains("fixed: other users");
    assert!(
        mended || received.contains("fixing it failed"),
        "{received}"
    );
    set_writable(&world.path("home"), true);
}

#[test]
fn read_commands_do_not_create_a_home() {
    let world = World::new();
    for args in [
        &["runs", "list"][..],
        &["approvals", "list"],
        &["approvals", "grants"],
        &["skills", "list"],
        &["tools", "list"],
        &["config", "show"],
    ] {
        assert_eq!(world.code(args), 0, "{args:?}");
    }
    assert_eq!(world.code(&["runs", "show", "run_1"]), 2);
    assert!(!world.path("home").exists());
}

#[test]
fn old_runs_are_deleted_but_their_keys_stay_reserved() {
    let world = steps();
    let first = world.json(&["run", "steps", "--yes", "--json", "--key", "k"]);
    let second = world.json(&["run", "steps", "--yes", "--json"]);
    let waits = world.json(&["run", "steps", "--json"]);
    let id = |run: &Value| run["id"].as_str().unwrap().to_owned();
    world.write(
        &format!("home/data/results/{}/first.json", id(&first)),
        "[]",
    );
    let young = world.json(&["runs", "prune", "--older-than", "1d", "--json"]);
    assert_eq!(young["runs"], json!([]));
    let all = ["runs", "prune", "--older-than", "1ms", "--json"];
    let counted = world.json(&[&all[..], &["--dry-run"]].concat());
    assert_eq!(
        counted["runs"],
        json!([first["id"], second["id"]]),
        "{counted:#}"
    );
    assert_eq!(ids(&world).len(), 3);
    let deleted = world.json(&all);
    assert_eq!(deleted["runs"], counted["runs"]);
    assert_eq!(deleted["events"], counted["events"]);
    assert_eq!(ids(&world), [id(&waits)], "what is not over stays");
    assert!(
        !world
            .path(&format!("home/data/results/{}", id(&first)))
            .exists()
    );
    let again = world.json(&["run", "steps", "--yes", "--json", "--key", "k"]);
    assert_eq!(
        (&again["id"], &again["outcome"]),
        (&first["id"], &json!("success"))
    );
    assert_eq!(ids(&world), [id(&waits)]);
    insta::assert_snapshot!(world.run(&["runs", "prune", "--before", "2999-01-01T00:00:00Z"]));
    let day = world.json(&["runs", "prune", "--before", "2020-07-01", "--json"]);
    assert_eq!(day["before"], "2020-07-01T00:00:00+02:00");
    insta::assert_snapshot!(world.run(&["runs", "prune", "--older-than", "soon"]));
    insta::assert_snapshot!(world.run(&["runs", "prune", "--json"]));
}

#[test]
fn a_standing_answer_is_listed_and_revoked() {
    let world = steps();
    insta::assert_snapshot!(world.run(&["approvals", "grants"]));
    assert_eq!(world.code(&["run", "steps"]), 5);
    let listed = world.output(&["approvals", "list"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let asked = world.json(&["approvals", "list", "--json"])["approvals"][0].take();
    let of_run = asked["run"].as_str().unwrap();
    assert!(
        listed.contains(of_run) && listed.contains("ASKED"),
        "{listed}"
    );
    let question = asked["id"].as_str().unwrap();
    assert_eq!(
        world.code(&["approvals", "approve", question, "--always"]),
        0
    );
    let again = world.run(&["approvals", "approve", question]);
    assert!(
        again.contains(&format!("hint: `deft runs show {of_run}`")),
        "{again}"
    );
    let grants = world.json(&["approvals", "grants", "--json"]);
    let grant = &grants["grants"][0];
    assert_eq!(
        (&grant["skill"], &grant["describes"]),
        (&json!("steps"), &json!("first: Go on?"))
    );
    assert_eq!(
        world.json(&["run", "steps", "--json"])["outcome"],
        "success"
    );
    let id = grant["id"].as_str().unwrap();
    let text = world.run(&["approvals", "grants"]);
    assert!(
        text.contains(id) && text.contains("first: Go on?"),
        "{text}"
    );
    let revoked = world.json(&["approvals", "revoke", &id[..10], "--json"]);
    assert_eq!(
        (&revoked["grant"]["id"], &revoked["revoked"]),
        (&grant["id"], &json!(true))
    );
    insta::assert_snapshot!(world.run(&["approvals", "revoke", "grant_x"]));
    assert_eq!(world.json(&["run", "steps", "--json"])["status"], "waiting");
}

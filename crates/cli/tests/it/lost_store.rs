//! If a database is deleted, replaced or overwritten while a process uses it, the process exits, so two
//! databases never fire the same slot or make the same call.

use std::fs;

use deft_testkit::{Kind, Script, witness};
use serde_json::json;

use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::{World, server};

/// Calls a tool each second.
const TICKING: &str = "\
name: ticking
description: Calls a tool each second
schedule: \"* * * * * *\"
steps:
  - {id: call, tool: work, effects: once}
";

const SLOW: &str = "\
name: slow
description: Takes its time
steps:
  - {id: wait, tool: hang, effects: once}
";

/// Creates a home with both skills and a server that records its calls.
fn world() -> World {
    let world = used_home();
    let script = Script::new()
        .tool("work", json!({"text": "ok"}))
        .tool("hang", json!({"hang": true}));
    let config = server(&world, &script);
    world
        .write("home/config.toml", config)
        .write("home/skills/ticking.yaml", TICKING)
        .write("home/skills/slow.yaml", SLOW);
    world
}

fn calls(world: &World, tool: &str) -> usize {
    let seen = witness(&world.path("server/demo.log"));
    let begun = seen.iter().filter(|event| event.kind == Kind::Started);
    begun.filter(|event| event.tool == tool).count()
}

/// Starts a daemon, waits until it is in the middle of calls, damages its database, and returns its output
/// after it has exited.
fn output_after_damage(world: &World, harm: impl FnOnce()) -> String {
    let daemon = Daemon::start(world);
    assert_eq!(world.code(&["run", "slow", "--detach"]), 0);
    wait_for("calls under way", || {
        (calls(world, "work") > 0 && calls(world, "hang") == 1).then_some(())
    });
    harm();
    let (status, said) = daemon.end();
    assert_eq!(status.code(), Some(2), "{said}");
    said
}

#[test]
fn a_daemon_ends_when_its_database_is_deleted() {
    let world = world();
    let database = world.path("home/data/deft.db");
    let output = output_after_damage(&world, || fs::remove_file(&database).unwrap());
    let told = format!(
        "the database `{}` was deleted while deft was using it",
        database.display()
    );
    assert!(output.contains(&format!("{told}; deft stops")), "{output}");
    assert!(output.contains(&format!("error: {told}")), "{output}");
    assert!(output.contains("hint: stop all deft processes"), "{output}");
    assert!(world.read("home/logs/deft.log").contains(&told));
    // The daemon has not created a new database.
    assert!(!database.exists());
    // The next start creates a new database.
    let before = calls(&world, "work");
    let daemon = Daemon::start(&world);
    wait_for("a call", || (calls(&world, "work") > before).then_some(()));
    daemon.stop();
}

#[test]
fn a_daemon_ends_when_its_database_is_replaced() {
    let world = world();
    let database = world.path("home/data/deft.db");
    let copy = world.path("home/data/copy.db");
    let output = output_after_damage(&world, || {
        fs::copy(&database, &copy).unwrap();
        fs::rename(&copy, &database).unwrap();
    });
    assert!(
        output.contains("was replaced by another file while deft was using it; deft stops"),
        "{output}"
    );
}

#[test]
fn a_daemon_ends_when_a_backup_is_copied_over_its_database() {
    let world = world();
    let database = world.path("home/data/deft.db");
    let backup = world.path("home/data/backup.db");
    let daemon = Daemon::start(&world);
    wait_for("a call", || (calls(&world, "work") > 0).then_some(()));
    // The last process that closes the database merges the log into the file.
    daemon.stop();
    fs::copy(&database, &backup).unwrap();
    let daemon = Daemon::start(&world);
    wait_for("calls", || (calls(&world, "work") > 2).then_some(()));
    daemon.stop();
    let output = output_after_damage(&world, || {
        fs::copy(&backup, &database).unwrap();
    });
    assert!(
        output.contains("was overwritten by another program while deft was using it; deft stops"),
        "{output}"
    );
}

/// One call deletes the database; the next call must not be made, because it could not be recorded.
#[test]
fn a_command_makes_no_call_without_its_database() {
    let world = World::new();
    let database = world.path("home/data/deft.db").display().to_string();
    let called = world.path("called").display().to_string();
    world
        .write("home/config.toml", "[tools.shell]\nenabled = true\n")
        .write(
            "home/skills/two.yaml",
            format!(
                "name: two\ndescription: Two calls\nsteps:\n  \
                 - {{id: harm, tool: shell.run, args: {{command: [rm, \"{database}\"]}}}}\n  \
                 - {{id: after, tool: shell.run, args: {{command: [touch, \"{called}\"]}}}}\n"
            ),
        );
    let output = world.run(&["run", "two"]);
    assert!(output.starts_with("exit 2"), "{output}");
    assert!(
        output.contains("was deleted while deft was using it"),
        "{output}"
    );
    assert!(!world.path("called").exists(), "{output}");
}

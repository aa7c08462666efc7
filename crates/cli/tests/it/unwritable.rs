//! Commands that only read, without write access: another user's home, a read-only disk, a full disk; after a
//! clean shutdown, and after a crash that left a write-ahead log.

use std::fs;
use std::process::{Command, Output};

use crate::daemon::{Daemon, used_home, wait_for};
use crate::keeping::{as_unprivileged_user, set_writable};
use crate::support::World;

const STEPS: &str = "\
name: steps
description: A step and a question
schedule: \"0 9 * * *\"
steps:
  - {id: first, tool: time.now}
confirmations:
  - {step: first, message: \"Go on?\"}
";

/// The files of the database besides its main file.
#[derive(Clone, Copy, PartialEq)]
enum HomeState {
    /// None: the last process shut down cleanly.
    Nothing,
    /// The log: the last process was killed, and the newest rows are only in the log.
    Log,
    /// The log without its index, as in a backup.
    LogAlone,
}

/// Creates a home with a successful run and a run that waits for an approval. Returns the home and a run id.
fn world(left: HomeState) -> (World, String) {
    let world = used_home();
    world.write("home/skills/steps.yaml", STEPS);
    assert_eq!(world.code(&["tick"]), 0);
    let daemon = (left != HomeState::Nothing).then(|| Daemon::start(&world));
    let run = world.json(&["run", "steps", "--json", "--yes"]);
    assert_eq!(world.code(&["run", "steps"]), 5);
    let id = run["id"].as_str().unwrap().to_owned();
    if let Some(daemon) = daemon {
        daemon.kill();
    }
    let log = world.path("home/data/deft.db-wal");
    assert_eq!(log.exists(), left != HomeState::Nothing);
    if left == HomeState::LogAlone {
        fs::remove_file(world.path("home/data/deft.db-shm")).unwrap();
    }
    (world, id)
}

/// Asserts that every command that only reads prints the stored data.
fn check(left: HomeState, id: &str, run: impl Fn(&[&str]) -> Output) {
    let commands: [(&[&str], &str); 21] = [
        (&["runs", "list"], id),
        (&["runs", "list", "--json"], id),
        (&["runs", "show", id], "✓ first"),
        (&["runs", "logs", id], "skill_completed"),
        (&["runs", "export", id], "journal"),
        (&["skills", "list"], "steps"),
        (&["skills", "show", "steps"], "steps"),
        (&["skills", "doctor"], "1 skill"),
        (&["schedule", "list"], "every day at 09:00"),
        (&["schedule", "next", "steps"], "09:00"),
        (&["approvals", "list"], "Go on?"),
        (&["approvals", "grants", "--json"], "grants"),
        (&["notices", "list", "--json"], "notices"),
        (&["jobs", "list", "--json"], "jobs"),
        (&["chat", "list", "--json"], "conversations"),
        (&["chat", "search", "words", "--json"], "messages"),
        (&["budget", "show"], "all"),
        (&["tools", "list"], "time.now"),
        (&["mcp", "list", "--json"], "servers"),
        (&["config", "show"], "budget.on_exhausted"),
        (&["doctor", "--json"], "store.open"),
    ];
    for (args, wanted) in commands {
        let output = run(args);
        let text = String::from_utf8_lossy(&output.stdout);
        let received = String::from_utf8_lossy(&output.stderr);
        // `deft doctor` may fail, because it finds problems here.
        let fine = output.status.success() || args[0] == "doctor";
        assert!(
            fine && text.contains(wanted),
            "{args:?}, log {}: {text}{received}",
            left != HomeState::Nothing
        );
    }
}

#[test]
fn every_read_command_works_on_a_read_only_home() {
    for left in [HomeState::Nothing, HomeState::Log, HomeState::LogAlone] {
        let (world, id) = world(left);
        set_writable(&world.path("home"), false);
        check(left, &id, |args| {
            as_unprivileged_user(&world, args).output().unwrap()
        });
        set_writable(&world.path("home"), true);
    }
}

/// Runs a command with a file size limit of zero: files can be created but not written, as on a full disk.
fn on_full_disk(world: &World, args: &[&str]) -> Output {
    let deft = world.command(args);
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
        .arg(deft.get_program())
        .args(args)
        .current_dir(world.path(""))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .envs(deft.get_envs().filter_map(|(k, v)| Some((k, v?))));
    command.output().unwrap()
}

#[test]
fn a_home_on_a_full_disk_can_be_read() {
    for left in [HomeState::Nothing, HomeState::Log, HomeState::LogAlone] {
        let (world, id) = world(left);
        check(left, &id, |args| on_full_disk(&world, args));
        let refused = on_full_disk(&world, &["run", "steps"]);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("hint: "), "{text}");
        // After the disk has room again, nothing is lost.
        let listed = world.json(&["runs", "list", "--json"]);
        assert_eq!(listed["runs"].as_array().unwrap().len(), 2, "{listed:#}");
    }
}

/// While a daemon has the database open, other processes can read it on a full disk.
#[test]
fn a_home_on_a_full_disk_can_be_read_while_a_daemon_runs() {
    let (world, id) = world(HomeState::Nothing);
    let daemon = Daemon::start(&world);
    check(HomeState::Nothing, &id, |args| on_full_disk(&world, args));
    wait_for("the run", || {
        let shown = world.json(&["runs", "show", &id, "--json"]);
        (shown["run"]["outcome"] == "success").then_some(())
    });
    daemon.stop();
}

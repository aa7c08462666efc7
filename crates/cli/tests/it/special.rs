//! Pipes, devices and links in place of files: no command waits for them or reads them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::daemon::{WAIT_TIMEOUT, used_home};
use crate::support::{SKILL, WORKFLOW, World};

fn pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Runs a command and returns its exit code and all output. A command that waits for a pipe is killed by
/// `timeout`, with a different exit code.
fn bounded(world: &World, args: &[&str]) -> (i32, String) {
    let deft = world.command(args);
    let mut command = Command::new("timeout");
    command
        .args(["--signal=KILL", &WAIT_TIMEOUT.as_secs().to_string()])
        .arg(deft.get_program())
        .args(deft.get_args())
        .current_dir(world.path(""))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null());
    for (name, value) in deft.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let place = world.path("").display().to_string();
    let printed = text(&output.stdout) + &text(&output.stderr);
    let Some(code) = output.status.code() else {
        panic!("{args:?} waits for a pipe: {printed}");
    };
    (
        code,
        printed.replace(place.trim_end_matches('/'), "[world]"),
    )
}

#[test]
fn a_pipe_as_the_configuration_blocks_no_command() {
    let world = used_home();
    pipe(&world.path("home/config.toml"));
    let expected = "cannot read `[world]/home/config.toml`: it is a named pipe, not a regular file";
    for args in [
        &["skills", "list"][..],
        &["run", "x"],
        &["doctor"],
        &["config", "show"],
        &["config", "set", "time.zone", "UTC"],
        &["mcp", "list"],
        &["tools", "list"],
        &["chat", "-p", "x"],
        &["up"],
        &["tick"],
        &["runs", "list"],
    ] {
        let (code, said) = bounded(&world, args);
        assert!(
            code != 0 && said.contains(expected),
            "{args:?}: {code} {said}"
        );
    }
}

#[test]
fn named_files_must_be_regular_files() {
    let world = World::new();
    world.write("home/skills/report.yaml", WORKFLOW);
    pipe(&world.path("pipe.json"));
    pipe(&world.path("pipe.md"));
    pipe(&world.path("shady/SKILL.md"));
    let why = "it is a named pipe, not a regular file";
    for args in [
        &["run", "report", "--inputs", "pipe.json"][..],
        &["mcp", "import", "pipe.json"],
        &["skills", "validate", "pipe.md"],
        &["skills", "validate", "shady"],
        &["skills", "validate", "shady", "--profile", "agentskills"],
        &["skills", "import", "pipe.md"],
    ] {
        let (code, said) = bounded(&world, args);
        assert!(
            code != 0 && said.contains("a named pipe, not a regular file"),
            "{args:?}: {code} {said}"
        );
    }
    let (_, said) = bounded(&world, &["run", "report", "--inputs", "pipe.json"]);
    let expected =
        format!("error: cannot read `pipe.json`: {why}\nhint: `--inputs -` reads stdin\n");
    assert_eq!(said, expected);
    for device in ["/dev/zero", "/dev/stdin", "/proc/self/environ"] {
        let (code, said) = bounded(&world, &["run", "report", "--inputs", device]);
        assert!(
            code == 2 && said.contains("cannot read"),
            "{device}: {code} {said}"
        );
    }
}

#[test]
fn a_secret_is_read_from_a_regular_file() {
    let world = used_home();
    pipe(&world.path("home/key"));
    for path in ["key", "/dev/zero", "/proc/self/environ"] {
        let config = format!("[mcp_servers.demo]\ncommand = \"true\"\nenv.KEY = \"file:{path}\"\n");
        world.write("home/config.toml", config);
        let (code, said) = bounded(&world, &["mcp", "probe"]);
        assert!(
            code != 0 && said.contains("cannot read"),
            "{path}: {code} {said}"
        );
    }
}

/// Refused files are reported with a reason, and do not affect others.
#[test]
fn doctor_lists_skipped_files_with_reasons() {
    let world = used_home();
    world.write("home/skills/greet/SKILL.md", SKILL);
    world.write("outside/SKILL.md", SKILL.replace("greet", "outside"));
    world.write("outside/key.txt", "secret");
    pipe(&world.path("home/skills/piped/SKILL.md"));
    pipe(&world.path("home/skills/greet/references/pipe"));
    pipe(&world.path("home/agents/piped/AGENT.md"));
    symlink(world.path("outside"), world.path("home/skills/outside")).unwrap();
    symlink(
        world.path("outside/key.txt"),
        world.path("home/skills/greet/key.txt"),
    )
    .unwrap();
    symlink("/proc", world.path("home/skills/system")).unwrap();
    let (code, said) = bounded(&world, &["skills", "doctor"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said);
    let (_, listed) = bounded(&world, &["skills", "list", "-q"]);
    assert!(
        listed.contains("greet") && !listed.contains("outside"),
        "{listed}"
    );
    // The folder is configured, so the link may lead there.
    let paths = format!("[skills]\npaths = [{:?}]\n", world.path("outside"));
    world.write("home/config.toml", paths);
    let (_, listed) = bounded(&world, &["skills", "list", "-q"]);
    assert!(listed.contains("outside"), "{listed}");
}

/// Pipes in place of deft's own files block no command.
#[test]
fn pipes_in_the_home_do_not_block() {
    let world = used_home();
    world.write("home/skills/report.yaml", WORKFLOW);
    for name in [
        "deft.lock",
        "logs/deft.log",
        "logs/notices.log",
        "data/chat_history",
    ] {
        pipe(&world.path("home").join(name));
    }
    for args in [
        &["run", "report"][..],
        &["runs", "list"],
        &["doctor"],
        &["approvals", "list"],
    ] {
        let (_, said) = bounded(&world, args);
        assert!(!said.is_empty(), "{args:?}");
    }
}

/// A full log is rotated by the next process that writes to it, with the configured limits; surplus files are
/// deleted.
#[test]
fn logs_rotate_by_the_limits_of_the_configuration() {
    let world = used_home();
    world.write("home/config.toml", "[logs]\nmax_mb = 1\nkeep = 2\n");
    let full = "{\"timestamp\":\"2026-11-15T12:00:00Z\"}\n".to_owned() + &"x".repeat(1024 * 1024);
    for name in ["deft.log", "notices.log"] {
        world.write(&format!("home/logs/{name}"), &full);
        for number in 1..=4 {
            world.write(
                &format!("home/logs/{name}.{number}"),
                format!("old {number}"),
            );
        }
    }
    world.write(
        "home/skills/noisy.yaml",
        "name: noisy\ndescription: d\nsteps:\n  - {id: say, compute: \"print('hello log')\\nresult = 1\"}\n  \
         - {id: tell, tool: notify, args: {message: hello}}\n",
    );
    let (code, said) = bounded(&world, &["run", "noisy"]);
    assert_eq!(code, 0, "{said}");
    bounded(&world, &["tick"]);
    for (name, line) in [("deft.log", "hello log"), ("notices.log", "hello")] {
        let log = world.read(&format!("home/logs/{name}"));
        assert!(log.contains(line) && log.len() < 10_000, "{name}: {log}");
        assert_eq!(world.read(&format!("home/logs/{name}.1")), full);
        assert_eq!(world.read(&format!("home/logs/{name}.2")), "old 1");
        assert!(!world.path(&format!("home/logs/{name}.3")).exists());
    }
}

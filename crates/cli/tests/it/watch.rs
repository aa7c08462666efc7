//! `deft skills watch`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::{SKILL, World};

#[test]
fn each_change_is_a_line() {
    let world = World::new();
    world.write("home/skills/greet/SKILL.md", SKILL);
    let mut child = world
        .command(&["skills", "watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(
        notes.next().unwrap().unwrap(),
        "watching 1 skill; Ctrl-C stops"
    );
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let path = |below: &str| world.path(below).display().to_string();
    world.write("home/skills/new/SKILL.md", SKILL.replace("greet", "new"));
    assert_eq!(
        next(),
        format!(
            "Reloaded skill: new from {}",
            path("home/skills/new/SKILL.md")
        )
    );
    world.write("home/skills/greet/SKILL.md", "---\nname: greet\n---\n");
    let broken = format!(
        "Invalid skill file {}: `description` is missing; the last valid version of `greet` stays in use",
        path("home/skills/greet/SKILL.md")
    );
    assert_eq!(next(), broken);
    std::fs::remove_dir_all(world.path("home/skills/new")).unwrap();
    assert_eq!(next(), "Removed skill: new");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Large trees can exhaust the watches: then all files are polled, and doctor reports it. A user namespace
/// has its own limit, so other tests are not affected.
#[test]
fn skill_folders_are_polled_without_watches() {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-c", script]);
        command
    };
    let limit = "echo 5 > /proc/sys/user/max_inotify_watches";
    if !unshare(limit)
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("skipped: this machine makes no user namespaces");
        return;
    }
    let world = World::new();
    for at in 0..10 {
        world.write(
            &format!("home/skills/s{at}/SKILL.md"),
            SKILL.replace("greet", &format!("s{at}")),
        );
    }
    let run = |args: &str| {
        let script = format!("{limit} && exec {} {args}", env!("CARGO_BIN_EXE_deft"));
        let mut command = unshare(&script);
        command
            .env("DEFT_HOME", world.path("home"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let report = String::from_utf8(run("skills doctor").output().unwrap().stdout).unwrap();
    assert!(
        report.contains("warning   skills.watch: file changes are found only by polling"),
        "{report}"
    );
    let mut child = run("skills watch").spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(
        notes
            .next()
            .unwrap()
            .unwrap()
            .starts_with("watching 10 skills by polling")
    );
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    world.write(
        "home/skills/s3/SKILL.md",
        SKILL.replace("greet", "s3").replace("hello", "goodbye"),
    );
    assert!(
        lines
            .next()
            .unwrap()
            .unwrap()
            .starts_with("Reloaded skill: s3 from")
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

//! `deft skills watch`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

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
        "watching 1 skill; Ctrl-C ends it"
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
        "Invalid skill file {}: there is no `description`; `greet` stays as it was",
        path("home/skills/greet/SKILL.md")
    );
    assert_eq!(next(), broken);
    std::fs::remove_dir_all(world.path("home/skills/new")).unwrap();
    assert_eq!(next(), "Removed skill: new");
    child.kill().unwrap();
    child.wait().unwrap();
}

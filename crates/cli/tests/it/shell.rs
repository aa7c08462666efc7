//! Shell completion, man pages, and the help of one skill.

use crate::support::{PAGE, World};

const FLOW: &str = "\
name: roll-out
description: Rolls a version out
inputs:
  - {name: namespace, type: string, required: true, description: Where to}
  - {name: replicas, type: integer, default: 2, description: How many}
  - {name: colour, type: string, default: blue, enum: [blue, green]}
steps:
  - {id: now, tool: time.now}
";

fn world() -> World {
    let world = crate::daemon::used_home();
    world.write("home/skills/roll-out.yaml", FLOW);
    world.write("home/skills/email/send.md", PAGE);
    world
}

/// Returns the candidates for the last of these words.
fn candidates(world: &World, words: &[&str]) -> Vec<String> {
    let text = completed(world, "bash", words);
    text.lines().map(str::to_owned).collect()
}

/// Returns the output of deft for a completing shell.
fn completed(world: &World, shell: &str, words: &[&str]) -> String {
    let mut command = world.command(&["--", "deft"]);
    command.args(words).env("COMPLETE", shell);
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_COMP_TYPE", "9");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn names_of_skills_runs_and_tools_are_completed() {
    let world = world();
    assert_eq!(candidates(&world, &["run", "roll"]), ["roll-out"]);
    assert_eq!(
        candidates(&world, &["skills", "show", "email"]),
        ["email.send"]
    );
    assert_eq!(candidates(&world, &["tools", "show", "time"]), ["time.now"]);
    let run = world.json(&["run", "roll-out", "--namespace", "blue", "--json"]);
    let id = run["id"].as_str().unwrap();
    assert_eq!(candidates(&world, &["runs", "show", ""]), ["last", id]);
    assert_eq!(candidates(&world, &["runs", "sh"]), ["show"]);
    // Options are offered after a dash.
    let options = candidates(&world, &["runs", "show", "-"]);
    assert!(options.contains(&"--json".to_owned()), "{options:?}");
    let described = completed(&world, "zsh", &["runs", "show", ""]);
    assert!(
        described.contains(&format!("{id}:roll-out, success")),
        "{described}"
    );
}

#[test]
fn inputs_of_a_skill_are_completed() {
    let world = world();
    let options = candidates(&world, &["run", "roll-out", "--"]);
    for name in ["--namespace", "--replicas", "--colour", "--dry-run"] {
        assert!(options.contains(&name.to_owned()), "{name}: {options:?}");
    }
    assert_eq!(
        candidates(&world, &["run", "roll-out", "--namespace", "blue", "--re"]),
        ["--replicas"]
    );
    let colours = candidates(&world, &["run", "roll-out", "--colour", ""]);
    assert_eq!(colours, ["blue", "green"]);
    assert_eq!(candidates(&world, &["run", "email.send", "--t"]), ["--to"]);
    let described = completed(&world, "zsh", &["run", "roll-out", "--name"]);
    assert!(described.contains("Where to"), "{described}");
}

#[test]
fn every_shell_has_a_script() {
    let world = world();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.run(&["completions", shell]);
        assert!(script.starts_with("exit 0\n"), "{script}");
        assert!(script.contains("COMPLETE"), "{script}");
    }
}

#[test]
fn manual_pages_have_examples() {
    let world = world();
    assert_eq!(world.code(&["man", "--dir", "man"]), 0);
    let page = world.read("man/deft-runs-list.1");
    assert!(
        page.contains(".TH") && page.contains("deft runs list"),
        "{page}"
    );
    let pages = std::fs::read_dir(world.path("man")).unwrap().count();
    assert!(pages > 70, "{pages}");
}

#[test]
fn the_help_of_a_skill_describes_its_inputs() {
    let world = world();
    insta::assert_snapshot!(world.run(&["run", "roll-out", "--help"]));
    insta::assert_snapshot!(world.run(&["run", "email.send", "-h"]));
    // For an unknown skill, the help of the command is shown.
    let help = world.run(&["run", "nothing", "--help"]);
    assert!(help.contains("Usage: deft run [OPTIONS] <NAME>"), "{help}");
}

#[test]
fn a_missing_input_is_named_by_its_flag() {
    let world = world();
    insta::assert_snapshot!(world.run(&["run", "roll-out"]));
    insta::assert_snapshot!(world.run(&["run", "roll-out", "--namespace"]));
}

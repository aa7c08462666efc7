//! `deft cmd`, `deft schema`, `deft completions` and usage.

use crate::support::{PAGE, SKILL, WORKFLOW, World};

fn world() -> World {
    let world = World::new();
    world
        .write("home/skills/greet/SKILL.md", SKILL)
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/report.yaml", WORKFLOW);
    world
}

#[test]
fn get_skill() {
    let world = world();
    insta::assert_snapshot!(world.run(&["cmd", "get_skill"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: email"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill:email.send"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: email.all"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: mail"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: email.sent", "--json"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: a b"]));
}

/// S2.71: `--help` does not execute.
#[test]
fn help_shows_the_page() {
    let world = world();
    let page = world.run(&["cmd", "get_skill: email.send"]);
    assert_eq!(world.run(&["cmd", "email.send --help"]), page);
    assert_eq!(world.run(&["cmd", "email.send --to bob --help"]), page);
}

#[test]
fn what_cannot_be_done_is_said() {
    let world = world();
    insta::assert_snapshot!(world.run(&["cmd", "email.send --to bob"]));
    insta::assert_snapshot!(world.run(&["cmd", "email.sned --to bob"]));
    insta::assert_snapshot!(world.run(&["cmd", "email.send --to \"bob"]));
    insta::assert_snapshot!(world.run(&["cmd", ""]));
    world.write(
        "home/skills/torn.yaml",
        "name: torn\ndescription: d\nsteps: []\n",
    );
    insta::assert_snapshot!(world.run(&["cmd", "torn"]));
}

/// Data goes to stdout and everything else to stderr, also for a run that failed.
#[test]
fn errors_are_not_data() {
    let world = world();
    world
        .write("home/skills/notes/add.md", PAGE.replace("email.send", "notes.add").replace("tags:", "handler: tool:nothing.here\ntags:"))
        .write(
            "home/skills/ask.yaml",
            "name: ask\ndescription: Asks\nsteps:\n  - {id: a, tool: time.now}\nconfirmations:\n  - {step: a, message: Sure}\n",
        );
    for (line, code, said) in [
        ("notes.add --to bob", 1, "error: "),
        ("notes.add", 2, "error: `--to` is missing"),
        ("ask", 5, "error: run run_"),
    ] {
        let output = world.output(&["cmd", line]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {error}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{line}");
        assert!(error.starts_with(said), "{line}: {error}");
        assert!(error.contains("\nhint: "), "{line}: {error}");
        let output = world.output(&["cmd", line, "--json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["ok"], false, "{line}: {document:#}");
        assert_eq!(output.status.code(), Some(code), "{line}: {document:#}");
    }
    // One that fails does not hide the others, and each goes its own way.
    let output = world.output(&["cmd", "notes.add\nget_skill: email"]);
    assert_eq!(output.status.code(), Some(1));
    let (data, error) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(
        data.contains("email.send") && !data.contains("missing"),
        "{data}"
    );
    assert!(error.starts_with("error: `--to` is missing"), "{error}");
}

#[test]
fn schemas_are_of_draft_7() {
    let world = World::new();
    for what in ["skill", "workflow", "record"] {
        let schema = world.json(&["schema", what]);
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
        assert!(schema["properties"]["description"].is_object());
    }
    let workflow = world.json(&["schema", "workflow"]);
    insta::assert_json_snapshot!(workflow["properties"]["steps"]["items"]);
}

#[test]
fn completions_for_every_shell() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = world.output(&["completions", shell]);
        assert!(output.status.success());
        assert!(
            String::from_utf8(output.stdout)
                .unwrap()
                .contains("validate"),
            "{shell}"
        );
    }
}

#[test]
fn usage_mistakes_exit_2() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["skils", "list"]));
    insta::assert_snapshot!(world.run(&["skills", "list", "--tier", "fast", "--json"]));
    assert_eq!(world.code(&["--version"]), 0);
    assert_eq!(world.code(&["--help"]), 0);
}

#[test]
fn help_of_the_binary() {
    insta::assert_snapshot!(World::new().run(&["--help"]));
    insta::assert_snapshot!(World::new().run(&["skills", "--help"]));
}

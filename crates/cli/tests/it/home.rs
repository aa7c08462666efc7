//! Commands that work on the home.

use std::os::unix::fs::PermissionsExt;

use crate::support::{PAGE, SKILL, WORKFLOW, World};

fn world() -> World {
    let world = World::new();
    world
        .write("home/skills/greet/SKILL.md", SKILL)
        .write("home/skills/greet/scripts/run.sh", "echo hello\n")
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/report.yaml", WORKFLOW);
    world
}

#[test]
fn list() {
    insta::assert_snapshot!(world().run(&["skills", "list"]));
    insta::assert_snapshot!(world().run(&["skills", "list", "mail"]));
    insta::assert_snapshot!(World::new().run(&["skills", "list"]));
}

/// The shape that scripts rely on.
#[test]
fn list_as_json() {
    let world = world();
    let mut document = world.json(&["skills", "list", "--json"]);
    for skill in document["skills"].as_array_mut().unwrap() {
        assert_eq!(skill["revision"].as_str().unwrap().len(), 64);
        skill["revision"] = "…".into();
        skill["path"] = skill["path"]
            .as_str()
            .unwrap()
            .replace(world.path("").to_str().unwrap(), "[world]/")
            .into();
        let next = skill["trigger"]["next"].as_array().unwrap().len();
        assert_eq!(next, if skill["id"] == "report" { 3 } else { 0 });
        skill["trigger"]["next"] = next.into();
    }
    insta::assert_json_snapshot!(document);
}

#[test]
fn show() {
    let world = world();
    let text = world.run(&["skills", "show", "greet"]);
    let stable: String = text
        .lines()
        .filter(|line| !line.starts_with("revision"))
        .map(|l| format!("{l}\n"))
        .collect();
    insta::assert_snapshot!(stable);
    insta::assert_snapshot!(world.run(&["skills", "show", "gret"]));
    assert_eq!(
        world.json(&["skills", "show", "email.send", "--json"])["skill"]["body"]["flags"][0]["name"],
        "to"
    );
}

#[test]
fn doctor_names_every_file() {
    let world = world();
    world
        .write(
            "home/config.toml",
            "[skills]\npaths = [\"more\", \"missing\"]\n",
        )
        .write("home/more/greet/SKILL.md", SKILL)
        .write(
            "home/more/secret/SKILL.md",
            SKILL
                .replace("greet", "secret")
                .replace("---\n\n", "disable-model-invocation: true\n---\n\n"),
        )
        .write(
            "home/more/broken.yaml",
            "name: broken\ndescription: x\nsteps: 3\n",
        )
        .write("home/more/bare/x.txt", "x")
        .write("home/more/README.md", "# Hi\n")
        .write("user/.claude/skills/x/SKILL.md", SKILL);
    insta::assert_snapshot!(world.run(&["skills", "doctor"]));
    let report = world.json(&["skills", "doctor", "--json"]);
    assert_eq!(report["ok"], false);
    let states: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        [
            "loaded", "loaded", "loaded", "ignored", "broken", "shadowed", "hidden", "ignored"
        ]
    );
}

#[test]
fn new_writes_clean_files() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&[
        "skills",
        "new",
        "code-review",
        "-d",
        "Reviews: code & \"more\""
    ]));
    assert_eq!(world.code(&["skills", "new", "email.send"]), 0);
    assert_eq!(
        world.code(&["skills", "new", "morning_report", "--kind", "workflow"]),
        0
    );
    insta::assert_snapshot!(world.read("home/skills/code-review/SKILL.md"));
    insta::assert_snapshot!(world.read("home/skills/email/send.md"));
    insta::assert_snapshot!(world.read("home/skills/morning_report.yaml"));
    let report = world.json(&["skills", "validate", "home/skills", "--json"]);
    assert_eq!(report["ok"], true, "{report:#}");
    let warnings = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|file| file["diagnostics"].as_array().unwrap());
    assert_eq!(
        warnings.filter(|found| found["severity"] != "hint").count(),
        0
    );
    assert_eq!(
        world.code(&[
            "skills",
            "validate",
            "home/skills",
            "--profile",
            "agentskills"
        ]),
        0
    );
    let mode = world.path("home").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn new_refuses_bad_names_and_existing_files() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["skills", "new", "Code Review"]));
    insta::assert_snapshot!(world.run(&["skills", "new", "email.all"]));
    insta::assert_snapshot!(world.run(&["skills", "new", "Email.Send"]));
    assert_eq!(world.code(&["skills", "new", "again"]), 0);
    insta::assert_snapshot!(world.run(&["skills", "new", "again"]));
    insta::assert_snapshot!(world.run(&["skills", "new", "long", "-d", &"x".repeat(1100)]));
}

#[test]
fn prompt_and_its_budget() {
    let world = world();
    insta::assert_snapshot!(world.run(&["skills", "prompt"]));
    insta::assert_snapshot!(world.run(&["skills", "prompt", "--budget", "150"]));
    assert_eq!(
        world.json(&["skills", "prompt", "--format", "tool"])["parameters"]["properties"]["skill_name"]
            ["enum"][0],
        "greet"
    );
}

#[test]
fn alone_it_says_what_there_is() {
    insta::assert_snapshot!(world().run(&[]));
    insta::assert_snapshot!(World::new().run(&[]));
}

#[test]
fn configuration_mistakes_are_explained() {
    let world = world();
    world.write("home/config.toml", "[skils]\npaths = []\n");
    insta::assert_snapshot!(world.run(&["skills", "list"]));
    world.write("home/config.toml", "[skills]\npath = []\n");
    insta::assert_snapshot!(world.run(&["skills", "list"]));
    world.write("home/config.toml", "[skills\n");
    insta::assert_snapshot!(world.run(&["skills", "list"]));
    world.write("home/config.toml", "[time]\nzone = \"Europe/Berln\"\n");
    insta::assert_snapshot!(world.run(&["skills", "list", "--json"]));
}

#[test]
fn a_root_that_is_not_there_is_refused() {
    insta::assert_snapshot!(World::new().run(&["skills", "list", "--root", "nowhere"]));
}

#[test]
fn closed_pipes_are_no_failure() {
    let world = world();
    let mut child = world
        .command(&["schema", "workflow"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().code().is_some());
}

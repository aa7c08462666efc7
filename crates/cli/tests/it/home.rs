//! Commands that read or change the home.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

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

/// All policy fields that a skill sets are shown.
#[test]
fn show_lists_the_policy() {
    let world = world();
    let text = "name: slow\ndescription: Waits\ntimeout: 90\nsecrets: [A, B]\nenabled: false\n\
                steps: [{id: rest_now, wait: 30s}]\n";
    world.write("home/skills/slow.yaml", text);
    let shown = world.run(&["skills", "show", "slow"]);
    let has = |line: &str| shown.lines().any(|one| one == line);
    assert!(
        has("timeout      90") && has("secrets      A, B"),
        "{shown}"
    );
    assert!(!has("enabled      false"), "{shown}");
    let shown = world.json(&["skills", "show", "slow", "--json"]);
    assert_eq!(
        shown["skill"]["policy"],
        serde_json::json!({"timeout": 90, "secrets": ["A", "B"]})
    );
}

/// The name of an agent gets its own message, not "unknown skill".
#[test]
fn an_agent_is_not_taken_for_a_skill() {
    insta::assert_snapshot!(world().run(&["skills", "show", "thinker"]));
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
fn deft_without_arguments_prints_an_overview() {
    let shown = world().run(&[]);
    // The day of the next fire depends on the current day.
    let (next, rest): (Vec<&str>, Vec<&str>) =
        shown.lines().partition(|line| line.starts_with("next "));
    assert!(next.concat().contains("report"), "{shown}");
    insta::assert_snapshot!(rest.join("\n"));
    insta::assert_snapshot!(World::new().run(&[]));
}

#[test]
fn configuration_mistakes_are_explained() {
    let world = world();
    world.write("home/config.toml", "[skils]\npaths = []\n");
    insta::assert_snapshot!(world.run(&["run", "report"]));
    world.write("home/config.toml", "[skills]\npath = []\n");
    insta::assert_snapshot!(world.run(&["run", "report"]));
    world.write("home/config.toml", "[skills\n");
    insta::assert_snapshot!(world.run(&["run", "report"]));
    world.write("home/config.toml", "[time]\nzone = \"Europe/Berln\"\n");
    insta::assert_snapshot!(world.run(&["run", "report", "--json"]));
}

#[test]
fn the_environment_overrides_the_file() {
    let world = world();
    world.write("home/config.toml", "[time]\nzone = \"Europe/Berlin\"\n");
    world.write("more/extra/SKILL.md", SKILL.replace("greet", "extra"));
    let mut command = world.command(&["skills", "list", "--json"]);
    command
        .env("DEFT__TIME__ZONE", "Asia/Tokyo")
        .env("DEFT__SKILLS__PATHS", "[\"../more\"]");
    let document: serde_json::Value =
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let skills = document["skills"].as_array().unwrap();
    let report = skills.iter().find(|skill| skill["id"] == "report").unwrap();
    assert!(
        report["trigger"]["next"][0]
            .as_str()
            .unwrap()
            .ends_with("T08:00:00+09:00")
    );
    assert!(skills.iter().any(|skill| skill["id"] == "extra"));
    let mut command = world.command(&["run", "report"]);
    let output = command.env("DEFT__SKILS__PATHS", "x").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_missing_root_is_refused() {
    insta::assert_snapshot!(World::new().run(&["skills", "list", "--root", "nowhere"]));
}

#[test]
fn closed_pipes_are_not_errors() {
    let world = world();
    let mut command = world.command(&["schema", "workflow"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// An unreadable folder is reported and does not affect other folders.
#[test]
fn an_unreadable_folder_is_reported() {
    let world = world();
    world.write("home/skills/locked/SKILL.md", SKILL);
    let binary = world.path("deft");
    std::fs::copy(env!("CARGO_BIN_EXE_deft"), &binary).unwrap();
    let open = |path: std::path::PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(world.path(""), 0o755);
    open(world.path("home/skills/locked"), 0o000);
    let mut command = std::process::Command::new(binary);
    command
        .args(["skills", "doctor", "--json"])
        .env_clear()
        .env("HOME", "/nowhere")
        .env("DEFT_HOME", world.path("home"));
    // Permissions do not apply to root, so the command runs as another user.
    if std::fs::read_dir(world.path("home/skills/locked")).is_ok() {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    open(world.path("home/skills/locked"), 0o755);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let locked = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["state"] == "broken")
        .unwrap();
    assert!(locked["path"].as_str().unwrap().ends_with("skills/locked"));
    assert_eq!(
        locked["diagnostics"][0]["message"],
        "cannot be read: Permission denied (os error 13)"
    );
}

//! `deft skills validate`.

use crate::support::{PAGE, SKILL, WORKFLOW, World};

const BROKEN: &str = "name: start_work\ndescription: Starts\ninputs:\n  - name: issue_key\nsteps:\n  - id: get_issue\n    tool: jira\n    args:\n      key: \"ä {{ inputs.isue_key }}\"\n    on_eror: fail\noutputs:\n  a: 1\n";

fn world() -> World {
    let world = World::new();
    world
        .write("skills/greet/SKILL.md", SKILL)
        .write("skills/email/send.md", PAGE)
        .write("skills/report.yaml", WORKFLOW)
        .write("skills/README.md", "# Readme\n")
        .write("skills/start_work.yaml", BROKEN)
        .write("skills/empty/notes.txt", "nothing");
    world
}

#[test]
fn text_shows_the_location() {
    insta::assert_snapshot!(world().run(&["skills", "validate", "skills"]));
}

#[test]
fn json_has_lines_and_columns() {
    insta::assert_snapshot!(world().run(&[
        "skills",
        "validate",
        "skills/start_work.yaml",
        "--format",
        "json"
    ]));
}

#[test]
fn github_annotations() {
    insta::assert_snapshot!(world().run(&["skills", "validate", "skills", "--format", "github"]));
}

#[test]
fn sarif_results() {
    let report = world().json(&["skills", "validate", "skills", "--format", "sarif"]);
    assert_eq!(report["version"], "2.1.0");
    let run = &report["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "deft");
    insta::assert_json_snapshot!(run["results"]);
}

#[test]
fn errors_exit_1_warnings_exit_0() {
    let world = world();
    assert_eq!(world.code(&["skills", "validate", "skills"]), 1);
    assert_eq!(world.code(&["skills", "validate", "skills/report.yaml"]), 0);
    world.write("odd/name/SKILL.md", SKILL);
    assert_eq!(world.code(&["skills", "validate", "odd"]), 0);
    assert_eq!(
        world.code(&["skills", "validate", "odd", "--profile", "agentskills"]),
        1
    );
}

/// `validate` works without a home: neither the variable nor the folder exists.
#[test]
fn no_home_is_needed() {
    let world = world();
    let mut command = world.command(&["skills", "validate", "skills/report.yaml"]);
    let output = command
        .env_remove("DEFT_HOME")
        .env_remove("HOME")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!world.path("home").exists());
}

/// Paths are printed as given; hidden folders are searched, except `.git`.
#[test]
fn paths_and_hidden_folders_are_accepted() {
    let world = World::new();
    world
        .write("repo/.claude/skills/greet/SKILL.md", SKILL)
        .write("repo/deep/lower/skill.md", SKILL)
        .write("repo/.git/x/SKILL.md", SKILL)
        .write("repo/node_modules/y/SKILL.md", SKILL);
    for profile in ["deft", "agentskills"] {
        let report = world.json(&[
            "skills",
            "validate",
            "./repo",
            "--profile",
            profile,
            "--format",
            "json",
        ]);
        let paths: Vec<&str> = report["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["path"].as_str().unwrap())
            .collect();
        assert_eq!(
            paths,
            [
                "./repo/.claude/skills/greet/SKILL.md",
                "./repo/deep/lower/skill.md"
            ]
        );
    }
}

#[test]
fn missing_paths_exit_2() {
    let world = World::new();
    world.write("notes.txt", "x").write("empty/a.txt", "x");
    insta::assert_snapshot!(world.run(&["skills", "validate", "nowhere"]));
    insta::assert_snapshot!(world.run(&["skills", "validate", "notes.txt"]));
    insta::assert_snapshot!(world.run(&["skills", "validate", "empty"]));
    insta::assert_snapshot!(world.run(&["skills", "validate", "nowhere", "--json"]));
    insta::assert_snapshot!(world.run(&["skills", "validate"]));
}

#[test]
fn a_pipe_is_refused_at_once() {
    let world = World::new();
    world.write("skills/pipe/x", "");
    let pipe = world.path("skills/pipe/SKILL.md");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let why = "it is a named pipe, not a regular file";
    for (profile, expected) in [
        ("deft", format!("{why}; it is not read")),
        ("agentskills", format!("cannot be read: {why}")),
    ] {
        let report = world.json(&[
            "skills",
            "validate",
            "skills",
            "--profile",
            profile,
            "--json",
        ]);
        assert_eq!(report["files"][0]["diagnostics"][0]["message"], expected);
    }
}

/// The printed properties are the same as those of `read-properties` in the reference implementation.
#[test]
fn strict_prints_properties() {
    let world = World::new();
    world.write(
        "skills/greet/SKILL.md",
        SKILL.replace(
            "---\n\n",
            "metadata:\n  version: 1.0\n  list:\n    - a\n---\n\n",
        ),
    );
    let report = world.json(&[
        "skills",
        "validate",
        "skills",
        "--profile",
        "agentskills",
        "--json",
    ]);
    insta::assert_json_snapshot!(report);
}

const AGENT: &str = "---\nname: General Assistant\nprovider: openai\nmodel: gpt-4\nallow_skills: true\n---\n\nYou are a helpful assistant.\n";

/// S4.16: an agent with an unknown key does not load, and the message names the key.
#[test]
fn agents_are_checked_alone_and_by_folder() {
    let world = World::new();
    world.write("agents/general/AGENT.md", AGENT).write(
        "agents/wrong/AGENT.md",
        AGENT.replace("allow_skills", "allow_skill"),
    );
    let alone = ["skills", "validate", "agents/general/AGENT.md"];
    assert_eq!(world.code(&alone), 0);
    insta::assert_snapshot!(world.run(&["skills", "validate", "agents"]));
}

/// Agents in the home are found, including broken ones.
#[test]
fn doctor_and_schema_know_agents() {
    let world = World::new();
    world
        .write("home/agents/general/AGENT.md", AGENT)
        .write(
            "home/agents/thinker/AGENT.md",
            "---\nname: T\ntols: a\n---\nHi.\n",
        )
        .write("home/agents/empty/x.txt", "x");
    let report = world.json(&["skills", "doctor", "--json"]);
    let files: Vec<(&str, Option<&str>)> = (report["files"].as_array().unwrap().iter())
        .map(|file| (file["state"].as_str().unwrap(), file["id"].as_str()))
        .collect();
    assert_eq!(
        files,
        [
            ("ignored", None),
            ("agent", Some("general")),
            ("broken", None)
        ]
    );
    let schema = world.json(&["schema", "agent"]);
    assert_eq!(schema["required"], serde_json::json!(["name"]));
    assert_eq!(schema["additionalProperties"], false);
}

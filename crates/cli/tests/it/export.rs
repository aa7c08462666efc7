//! `deft export --to claude`: the written skills pass the validator of the open format.

use crate::support::{PAGE, SKILL, WORKFLOW, World};

const RICH: &str = r#"name: start_work
description: Begin work on an issue with a branch of its own
version: "1.0"
schedule: "0 8 * * 1-5"
inputs:
  - name: issue_key
    type: string
    required: true
    description: The issue
  - name: prefix
    default: feature
    enum: [feature, fix]
steps:
  - id: get_issue
    tool: jira_view_issue
    args:
      issue_key: "{{ inputs.issue_key }}"
    output: issue_data
    on_error: retry:3
  - id: build_name
    description: Build the name
    compute: |
      result = f"{inputs.prefix}/{issue_data['key']}"
  - id: label_parts
    condition: "issue_data"
    loop: "{{ issue_data.parts }}"
    loop_var: part
    tool: jira_add_label
    args:
      label: "{{ part.name }}"
    on_error: continue
  - id: pause
    wait: 2h
  - id: tell
    agent: |
      Tell the team
      about {{ build_name }}.
    tools: [log]
outputs:
  branch: "{{ build_name }}"
confirmations:
  - step: get_issue
    message: "Begin {{ inputs.issue_key }}?"
"#;

fn world() -> World {
    let world = World::new();
    let long = SKILL
        .replace("greet", "long")
        .replace("Greets.", &"many words ".repeat(120));
    let host = "---\nname: host\ndescription: Has keys of hosts\nmodel: x\nargument-hint: y\nmetadata:\n  priority: 5\n  keywords: [a, b]\n---\n\nText.\n";
    world
        .write("home/skills/greet/SKILL.md", SKILL)
        .write("home/skills/greet/scripts/run.sh", "echo\n")
        .write("home/skills/long/SKILL.md", long)
        .write("home/skills/host/SKILL.md", host)
        .write(
            "home/skills/email/send.md",
            PAGE.replace("tags:", "handler: tool:mail\ntags:"),
        )
        .write("home/skills/report.yaml", WORKFLOW)
        .write("home/skills/start_work.yaml", RICH);
    world
}

#[test]
fn skills_are_written_for_claude() {
    let world = world();
    insta::assert_snapshot!(world.run(&["export", "--to", "claude"]));
    insta::assert_snapshot!(world.read("user/.claude/skills/start-work/SKILL.md"));
    insta::assert_snapshot!(world.read("user/.claude/skills/email-send/SKILL.md"));
    assert_eq!(
        world.read("user/.claude/skills/start-work/workflow.yaml"),
        RICH
    );
    assert_eq!(
        world.read("user/.claude/skills/greet/scripts/run.sh"),
        "echo\n"
    );
    let checked = world.run(&[
        "skills",
        "validate",
        "user/.claude/skills",
        "--profile",
        "agentskills",
    ]);
    insta::assert_snapshot!(checked);
    // Existing files are not replaced without `--force`.
    world.write("user/.claude/skills/greet/SKILL.md", "mine");
    assert_eq!(world.code(&["export", "--to", "claude", "greet"]), 2);
    assert_eq!(
        world.code(&["skills", "export", "--to", "claude", "greet", "--force"]),
        0
    );
}

#[test]
fn export_accepts_a_folder() {
    let world = world();
    assert_eq!(
        world.code(&[
            "export", "--to", "claude", "greet", "report", "--dir", "out"
        ]),
        0
    );
    assert!(world.path("out/report/workflow.yaml").exists());
    assert!(!world.path("out/long").exists());
    // A folder with the name of an editor is given as `./claude`.
    assert_eq!(
        world.code(&["skills", "export", "greet", "--to", "./claude"]),
        0
    );
    assert!(world.path("claude/greet/SKILL.md").exists());
    assert_eq!(world.code(&["export", "--dir", "out", "greet"]), 2);
    assert_eq!(world.code(&["export"]), 2);
}

/// Every skill of a new home can be exported.
#[test]
fn the_default_skills_pass_the_validator_of_the_open_format() {
    let world = World::new();
    assert_eq!(world.code(&["init", "--yes"]), 0);
    assert_eq!(world.code(&["export", "--to", "claude", "--dir", "out"]), 0);
    let found = world.json(&[
        "skills",
        "validate",
        "out",
        "--profile",
        "agentskills",
        "--json",
    ]);
    assert_eq!(found["ok"], true, "{found:#}");
    assert!(found["files"].as_array().unwrap().len() > 5);
}

#[test]
fn a_mistyped_host_is_not_taken_for_a_folder() {
    let world = crate::daemon::used_home();
    world.write("home/skills/greet/SKILL.md", crate::support::SKILL);
    let refused = world.json(&["export", "--to", "cluade", "--json"]);
    assert_eq!(refused["error"]["code"], "usage", "{refused:#}");
    assert!(!world.path("cluade").exists());
    assert_eq!(world.code(&["export", "--to", "./cluade"]), 0);
}

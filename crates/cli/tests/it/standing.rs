//! The display of skills that failed, back off or miss something.

use serde_json::Value;

use crate::daemon::used_home;
use crate::support::World;

/// Fails whenever it fires.
const FAILING: &str = "\
name: failing
description: There is no such zone
schedule: \"* * * * *\"
steps:
  - id: now
    tool: time.now
    args: {zone: Mars/Base}
";

/// Creates a home in which the skill failed twice and backs off: the second slot is at the end of the first
/// backoff and fires, the third one is within the next backoff.
fn resting() -> World {
    let world = used_home();
    world.write("home/skills/failing.yaml", FAILING);
    world.run(&["tick"]);
    for now in ["00:00:31", "00:01:10", "00:02:10"] {
        world.run(&["tick", "--now", &format!("2090-01-01T{now}Z")]);
    }
    world
}

#[test]
fn reasons_are_shown_below_runs() {
    let world = resting();
    let rest = "backoff: it failed; next try at 2090-01-01T01:06:00";
    let listed = world.run(&["runs", "list"]);
    assert!(listed.contains(&format!("\n    {rest}")), "{listed}");
    assert!(
        listed.contains("\n    unknown zone `Mars/Base`"),
        "{listed}"
    );
    let skipped = world.json(&["runs", "list", "--outcome", "skipped", "--json"]);
    let id = skipped["runs"][0]["id"].as_str().unwrap();
    let shown = world.run(&["runs", "show", id]);
    assert!(shown.contains(&format!("  why        {rest}")), "{shown}");
    assert!(!shown.contains("  error"), "{shown}");
}

#[test]
fn a_backoff_is_shown_with_the_next_slot() {
    let world = resting();
    let document = world.json(&["schedule", "list", "--json"]);
    let failing: &Value = &document["schedules"][0];
    assert_eq!(failing["failures"], 2, "{failing:#}");
    let next = failing["next"].as_str().unwrap();
    assert!(next.starts_with("2090-01-01T01:06:00"), "{failing:#}");
    let until = failing["backoff_until"].as_str().unwrap();
    assert!(until.starts_with("2090-01-01T01:06:00"), "{failing:#}");
    for args in [&["schedule", "list"][..], &["skills", "show", "failing"]] {
        let text = world.run(args);
        let words = "2 failures in a row; next try at 2090-01-01T01:06:00";
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn enabling_a_skill_reports_missing_tools() {
    let world = used_home();
    let text = FAILING.replace("schedule:", "required_tools: [no_such_tool]\nschedule:");
    world.write("home/skills/failing.yaml", text);
    let output = world.run(&["skills", "enable", "failing"]);
    assert!(output.contains("`failing` is enabled"), "{output}");
    assert!(
        output.contains("no connected server provides `no_such_tool`"),
        "{output}"
    );
}

#[test]
fn a_disabled_tool_is_reported_with_its_setting() {
    let world = World::new();
    for (name, tool) in [("list", "shell.run"), ("ask", "http.request")] {
        world.write(
            &format!("home/skills/{name}.yaml"),
            format!("name: {name}\ndescription: d\nsteps:\n  - {{id: one, tool: {tool}}}\n"),
        );
    }
    let shell = "hint: `deft config set tools.shell.enabled true` enables it";
    let http = "hint: `deft config set tools.http.allow HOST` names the host that it may call";
    for (skill, tool, hint) in [("list", "shell.run", shell), ("ask", "http.request", http)] {
        let off = format!("the tool `{tool}` is disabled");
        for command in [["run", skill].as_slice(), &["skills", "enable", skill]] {
            let output = world.run(command);
            assert!(output.contains(&off) && output.contains(hint), "{output}");
        }
        let output = world.run(&["tools", "show", tool]);
        assert!(output.contains(&off) && output.contains(hint), "{output}");
    }
}

//! Runs of skills with a real tool server and the real sandbox.

use deft_testkit::{server_binary, start_work, witness};
use serde_json::{Value, json};

use crate::support::World;

/// Creates a home for the example of the seeds, with the VPN down.
fn world() -> World {
    let world = World::new();
    world.write(
        "home/skills/start_work.yaml",
        include_str!("../skills/start_work.yaml"),
    );
    std::fs::create_dir_all(world.path("server")).unwrap();
    let arguments = start_work().write(&world.path("server"), "work");
    let args: Vec<Value> = arguments.list().into_iter().map(Value::from).collect();
    let config = format!(
        "[mcp_servers.work]\ncommand = {}\nargs = {}\n",
        json!(server_binary()),
        json!(args)
    );
    world.write("home/config.toml", config);
    world
}

/// Replaces values that differ between runs.
fn steady(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "seq" | "at" | "execution_id" | "revision" | "id" if !value.is_null() => {
                        *value = json!(format!("[{key}]"));
                    }
                    "duration" | "duration_ms" => *value = json!(0),
                    "started_at" | "finished_at" | "admitted_at" if !value.is_null() => {
                        *value = json!("[instant]");
                    }
                    _ => steady(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(steady),
        _ => {}
    }
}

#[test]
fn the_seeds_example_runs_unchanged_vpn_down_then_healed_then_confirmed() {
    let world = world();
    let args = [
        "run",
        "start_work",
        "--issue_key",
        "AAP-12345",
        "--yes",
        "--json",
    ];
    let output = world.output(&args);
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{run:#}");
    assert_eq!(
        run["outputs"],
        json!({
            "branch": "feature/AAP-12345-fix-the-login-page",
            "issue": {"key": "AAP-12345", "type": "Story", "summary": "Fix the login page", "status": "New"},
            "success": true,
        })
    );
    let id = run["id"].as_str().unwrap();
    let mut events = world.json(&["runs", "logs", id, "--json"])["events"].take();
    steady(&mut events);
    insta::assert_json_snapshot!("start_work_events", events);
    let called: Vec<String> = witness(&world.path("server/work.log"))
        .into_iter()
        .filter(|event| event.kind == deft_testkit::Kind::Started)
        .map(|event| event.tool)
        .collect();
    let expected = [
        "jira_view_issue",
        "git_branch_exists",
        "git_create_branch",
        "vpn_connect",
        "git_create_branch",
        "jira_transition",
    ];
    assert_eq!(called, expected);
}

#[test]
fn an_unattended_run_parks_and_continues_after_approval() {
    let world = world();
    let args = ["run", "start_work", "--issue_key", "AAP-12345", "--json"];
    let output = world.output(&args);
    assert_eq!(output.status.code(), Some(5));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["status"], "waiting");
    let approvals = world.json(&["approvals", "list", "--json"]);
    let asked = &approvals["approvals"][0];
    assert_eq!(
        asked["message"],
        "Create branch feature/AAP-12345-fix-the-login-page?"
    );
    let id = asked["id"].as_str().unwrap();
    assert_eq!(world.code(&["approvals", "approve", id]), 0);
    assert_eq!(world.code(&["approvals", "approve", id]), 2);
    let run_id = run["id"].as_str().unwrap();
    let resumed = world.json(&["runs", "resume", run_id, "--json"]);
    assert_eq!(resumed["outcome"], "success", "{resumed:#}");
}

#[test]
fn a_dry_run_calls_nothing() {
    let world = world();
    let args = ["run", "start_work", "--issue_key", "AAP-1", "--dry-run"];
    insta::assert_snapshot!("start_work_dry_run", world.run(&args));
    let called = witness(&world.path("server/work.log"));
    assert!(
        called.iter().all(|event| event.tool.is_empty()),
        "{called:?}"
    );
}

#[test]
fn each_bad_input_is_reported() {
    let world = world();
    let args = [
        "run",
        "start_work",
        "--issue_key",
        "aap",
        "--branch_prefix",
        "featur",
        "--isue",
        "x",
    ];
    insta::assert_snapshot!("bad_inputs", world.run(&args));
    insta::assert_snapshot!("unknown_skill", world.run(&["run", "start_wrk"]));
}

const STEPS: &str = "\
name: steps
description: Two steps and a question
inputs:
  - {name: n, type: integer, default: 1}
steps:
  - {id: first, tool: log, args: {message: \"n is {{ n }}\"}}
  - {id: second, tool: time.now}
confirmations:
  - {step: second, message: \"Go on with {{ n }}?\", default: true}
outputs: {n: \"{{ n }}\"}
";

fn steps() -> World {
    let world = World::new();
    world.write("home/skills/steps.yaml", STEPS);
    world
}

#[test]
fn a_run_is_listed_shown_exported_and_rerun() {
    let world = steps();
    let run = world.json(&["run", "steps", "--n", "2", "--yes", "--json", "--key", "k1"]);
    let id = run["id"].as_str().unwrap();
    assert_eq!(
        (&run["outcome"], &run["key"]),
        (&json!("success"), &json!("k1"))
    );
    let again = world.json(&["run", "steps", "--n", "9", "--yes", "--json", "--key", "k1"]);
    assert_eq!(again["id"], run["id"], "the same key never runs twice");
    let listed = world.json(&["runs", "list", "--json", "--skill", "steps"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
    assert!(
        world.json(&["runs", "list", "--json", "--outcome", "error"])["runs"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let shown = world.json(&["runs", "show", &id[..12], "--json"]);
    let statuses: Vec<&Value> = shown["run"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["status"])
        .collect();
    assert_eq!(statuses, ["success", "success"]);
    let text = world.run(&["runs", "show", id]);
    assert!(text.contains("✓ first  tool"), "{text}");
    let export = world.json(&["runs", "export", id]);
    assert!(
        export["skill"]["text"]
            .as_str()
            .unwrap()
            .contains("name: steps")
    );
    assert_eq!(
        export["journal"][0]["event"]["started"]["inputs"],
        json!({"n": 2})
    );
    let rerun = world.json(&["runs", "rerun", id, "--from", "second", "--yes", "--json"]);
    assert_eq!(
        (&rerun["parent"], &rerun["outputs"]),
        (&run["id"], &json!({"n": 2}))
    );
    assert_eq!(world.code(&["runs", "logs", "-f", id]), 0);
    assert_eq!(world.code(&["runs", "show", "run_nothing"]), 2);
    assert_eq!(world.code(&["runs", "resume", id]), 2);
}

#[test]
fn a_question_is_rejected_skipped_or_always_allowed() {
    for (answer, outcome) in [
        (&["approvals", "reject"][..], "cancelled"),
        (&["approvals", "reject", "--skip"][..], "success"),
        (&["approvals", "approve", "--always"][..], "success"),
    ] {
        let world = steps();
        let run = world.json(&["run", "steps", "--json"]);
        assert_eq!(run["status"], "waiting");
        let asked = world.json(&["approvals", "list", "--json"]);
        assert_eq!(asked["approvals"][0]["message"], "Go on with 1?");
        let id = asked["approvals"][0]["id"].as_str().unwrap();
        assert_eq!(world.code(&[answer, &[id]].concat()), 0);
        let run = run["id"].as_str().unwrap();
        let ended = world.json(&["runs", "resume", run, "--json"]);
        assert_eq!(ended["outcome"], outcome, "{answer:?}");
        let next = world.json(&["run", "steps", "--json"]);
        let expected = if answer.contains(&"--always") {
            "done"
        } else {
            "waiting"
        };
        assert_eq!(next["status"], expected, "{answer:?}");
    }
}

#[test]
fn a_run_can_be_left_queued_and_cancelled() {
    let world = steps();
    let queued = world.json(&["run", "steps", "--detach", "--json"]);
    assert_eq!(queued["status"], "queued");
    let id = queued["id"].as_str().unwrap();
    let cancelled = world.json(&["runs", "cancel", id, "--json"]);
    assert_eq!(cancelled["outcome"], "cancelled");
    assert_eq!(world.code(&["runs", "cancel", id]), 0);
}

/// An `expect` check may need full Python: the worker evaluates it, and its result is in the record.
#[test]
fn an_expect_condition_may_need_the_sandbox() {
    for (step, skill, outcome, said) in [
        (
            "hash(str(result)) == hash(b'x')",
            "True",
            "error",
            "and it is false",
        ),
        ("complex(len(result), 1).imag == 1", "True", "success", ""),
        (
            "result",
            "abs(complex(len(outputs))) > 99",
            "error",
            "and it is false",
        ),
        ("result", "hash(undefined) > 0", "error", "NameError"),
        (
            "hash(str(result)) != 0",
            "10 ** 60 > len(outputs)",
            "success",
            "",
        ),
    ] {
        let world = World::new();
        let skill = format!(
            "name: checked\ndescription: d\nexpect: {{that: \"{skill}\"}}\nsteps:\n  - {{id: a, tool: time.now, expect: {{that: \"{step}\"}}}}\n"
        );
        world.write("home/skills/checked.yaml", skill);
        let run = world.json(&["run", "checked", "--json"]);
        assert_eq!(run["outcome"], outcome, "{step}: {run:#}");
        let error = run["error"]["message"].as_str().unwrap_or_default();
        assert!(error.contains(said), "{step}: {error}");
        assert_eq!(run["steps"].as_array().unwrap().len(), 1, "{run:#}");
    }
}

#[test]
fn failures_have_a_class_a_location_and_a_hint() {
    for (step, class, message) in [
        (
            "{id: a, compute: \"result = 1 / 0\"}",
            "other",
            "ZeroDivisionError",
        ),
        (
            "{id: a, compute: \"while True: pass\", timeout: 1}",
            "timeout",
            "1 s",
        ),
        ("{id: a, tool: nothing.here}", "not_found", "nothing.here"),
        (
            "{id: a, tool: log, args: {message: 7, level: loud}}",
            "invalid",
            "level",
        ),
        (
            "{id: a, tool: log, args: {message: \"{{ inputs.x.y.z }}\"}}",
            "invalid",
            "does not exist",
        ),
        (
            "{id: a, loop: \"{{ 7 }}\", tool: time.now}",
            "invalid",
            "list",
        ),
        ("{id: a, agent: think}", "invalid", "no model is configured"),
    ] {
        let world = World::new();
        let skill = format!(
            "name: bad\ndescription: d\ninputs:\n  - {{name: x, type: object, default: {{}}}}\nsteps:\n  - {step}\n"
        );
        world.write("home/skills/bad.yaml", skill);
        let run = world.json(&["run", "bad", "--json"]);
        let error = &run["error"];
        assert_eq!(error["class"], class, "{step}: {run:#}");
        let text = error["message"].as_str().unwrap();
        assert!(
            error["step"] == "a" || text.contains("`a`"),
            "{step}: {text}"
        );
        assert!(text.contains(message), "{step}: {text}");
        assert_eq!(world.code(&["run", "bad"]), 1, "{step}");
    }
}

#[test]
fn a_man_page_runs_through_the_tool_it_names() {
    let world = World::new();
    let page = "---\nname: notes.add\ndescription: Add a note\nhandler: tool:log\n---\n\n# notes.add\n\nAdds.\n\n## Flags\n\n--message   What to write (required)\n--level     One of: info, warning (default: info)\n";
    world.write("home/skills/notes/add.md", page);
    let done = world.json(&["cmd", "notes.add --message 'on two\nlines'", "--json"]);
    assert_eq!(
        (&done["ok"], &done["metadata"]["outcome"]),
        (&json!(true), &json!("success"))
    );
    let run = done["metadata"]["run"].as_str().unwrap();
    let shown = world.json(&["runs", "show", run, "--json"]);
    let inputs = json!({"message": "on two\nlines", "level": "info"});
    assert_eq!(
        (&shown["run"]["inputs"], &shown["run"]["tier"]),
        (&inputs, &json!("command"))
    );
    let missing = world.json(&["cmd", "notes.add --level info", "--json"]);
    assert_eq!(
        missing["error"]["message"], "`--message` is missing",
        "{missing}"
    );
    let piped = world.run(&["cmd", "notes.add --message a | grep b"]);
    assert!(piped.contains("separate commands"), "{piped}");
    let several = world.output(&["cmd", "notes.add\nnotes.add --message b"]);
    assert_eq!(
        several.status.code(),
        Some(1),
        "one failed, the other did not"
    );
    assert!(String::from_utf8_lossy(&several.stdout).contains("logged"));
}

//! Running skills as a stranger would: against a real tool server, with the real sandbox.

use deft_testkit::{server_binary, start_work, witness};
use serde_json::{Value, json};

use crate::support::World;

/// A home with the world of the seeds' example: the VPN is down.
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

/// What differs from run to run, made the same.
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
    let logs = world.output(&["runs", "logs", id, "--json"]);
    let mut events: Vec<Value> = String::from_utf8(logs.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    events.iter_mut().for_each(steady);
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
fn unattended_it_parks_and_an_approval_lets_it_go_on() {
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
fn bad_inputs_are_told_one_by_one() {
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

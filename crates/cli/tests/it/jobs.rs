//! Background jobs: `deft jobs`, and the tools for jobs.

use serde_json::{Value, json};

use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::World;

fn queue(world: &World, name: &str, tool: &str, parameters: &Value) -> String {
    let args = json!({
        "name": name,
        "action": {"type": "tool_call", "toolName": tool, "parameters": parameters},
    });
    let queued = world.json(&["jobs", "queue", "--args", &args.to_string(), "--json"]);
    assert_eq!(
        (&queued["status"], &queued["name"]),
        (&json!("queued"), &json!(name)),
        "{queued:#}"
    );
    queued["taskId"].as_str().unwrap().to_owned()
}

fn status(world: &World, id: &str) -> Value {
    let id = format!("taskId={id}");
    world.json(&["tools", "call", "get_job_status", &id, "--json"])["value"].take()
}

fn wait_for_end(world: &World, id: &str) -> Value {
    wait_for(id, || {
        let job = status(world, id);
        matches!(job["status"].as_str(), Some("completed" | "failed")).then_some(job)
    })
}

#[test]
fn a_job_is_queued_run_and_listed() {
    let world = used_home();
    let empty = world.json(&["jobs", "list", "--json"]);
    assert_eq!(empty, json!({"jobs": [], "halted_since": null}));
    assert!(
        !world.path("home/data/deft.db").exists(),
        "looking makes nothing"
    );
    let id = queue(&world, "Look at the clock", "time.now", &json!({}));
    let daemon = Daemon::start(&world);
    let job = wait_for_end(&world, &id);
    assert_eq!(job["status"], "completed", "{job:#}");
    assert!(job["result"].to_string().contains("unix"), "{job:#}");
    for key in ["duration", "createdAt", "startedAt", "completedAt"] {
        assert!(!job[key].is_null(), "no `{key}` in {job:#}");
    }
    let shown = world.json(&["jobs", "show", &id, "--json"]);
    assert_eq!(shown["job"], job);
    let text = world.run(&["jobs", "show", &id]);
    assert!(text.contains("Look at the clock  completed"), "{text}");

    let args = json!({"name": "Fails", "action": {"type": "tool_call", "toolName": "time.now", "parameters": {"zone": "Mars/Base"}}});
    let args = args.to_string();
    let queued = world.json(&["tools", "call", "queue_task", "--args", &args, "--json"]);
    let failed = wait_for_end(&world, queued["value"]["taskId"].as_str().unwrap());
    assert_eq!(failed["status"], "failed", "{failed:#}");
    assert!(
        failed["error"].as_str().unwrap().contains("Mars/Base"),
        "{failed:#}"
    );
    let listed = world.json(&["jobs", "list", "--json"]);
    let names: Vec<&Value> = listed["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| &job["name"])
        .collect();
    assert_eq!(names, ["Fails", "Look at the clock"], "newest first");
    daemon.stop();
}

#[test]
fn halted_jobs_do_not_start() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    assert_eq!(
        world.json(&["jobs", "halt", "--json"]),
        json!({"halted": true})
    );
    let id = queue(&world, "Waits", "time.now", &json!({}));
    // Once a later run has ended, the daemon would also have started the job.
    world.write(
        "home/skills/quick.yaml",
        "name: quick\ndescription: Takes no time\nsteps:\n  - {id: now, tool: time.now}\n",
    );
    let quick = wait_for("the skill", || {
        let queued = world.json(&["run", "quick", "--detach", "--json"]);
        queued["id"].as_str().map(str::to_owned)
    });
    crate::daemon::ended(&world, &quick);
    assert_eq!(status(&world, &id)["status"], "queued");
    let listed = world.run(&["jobs", "list"]);
    assert!(listed.contains("jobs are halted since"), "{listed}");
    assert_eq!(world.code(&["jobs", "resume"]), 0);
    assert_eq!(wait_for_end(&world, &id)["status"], "completed");
    daemon.stop();
}

#[test]
fn an_unknown_job_is_an_error() {
    let world = used_home();
    assert_eq!(world.code(&["jobs", "queue", "--args", "{}"]), 2);
    let args = json!({"action": {"type": "tool_call", "toolName": "tiem.now"}}).to_string();
    let refused = world.output(&["jobs", "queue", "--args", &args, "--json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("time.now"));
    world.write(
        "home/skills/quick.yaml",
        "name: quick\ndescription: Takes no time\nsteps:\n  - {id: now, tool: time.now}\n",
    );
    let run = world.json(&["run", "quick", "--json"]);
    let id = run["id"].as_str().unwrap();
    let shown = world.json(&["jobs", "show", id, "--json"]);
    assert_eq!(shown["error"]["code"], "not_a_job", "{shown:#}");
    assert_eq!(world.code(&["jobs", "show", "run_nothing"]), 2);
    let call = world.json(&["tools", "call", "get_job_status", "taskId=run_x", "--json"]);
    assert_eq!(call["error"]["class"], "not_found", "{call:#}");
}

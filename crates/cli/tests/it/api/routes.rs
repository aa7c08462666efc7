//! The routes of the API: runs, skills, schedules, approvals, tools and the home.

use deft_testkit::Script;
use serde_json::{Value, json};

use super::client::Api;
use super::{ASKING, NOTE};
use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::{SKILL, WORKFLOW, World, server};

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/note.yaml", NOTE)
        .write("home/skills/asking.yaml", ASKING)
        .write("home/skills/report.yaml", WORKFLOW)
        .write("home/skills/greet/SKILL.md", SKILL);
    world
}

#[test]
fn a_request_starts_one_run_per_key_and_waits_for_it() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let body = json!({"skill": "note", "inputs": {"text": "hi"}});
    let key = [("Idempotency-Key", "k-1")];
    let first = api.post_with("/api/v1/runs?wait=20", &body, &key);
    assert_eq!(first.status, 200, "{}", first.json());
    let run = first.json()["run"].clone();
    assert_eq!(
        (&run["outcome"], &run["cause"]),
        (&json!("success"), &json!("api"))
    );
    assert_eq!(
        (&run["key"], &run["outputs"]["said"]),
        (&json!("k-1"), &json!("hi"))
    );
    let again = api.post_with("/api/v1/runs", &body, &key);
    assert_eq!(again.json()["run"]["id"], run["id"]);
    let id = run["id"].as_str().unwrap();
    let taken = api.post_with("/api/v1/runs", &json!({"skill": "report"}), &key);
    assert_eq!(
        (taken.status, &taken.json()["code"]),
        (409, &json!("key_taken"))
    );

    let shown = api.read(&format!("/api/v1/runs/{id}"));
    assert_eq!(shown["run"]["steps"][0]["status"], "success");
    // The command line prints the same document.
    let cli = world.json(&["runs", "show", id, "--json"]);
    assert_eq!(shown, cli);
    let events = api.read(&format!("/api/v1/runs/{id}/events"));
    assert_eq!(events["events"][0]["type"], "skill_started");
    let export = api.read(&format!("/api/v1/runs/{id}/export"));
    assert!(!export["journal"].as_array().unwrap().is_empty());
    let over = api.post(&format!("/api/v1/runs/{id}/cancel"), &json!({}));
    assert_eq!(over.json()["was_over"], true);
    let resumed = api.post(&format!("/api/v1/runs/{id}/resume"), &json!({}));
    assert_eq!(
        (resumed.status, &resumed.json()["code"]),
        (409, &json!("not_resumable"))
    );
    let rerun = api.post(&format!("/api/v1/runs/{id}/rerun?wait=20"), &json!({}));
    assert_eq!(rerun.status, 200, "{}", rerun.json());
    assert_eq!(rerun.json()["run"]["parent"], id);
    let plan = api.post("/api/v1/runs/plan", &body);
    assert_eq!(plan.json()["dry_run"], true);
    daemon.stop();
}

/// Steps of several kinds; the last one fails for one input.
const MIXED: &str = "\
name: mixed
description: A loop, a nested skill, Python and a failure
inputs:
  - {name: text, type: string, required: true}
steps:
  - {id: each, tool: log, loop: [1, 2], args: {message: \"{{ item }}\"}}
  - {id: nested, skill: note, args: {text: \"{{ inputs.text }}\"}}
  - {id: never, tool: log, condition: \"inputs.text == 'x'\", args: {message: x}}
  - {id: count, compute: \"result = {'n': 1 / (0 if inputs.text == 'bad' else 1)}\"}
outputs:
  n: \"{{ count.n }}\"
";

/// The driver of a run responds to the waiting request directly, without reading the store.
#[test]
fn the_reply_equals_the_stored_run() {
    let world = world();
    world.write("home/skills/mixed.yaml", MIXED);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    for (skill, text, outcome) in [
        ("note", "hi", "success"),
        ("mixed", "fine", "success"),
        ("mixed", "bad", "error"),
        ("report", "hi", "success"),
    ] {
        let inputs = if skill == "report" {
            json!({})
        } else {
            json!({ "text": text })
        };
        let body = json!({ "skill": skill, "inputs": inputs });
        let reply = api.post("/api/v1/runs?wait=20", &body);
        assert_eq!(reply.status, 200, "{}", reply.json());
        let run = reply.json()["run"].clone();
        assert_eq!(run["outcome"], outcome, "{run}");
        let stored = api.read(&format!("/api/v1/runs/{}", run["id"].as_str().unwrap()));
        assert_eq!(reply.json(), stored);
    }
    daemon.stop();
}

#[test]
fn runs_are_listed_page_by_page() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    for number in 0..5 {
        let body = json!({"skill": "note", "inputs": {"text": number.to_string()}});
        assert_eq!(api.post("/api/v1/runs?wait=20", &body).status, 200);
    }
    let pages = api.read_pages("/api/v1/runs?skill=note&limit=2", "runs");
    let text = |run: &Value| run["inputs"]["text"].as_str().unwrap().to_owned();
    let pages: Vec<Vec<String>> = pages
        .iter()
        .map(|page| page.iter().map(text).collect())
        .collect();
    assert_eq!(pages, [vec!["4", "3"], vec!["2", "1"], vec!["0"]]);
    assert_eq!(api.read("/api/v1/runs?outcome=error")["runs"], json!([]));
    let wrong = api.get("/api/v1/runs?outcome=fine");
    assert_eq!(
        (wrong.status, &wrong.json()["code"]),
        (400, &json!("invalid_input"))
    );
    assert_eq!(api.get("/api/v1/runs?cursor=x").status, 400);
    assert_eq!(api.get("/api/v1/runs?colour=red").status, 400);
    daemon.stop();
}

#[test]
fn a_question_is_answered() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let asked = api.post("/api/v1/runs?wait=20", &json!({"skill": "asking"}));
    assert_eq!(asked.status, 202, "{}", asked.json());
    let listed = api.read("/api/v1/approvals");
    let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
    let answered = api.post(&format!("/api/v1/approvals/{id}/approve"), &json!({}));
    assert_eq!(answered.status, 200, "{}", answered.json());
    assert_eq!(answered.json()["approval"]["by"], "api (owner)");
    let run = asked.json()["run"]["id"].as_str().unwrap().to_owned();
    wait_for("the run", || {
        let run = api.read(&format!("/api/v1/runs/{run}"));
        (run["run"]["outcome"] == "success").then_some(())
    });
    let again = api.post(&format!("/api/v1/approvals/{id}/reject"), &json!({}));
    assert_eq!(
        (again.status, &again.json()["code"]),
        (409, &json!("already_answered"))
    );
    daemon.stop();
}

#[test]
fn a_skill_file_is_written_unless_it_changed() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let listed = api.read("/api/v1/skills?search=line");
    assert_eq!(listed["skills"][0]["id"], "note", "{listed:#}");
    let source = api.read("/api/v1/skills/note/source");
    assert_eq!(
        (&source["text"], &source["writable"]),
        (&json!(NOTE), &json!(true))
    );
    let write = |text: &str, hash: &Value| {
        let body = json!({"text": text, "base_hash": hash});
        api.put("/api/v1/skills/note/source", &body)
    };
    let new = NOTE.replace("Writes a line", "Writes one line");
    let written = write(&new, &source["hash"]);
    assert_eq!(written.status, 200, "{}", written.json());
    assert_eq!(world.read("home/skills/note.yaml"), new);
    let late = write(NOTE, &source["hash"]);
    assert_eq!(
        (late.status, &late.json()["code"]),
        (409, &json!("changed_file"))
    );
    let broken = write("name: note\nsteps: 3\n", &written.json()["hash"]);
    assert_eq!(
        (broken.status, &broken.json()["code"]),
        (400, &json!("invalid_skill"))
    );
    assert_eq!(world.read("home/skills/note.yaml"), new);

    let checked = json!({"path": "x.yaml", "text": "name: x\nsteps: 3\n"});
    let checked = api.post("/api/v1/skills/validate", &checked);
    assert_eq!(checked.json()["ok"], false, "{}", checked.json());
    for path in ["../x.yaml", "/etc/passwd", "", "a/../../x.yaml"] {
        let body = json!({"path": path, "text": ""});
        assert_eq!(
            api.post("/api/v1/skills/validate", &body).status,
            400,
            "{path}"
        );
    }

    let off = api.post("/api/v1/skills/report/disable", &json!({}));
    assert_eq!(off.json()["skill"]["enabled"], false, "{}", off.json());
    let on = api.post("/api/v1/skills/report/enable", &json!({}));
    assert_eq!(on.json()["skill"]["enabled"], true);
    let gone = api.send("DELETE", "/api/v1/skills/greet", &[], b"");
    assert_eq!(gone.json()["deleted"], "greet");
    assert!(!world.path("home/skills/greet").exists());
    assert_eq!(api.get("/api/v1/skills/greet").status, 404);
    assert_eq!(world.code(&["undo"]), 0);
    assert!(world.path("home/skills/greet").exists());
    daemon.stop();
}

#[test]
fn schedules_are_read_and_changed() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let listed = api.read("/api/v1/schedule");
    assert_eq!(listed["schedules"][0]["skill"], "report");
    let next = api.read("/api/v1/schedule/report?count=3");
    assert_eq!(next["fires"].as_array().unwrap().len(), 3);
    let preview = api.read("/api/v1/schedule/preview?when=every%202%20hours&count=1");
    assert_eq!(preview["fires"].as_array().unwrap().len(), 1);
    let bad = api.get("/api/v1/schedule/preview?when=whenever");
    assert_eq!((bad.status, &bad.json()["code"]), (400, &json!("schedule")));
    let given = api.put("/api/v1/schedule/note", &json!({"when": "every 2 hours"}));
    assert_eq!(given.json()["change"], "set", "{}", given.json());
    let paused = api.post("/api/v1/schedule/report/pause", &json!({}));
    assert_eq!(paused.json()["enabled"], false, "{}", paused.json());
    let resumed = api.post("/api/v1/schedule/report/resume", &json!({}));
    assert_eq!(resumed.json()["enabled"], true);
    let removed = api.send("DELETE", "/api/v1/schedule/note", &[], b"");
    assert_eq!(removed.json()["change"], "removed", "{}", removed.json());
    daemon.stop();
}

#[test]
fn tools_are_listed_and_called() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let listed = api.read("/api/v1/tools?search=log");
    assert!(!listed["tools"].as_array().unwrap().is_empty());
    assert_eq!(api.read("/api/v1/tools/log")["tool"]["name"], "log");
    let called = api.post(
        "/api/v1/tools/log/call",
        &json!({"arguments": {"message": "x"}}),
    );
    assert_eq!(
        (called.status, &called.json()["ok"]),
        (200, &json!(true)),
        "{}",
        called.json()
    );
    let wrong = api.post(
        "/api/v1/tools/log/call",
        &json!({"arguments": {"massage": 1}}),
    );
    assert_eq!(wrong.status, 400, "{}", wrong.json());
    assert_eq!(api.get("/api/v1/tools/nothing").status, 404);

    let catalog = api.get("/tools/list");
    assert_eq!(catalog.json(), world.json(&["tools", "catalog", "--json"]));
    let tag = catalog.header("etag").unwrap();
    let same = api.send("GET", "/tools/list", &[("If-None-Match", tag)], b"");
    assert_eq!((same.status, same.body.len()), (304, 0));
    // A new server changes the list, and so its tag.
    let script = Script::new().tool("fetch", json!({"text": "x"}));
    world.write("home/config.toml", server(&world, &script));
    wait_for("the new tools", || {
        let reply = api.send("GET", "/tools/list", &[("If-None-Match", tag)], b"");
        let is_new = reply.status == 200 && reply.json().to_string().contains("fetch");
        is_new.then(|| assert_ne!(reply.header("etag"), Some(tag)))
    });
    daemon.stop();
}

#[test]
fn jobs_notices_and_the_home_are_shown() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let job =
        json!({"name": "demo", "steps": [{"id": "a", "tool": "log", "args": {"message": "x"}}]});
    let queued = api.post_with("/api/v1/jobs", &job, &[("Idempotency-Key", "j")]);
    let twice = api.post_with("/api/v1/jobs", &job, &[("Idempotency-Key", "j")]);
    assert_eq!(queued.json(), twice.json());
    let halted = api.post("/api/v1/jobs/halt", &json!({}));
    assert_eq!(halted.json()["halted"], true);
    assert!(api.read("/api/v1/jobs")["halted_since"].is_string());
    assert_eq!(
        api.post("/api/v1/jobs/resume", &json!({})).json()["halted"],
        false
    );
    let told = json!({"arguments": {"message": "Tea is ready", "title": "Kitchen"}});
    let told = api.post("/api/v1/tools/notify/call", &told);
    assert_eq!(told.status, 200, "{}", told.json());
    let mut notices = wait_for("the notice", || {
        let notices = api.read("/api/v1/notices")["notices"].take();
        (notices[0]["status"] == "sent").then_some(notices)
    });
    for instant in ["at", "ended_at"] {
        assert!(notices[0][instant].take().is_string(), "{instant}");
    }
    assert_eq!(
        notices,
        json!([{
            "id": 1,
            "run": null,
            "skill": null,
            "notice": {"kind": "message", "title": "Kitchen", "text": "Tea is ready"},
            "status": "sent",
            "attempts": 1,
            "receipt": "written to the log",
            "error": null,
            "at": null,
            "next_try_at": null,
            "ended_at": null,
        }])
    );
    assert!(api.read("/api/v1/grants")["grants"].is_array());
    assert_eq!(api.read("/api/v1/status")["daemon"]["running"], true);
    assert!(api.read("/api/v1/budget")["scopes"].is_array());
    let fact = json!({"arguments": {"text": "likes tea", "category": "taste"}});
    let saved = api.post("/api/v1/tools/fact_save/call", &fact);
    assert_eq!(saved.status, 200, "{}", saved.json());
    let facts = api.read("/api/v1/memory?search=tea");
    let id = facts["facts"][0]["id"].as_i64().unwrap();
    let forget = |id: i64| {
        api.send("DELETE", &format!("/api/v1/memory/{id}"), &[], b"")
            .status
    };
    assert_eq!((forget(id), forget(id)), (200, 404));
    assert!(api.read("/api/v1/secrets")["secrets"].is_array());
    let doctor = api.read("/api/v1/doctor");
    let checks = doctor["checks"].as_array().unwrap();
    assert!(
        checks
            .iter()
            .any(|check| check["id"] == "server.up" && check["status"] == "ok")
    );
    let changed = api.put("/api/v1/settings/logs.keep", &json!({"value": "7"}));
    assert_eq!(changed.status, 200, "{}", changed.json());
    let unknown = api.put("/api/v1/settings/logs.kept", &json!({"value": "7"}));
    assert_eq!(unknown.status, 404, "{}", unknown.json());
    let settings = api.read("/api/v1/settings").to_string();
    assert!(settings.contains("logs.keep"));
    daemon.stop();
}

#[test]
fn the_document_describes_the_api() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let document = api.read("/api/openapi.json");
    assert_eq!(document["openapi"], "3.1.0");
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(get) = methods.get("get") else {
            continue;
        };
        if path == "/api/v1/events" {
            // The feed never ends.
            continue;
        }
        let needs = |one: &Value| one["required"] == true;
        if get["parameters"].as_array().unwrap().iter().any(needs) {
            continue;
        }
        assert_eq!(api.get(path).status, 200, "{path}");
    }
    daemon.stop();
}

#[test]
fn a_known_key_makes_no_second_token_and_no_second_run() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let document = api.read("/api/openapi.json");
    for (path, methods) in document["paths"].as_object().unwrap() {
        // Deliveries of hooks have their own ids.
        let post = methods.get("post");
        let Some(post) = post.filter(|_| path.starts_with("/api/")) else {
            continue;
        };
        let takes_key = |one: &Value| one["name"] == "Idempotency-Key";
        let parameters = post["parameters"].as_array().unwrap();
        assert!(parameters.iter().any(takes_key), "{path}");
    }
    let key = [("Idempotency-Key", "once")];
    let token = |name: &str| {
        let body = json!({"name": name, "scope": "read"});
        api.post_with("/api/v1/tokens", &body, &key)
    };
    let first = token("screen");
    assert_eq!(first.status, 200, "{}", first.json());
    // The token is sent once; a repeated request makes no second one.
    let again = token("screen");
    assert_eq!(
        (again.status, &again.json()["code"]),
        (409, &json!("sent_once"))
    );
    assert_eq!(
        api.read("/api/v1/tokens")["tokens"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let other = token("phone");
    assert_eq!(
        (other.status, &other.json()["code"]),
        (409, &json!("key_taken"))
    );
    let command = json!({"text": "note --text once"});
    let carry_out = || api.post_with("/api/v1/commands", &command, &key).json();
    let done = carry_out();
    assert_eq!(done["ok"], true, "{done}");
    assert_eq!(carry_out(), done);
    let runs = api.read("/api/v1/runs?skill=note");
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);
    daemon.stop();
}

#[test]
fn replies_are_compressed_for_clients_that_can_read_them() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let accepts = [("Accept-Encoding", "gzip")];
    let packed = api.send("GET", "/api/openapi.json", &accepts, b"");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let plain = api.get("/api/openapi.json");
    assert_eq!(plain.header("content-encoding"), None);
    assert!(packed.body.len() * 4 < plain.body.len());
    // If the store has not changed, a repeated read returns the same page with the same tag.
    let body = json!({"skill": "note", "inputs": {"text": "x"}});
    assert_eq!(api.post("/api/v1/runs?wait=20", &body).status, 200);
    let (first, second) = (api.get("/api/v1/runs"), api.get("/api/v1/runs"));
    assert_eq!(first.header("etag"), second.header("etag"));
    assert_eq!(api.post("/api/v1/runs?wait=20", &body).status, 200);
    let third = api.get("/api/v1/runs");
    assert_eq!(third.json()["runs"].as_array().unwrap().len(), 2);
    assert_ne!(first.header("etag"), third.header("etag"));
    daemon.stop();
}

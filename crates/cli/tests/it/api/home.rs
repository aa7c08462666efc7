//! The parts of the API other than runs: chats, skill files, servers, secrets, tokens, statistics and others.

use serde_json::{Value, json};

use super::NOTE;
use super::client::{Api, Reply};
use crate::daemon::{Daemon, used_home};
use crate::support::World;

const FAILING: &str = "\
name: failing
description: Fails
steps:
  - {id: ask, tool: time.now, args: {zone: Nowhere/Else}, on_error: continue}
";

const TIMED: &str = "\
name: timed
description: Fires every hour
schedule: \"0 * * * *\"
steps:
  - {id: say, tool: log, args: {message: timed}}
";

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/note.yaml", NOTE)
        .write("home/skills/failing.yaml", FAILING)
        .write("home/skills/timed.yaml", TIMED);
    world
}

fn started(world: &World) -> (Daemon, Api) {
    let daemon = Daemon::start(world);
    let api = Api::find(world);
    (daemon, api)
}

fn run(api: &Api, body: &Value) -> Value {
    let reply = api.post("/api/v1/runs?wait=20", body);
    assert_eq!(reply.status, 200, "{}", reply.json());
    reply.json()["run"].clone()
}

fn refused(reply: &Reply, status: u16, code: &str) {
    let problem = reply.json();
    assert_eq!(
        (reply.status, &problem["code"]),
        (status, &json!(code)),
        "{problem}"
    );
}

fn delete(api: &Api, path: &str) -> Reply {
    api.send("DELETE", path, &[], b"")
}

#[test]
fn skill_files_are_created_compared_and_exported() {
    let world = world();
    let (daemon, api) = started(&world);
    let new = json!({"name": "code-review", "description": "Reviews a change"});
    let created = api.post("/api/v1/skills", &new);
    assert_eq!(created.status, 200, "{}", created.json());
    // A change by one request is visible to the next one.
    let shown = api.read("/api/v1/skills/code-review");
    assert_eq!(shown["skill"]["description"], "Reviews a change");
    refused(&api.post("/api/v1/skills", &new), 409, "exists");
    run(&api, &json!({"skill": "note", "inputs": {"text": "1"}}));
    let source = api.read("/api/v1/skills/note/source");
    let text = NOTE.replace("Writes a line", "Writes one line");
    let write = json!({"text": text, "base_hash": source["hash"]});
    assert_eq!(api.put("/api/v1/skills/note/source", &write).status, 200);
    assert_eq!(
        api.read("/api/v1/skills/note")["skill"]["description"],
        "Writes one line"
    );
    run(&api, &json!({"skill": "note", "inputs": {"text": "2"}}));
    let listed = api.read("/api/v1/skills/note/revisions");
    let revisions = listed["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 2, "{listed:#}");
    assert_eq!(
        (&revisions[0]["current"], &revisions[1]["current"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(revisions[1]["runs"], 1);
    let newest = revisions[0]["revision"].as_str().unwrap();
    let change = api.read(&format!("/api/v1/skills/note/revisions/{}", &newest[..12]));
    let diff = change["diff"].as_str().unwrap();
    assert!(
        diff.contains("-description: Writes a line\n+description: Writes one line"),
        "{diff}"
    );
    refused(
        &api.get("/api/v1/skills/note/revisions/ffff"),
        404,
        "unknown_revision",
    );
    refused(
        &api.get("/api/v1/skills/nothing/revisions"),
        404,
        "unknown_skill",
    );
    let exported = api.read("/api/v1/skills/note/export?format=workflow");
    assert!(
        exported["files"][0]["content"]
            .as_str()
            .unwrap()
            .contains("Writes one line"),
        "{exported:#}"
    );
    let doctor = api.read("/api/v1/doctor/skills");
    assert!(doctor.to_string().contains("note.yaml"));
    assert!(
        api.read("/api/v1/prompts/skills")["text"]
            .as_str()
            .unwrap()
            .contains("code-review")
    );
    refused(
        &api.post("/api/v1/skills/note/restore", &json!({})),
        400,
        "unchanged",
    );
    world.write("other/borrowed.yaml", NOTE.replace("note", "borrowed"));
    let path = world.path("other/borrowed.yaml").display().to_string();
    let imported = api.post("/api/v1/skills/import", &json!({"paths": [path]}));
    assert_eq!(
        imported.json()["skills"],
        json!(["borrowed"]),
        "{}",
        imported.json()
    );
    let relative = api.post("/api/v1/skills/import", &json!({"paths": ["other"]}));
    refused(&relative, 400, "invalid_input");
    assert_eq!(delete(&api, "/api/v1/skills/borrowed").status, 200);
    assert_eq!(api.get("/api/v1/skills/borrowed").status, 404);
    assert_eq!(
        api.read("/api/v1/trash")["trash"].as_array().unwrap().len(),
        1
    );
    assert_eq!(
        api.post("/api/v1/undo", &json!({})).json()["undone"]["kind"],
        "skill_file"
    );
    assert_eq!(api.get("/api/v1/skills/borrowed").status, 200);
    refused(
        &api.post("/api/v1/undo", &json!({})),
        400,
        "nothing_to_undo",
    );
    assert!(api.read("/api/v1/schemas/workflow").is_object());
    refused(&api.get("/api/v1/schemas/nothing"), 404, "no_such_page");
    daemon.stop();
}

#[test]
fn statistics_count_runs() {
    let world = world();
    let (daemon, api) = started(&world);
    run(&api, &json!({"skill": "note", "inputs": {"text": "1"}}));
    run(&api, &json!({"skill": "failing"}));
    let outcomes = api.read("/api/v1/stats/outcomes?days=30");
    let note = outcomes["skills"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["skill"] == "note");
    let note = note.unwrap_or_else(|| panic!("{outcomes:#}"));
    assert_eq!(
        (&note["runs"], &note["outcomes"]["success"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(note["days"].as_array().unwrap().len(), 1);
    let tools = api.read("/api/v1/stats/tools");
    let of = |name: &str| {
        let found = tools["tools"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["tool"] == name);
        found.cloned().unwrap_or_else(|| panic!("{tools:#}"))
    };
    assert_eq!(
        (&of("log")["calls"], &of("log")["errors"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(of("time.now")["error_rate"], 1.0, "{tools:#}");
    assert_eq!(
        (&tools["complete"], &tools["events"]),
        (&json!(true), &json!(8)),
        "{tools:#}"
    );
    // The last run has one call of `time.now`; the call of `log` is older than the events of that run.
    let own = api.read("/api/v1/runs/last/events");
    let own = own["events"].as_array().unwrap();
    let seq = |event: &Value| event["seq"].as_u64().unwrap();
    let stored = seq(&own[own.len() - 1]) - seq(&own[0]) + 1;
    let newest = api.read(&format!("/api/v1/stats/tools?events={stored}"));
    assert_eq!(
        (&newest["complete"], &newest["events"]),
        (&json!(false), &json!(own.len())),
        "{newest:#}"
    );
    let named: Vec<&Value> = newest["tools"].as_array().unwrap().iter().collect();
    assert_eq!(named, [&of("time.now")]);
    assert_eq!(api.get("/api/v1/stats/tools?events=x").status, 400);
    assert_eq!(api.read("/api/v1/stats/spending")["days"], json!([]));
    assert_eq!(api.get("/api/v1/stats/outcomes?days=x").status, 400);
    let slots = api.read("/api/v1/slots?limit=3");
    let slots = slots["slots"].as_array().unwrap();
    assert_eq!(slots.len(), 3, "{slots:?}");
    assert!(
        slots.iter().all(|slot| slot["skill"] == "timed"),
        "{slots:?}"
    );
    let simulated = api.post("/api/v1/schedule/simulate", &json!({"skills": ["timed"]}));
    assert!(
        simulated.json()["rows"].as_array().unwrap().len() >= 23,
        "{}",
        simulated.json()
    );
    let pruned = api.post(
        "/api/v1/runs/prune",
        &json!({"older_than": "1ms", "dry_run": true}),
    );
    assert_eq!(
        pruned.json()["runs"].as_array().unwrap().len(),
        2,
        "{}",
        pruned.json()
    );
    refused(
        &api.post("/api/v1/runs/prune", &json!({})),
        400,
        "invalid_input",
    );
    daemon.stop();
}

#[test]
fn settings_and_secrets_are_changed_over_http() {
    let world = world();
    let (daemon, api) = started(&world);
    let set = api.put(
        "/api/v1/secrets/weather",
        &json!({"value": "hunter2", "file": true}),
    );
    assert_eq!(set.status, 200, "{}", set.json());
    let tested = api.post("/api/v1/secrets/test", &json!({"names": ["weather"]}));
    assert_eq!(tested.json()["ok"], true);
    assert!(!api.read("/api/v1/secrets").to_string().contains("hunter2"));
    assert_eq!(delete(&api, "/api/v1/secrets/weather").status, 200);
    refused(
        &delete(&api, "/api/v1/secrets/weather"),
        404,
        "no_such_secret",
    );

    let token = api.post(
        "/api/v1/tokens",
        &json!({"name": "screen", "scope": "read"}),
    );
    let screen = Api {
        address: api.address.clone(),
        token: token.json()["token"].as_str().unwrap().to_owned(),
    };
    assert_eq!(screen.get("/api/v1/logs?lines=5").status, 200);
    refused(&screen.get("/api/v1/tokens"), 403, "scope");
    refused(
        &screen.put("/api/v1/budget", &json!({"usd_per_day": "1"})),
        403,
        "scope",
    );
    assert_eq!(api.read("/api/v1/tokens")["tokens"][0]["name"], "screen");
    assert_eq!(delete(&api, "/api/v1/tokens/screen").status, 200);
    assert_eq!(screen.get("/api/v1/logs").status, 401);

    let budget = api.put("/api/v1/budget", &json!({"usd_per_day": "5"}));
    assert_eq!(
        budget.json()["settings"]["budget.usd_per_day"].as_f64(),
        Some(5.0),
        "{}",
        budget.json()
    );
    refused(&api.put("/api/v1/budget", &json!({})), 400, "invalid_input");
    let resumed = api.post("/api/v1/budget/thinker/resume", &json!({}));
    assert_eq!(resumed.json()["was_paused"], false, "{}", resumed.json());
    let section = api.read("/api/v1/settings/budget");
    assert!(section["settings"].as_array().unwrap().len() > 1);
    assert_eq!(
        api.read("/api/v1/settings/budget.usd_per_day")["settings"][0]["value"].as_f64(),
        Some(5.0)
    );
    assert_eq!(api.read("/api/v1/settings/problems")["ok"], true);
    assert_eq!(api.post("/api/v1/doctor/fix", &json!({})).status, 200);

    daemon.stop();
}

#[test]
fn servers_reminders_and_commands_work_over_http() {
    let world = world();
    let (daemon, api) = started(&world);
    let server = json!({"name": "files", "command": ["nothing-of-this-name", "x"]});
    assert_eq!(api.post("/api/v1/servers", &server).status, 200);
    refused(&api.post("/api/v1/servers", &server), 409, "exists");
    refused(
        &api.post("/api/v1/servers", &json!({"name": "x"})),
        400,
        "invalid_input",
    );
    assert_eq!(api.read("/api/v1/servers")["servers"][0]["name"], "files");
    let probed = api.post("/api/v1/servers/probe", &json!({"server": "files"}));
    assert_eq!((probed.status, &probed.json()["ok"]), (200, &json!(false)));
    assert_eq!(delete(&api, "/api/v1/servers/files").status, 200);
    world.write(
        "hosts.json",
        r#"{"mcpServers": {"notes": {"command": "notes"}}}"#,
    );
    let path = world.path("hosts.json").display().to_string();
    let imported = api.post(
        "/api/v1/servers/import",
        &json!({"path": path, "dry_run": true}),
    );
    assert_eq!(
        imported.json()["servers"][0]["name"],
        "notes",
        "{}",
        imported.json()
    );

    let reminder = api.post("/api/v1/reminders", &json!({"text": "drink water in 2h"}));
    assert_eq!(
        reminder.json()["name"],
        "Drink water",
        "{}",
        reminder.json()
    );
    let commands = json!({"text": "note --text hi\nget_skill: note\nnothing.here"});
    let done = api.post("/api/v1/commands", &commands).json();
    let ok: Vec<&Value> = done["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["ok"])
        .collect();
    assert_eq!(ok, [&json!(true), &json!(true), &json!(false)], "{done:#}");
    refused(
        &delete(&api, "/api/v1/tools/log/approval"),
        400,
        "not_remembered",
    );
    daemon.stop();
}

#[test]
fn a_chat_returns_an_answer_or_an_error() {
    let world = world();
    let (daemon, api) = started(&world);
    // Without a model the answer is a failure, and the message is stored.
    let reply = api.post_with(
        "/api/v1/chats?wait=20",
        &json!({"text": "hello"}),
        &[("Idempotency-Key", "m-1")],
    );
    assert!(matches!(reply.status, 200 | 400), "{}", reply.json());
    refused(
        &api.post("/api/v1/chats", &json!({"text": " "})),
        400,
        "no_text",
    );
    let unknown = json!({"text": "x", "conversation": "conv_nothing"});
    refused(
        &api.post("/api/v1/chats", &unknown),
        404,
        "unknown_conversation",
    );
    refused(
        &api.get("/api/v1/chats/conv_nothing"),
        404,
        "unknown_conversation",
    );
    let agent = json!({"text": "x", "agent": "not-there"});
    refused(&api.post("/api/v1/chats", &agent), 404, "unknown_agent");
    assert!(api.read("/api/v1/chats?channel=api")["conversations"].is_array());
    assert!(api.read("/api/v1/messages?search=hello")["messages"].is_array());
    daemon.stop();
}

//! Webhooks: signed deliveries fire skills, once each.

use deft_testkit::{hmac_base64, hmac_hex};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::client::{Api, Reply};
use super::rate::{FLOOD, is_slowed_down};
use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::World;

const SECRET: &str = "canary-hook-4711";

const CONFIG: &str = "\
[hooks.deploys]
secret = \"env:HOOK_SECRET\"
[hooks.code]
secret = \"env:HOOK_SECRET\"
scheme = \"github\"
events = [\"push\"]
[hooks.plain]
secret = \"env:HOOK_SECRET\"
scheme = \"plain\"
header = \"X-My-Signature\"
[hooks.broken]
secret = \"env:NOT_SET\"
";

fn skill(name: &str, hook: &str) -> String {
    format!(
        "\
name: {name}
description: Takes deliveries
trigger_config: {{hook: {hook}}}
inputs:
  - {{name: payload, type: object}}
  - {{name: event, type: string}}
  - {{name: service, type: string}}
steps:
  - {{id: say, tool: log, args: {{message: taken}}}}
outputs:
  service: \"{{{{ inputs.service }}}}\"
"
    )
}

fn world() -> World {
    let world = used_home();
    world
        .write("home/config.toml", CONFIG)
        .write("home/skills/announce.yaml", skill("announce", "deploys"))
        .write("home/skills/build.yaml", skill("build", "code"))
        .write("home/skills/other.yaml", skill("other", "plain"));
    world
}

fn up(world: &World) -> (Daemon, Api) {
    let daemon = Daemon::with(world, &[], &[("HOOK_SECRET", SECRET)]);
    (daemon, Api::find(world))
}

/// Sends a delivery without a token.
fn deliver(api: &Api, hook: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut head = format!("POST /hooks/{hook} HTTP/1.1\r\nHost: {}\r\n", api.address);
    let length = body.len().to_string();
    let all = [("Content-Length", length.as_str()), ("Connection", "close")];
    for (name, value) in headers.iter().chain(&all) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    api.raw(format!("{head}\r\n{body}").as_bytes())
}

fn standard(api: &Api, id: &str, at: Timestamp, body: &str) -> Reply {
    let at = at.as_second().to_string();
    let content = format!("{id}.{at}.{body}");
    let signature = format!("v1,{}", hmac_base64(SECRET.as_bytes(), content.as_bytes()));
    let headers = [
        ("webhook-id", id),
        ("webhook-timestamp", &at),
        ("webhook-signature", &signature),
        ("Content-Type", "application/json"),
        ("X-Request-Id", id),
    ];
    deliver(api, "deploys", &headers, body)
}

fn finished(api: &Api, reply: &Reply) -> Value {
    let receipt = reply.json();
    assert_eq!(reply.status, 202, "{receipt}");
    let id = receipt["runs"][0]["run"].as_str();
    let id = id.unwrap_or_else(|| panic!("{receipt:#}")).to_owned();
    wait_for("the run", || {
        let run = api.get(&format!("/api/v1/runs/{id}")).json();
        (run["run"]["status"] == "done").then(|| run["run"].clone())
    })
}

#[test]
fn a_signed_delivery_runs_its_skill_once_despite_a_restart() {
    let world = world();
    let (daemon, api) = up(&world);
    let body = json!({"service": "shop", "type": "deployed"}).to_string();
    let now = Timestamp::now();
    let taken = standard(&api, "msg_1", now, &body);
    let run = finished(&api, &taken);
    assert_eq!(run["outcome"], "success", "{run:#}");
    assert_eq!(
        (&run["cause"], &run["request_id"]),
        (&json!("event"), &json!("msg_1"))
    );
    assert_eq!(run["inputs"]["payload"]["service"], "shop");
    assert_eq!(run["inputs"]["event"], "deployed");
    assert_eq!(run["outputs"]["service"], "shop");
    assert_eq!(taken.json()["repeated"], false);
    let again = standard(&api, "msg_1", now, &body).json();
    assert_eq!(again["repeated"], true);
    assert_eq!(again["runs"][0]["run"], run["id"]);
    daemon.stop();

    let (daemon, api) = up(&world);
    let later = standard(&api, "msg_1", Timestamp::now(), &body).json();
    assert_eq!(later["runs"][0]["run"], run["id"]);
    let other = finished(&api, &standard(&api, "msg_2", Timestamp::now(), &body));
    assert_ne!(other["id"], run["id"]);
    let runs = api.get("/api/v1/runs?skill=announce").json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    daemon.stop();
}

#[test]
fn unsigned_deliveries_are_refused_and_logged() {
    let world = world();
    let (daemon, api) = up(&world);
    let body = "{\"service\":\"shop\"}";
    let refusal = |reply: &Reply| {
        (
            reply.status,
            reply.json()["code"].as_str().unwrap().to_owned(),
        )
    };
    let bad = (401, "bad_signature".to_owned());
    let unsigned = deliver(&api, "deploys", &[], body);
    assert_eq!(refusal(&unsigned), bad);
    assert_eq!(
        unsigned.header("content-type"),
        Some("application/problem+json")
    );
    let old = Timestamp::from_second(Timestamp::now().as_second() - 3600).unwrap();
    assert_eq!(refusal(&standard(&api, "msg_1", old, body)), bad);
    // Two signature headers are refused, even if one is correct.
    let right = hmac_hex(SECRET.as_bytes(), body.as_bytes());
    let twice = [("X-My-Signature", right.as_str()), ("X-My-Signature", "00")];
    assert_eq!(refusal(&deliver(&api, "plain", &twice, body)), bad);
    assert_eq!(
        refusal(&deliver(&api, "nothing", &[], body)),
        (404, "unknown_hook".to_owned())
    );
    // A delivery without a signature is refused before its body and the secret are read.
    let now = Timestamp::now().as_second().to_string();
    let signed = [
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", now.as_str()),
        ("webhook-signature", "v1,AAAA"),
    ];
    assert_eq!(refusal(&deliver(&api, "broken", &[], body)), bad);
    assert_eq!(
        refusal(&deliver(&api, "broken", &signed, body)),
        (500, "hook_secret".to_owned())
    );
    let large = format!("\"{}\"", "x".repeat(1024 * 1024));
    let signed = [("X-My-Signature", right.as_str())];
    assert_eq!(refusal(&deliver(&api, "plain", &[], &large)), bad);
    assert_eq!(
        refusal(&deliver(&api, "plain", &signed, &large)),
        (413, "body_too_large".to_owned())
    );
    assert_eq!(api.get("/hooks/deploys").status, 405);
    // Floods are rate-limited without affecting clients with a token.
    let replies = api.flood("POST", "/hooks/deploys", FLOOD);
    let slowed = replies.iter().filter(|reply| is_slowed_down(reply, 100));
    let slowed = slowed.count();
    let refused = replies.iter().filter(|reply| reply.status == 401).count();
    assert_eq!(slowed + refused, FLOOD);
    assert!(slowed > 0 && refused > 0, "{slowed} of {FLOOD}");
    assert_eq!(api.get("/api/v1/runs").json()["runs"], json!([]));
    let long = format!("/hooks/{}", "x".repeat(4000));
    api.flood("POST", &long, 20);
    let output = daemon.stop();
    let audit = world.read("home/logs/audit.jsonl");
    // The flood has left a hundred lines, and those are short.
    assert!((50..=102).contains(&audit.lines().count()), "{audit}");
    assert!(audit.lines().all(|line| line.len() < 600), "{audit}");
    let first: Value = serde_json::from_str(audit.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["who"], &first["what"], &first["status"]),
        (&json!("hook"), &json!("POST /hooks/deploys"), &json!(401))
    );
    assert!(!output.contains(SECRET) && !audit.contains(SECRET));
}

#[test]
fn github_and_plain_signatures_work_and_events_are_filtered() {
    let world = world();
    let (daemon, api) = up(&world);
    let push = |event: &str, kind: &str, body: &str| {
        let signature = format!("sha256={}", hmac_hex(SECRET.as_bytes(), body.as_bytes()));
        let headers = [
            ("X-Hub-Signature-256", signature.as_str()),
            ("X-GitHub-Event", event),
            ("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
            ("Content-Type", kind),
        ];
        deliver(&api, "code", &headers, body)
    };
    let ping = push("ping", "application/json", "{\"zen\":\"x\"}");
    assert_eq!(ping.status, 202);
    assert!(ping.json()["ignored"].is_string(), "{}", ping.json());
    let form = "payload=%7B%22service%22%3A%22web%22%7D";
    let run = finished(
        &api,
        &push("push", "application/x-www-form-urlencoded", form),
    );
    assert_eq!(run["inputs"]["payload"], json!({"service": "web"}));
    assert_eq!(run["inputs"]["event"], "push");
    let body = "{\"service\":\"till\"}";
    let signature = hmac_hex(SECRET.as_bytes(), body.as_bytes());
    let plain = deliver(&api, "plain", &[("X-My-Signature", &signature)], body);
    assert_eq!(finished(&api, &plain)["outputs"]["service"], "till");

    let listed = world.json(&["hooks", "list", "--json"]);
    let hooks = listed["hooks"].as_array().unwrap();
    let hook = |name: &str| hooks.iter().find(|hook| hook["name"] == name).unwrap();
    assert_eq!(hook("code")["skills"], json!(["build"]));
    assert_eq!(hook("code")["scheme"], "github");
    assert_eq!(hook("deploys")["path"], "/hooks/deploys");
    assert!(hook("broken")["problem"].is_string());
    let shown = world.run(&["hooks", "list"]);
    assert!(
        shown.contains(&format!("http://{}/hooks/code", api.address)),
        "{shown}"
    );
    assert!(shown.contains("no skill waits for `broken`"), "{shown}");
    let trigger = world.json(&["skills", "show", "build", "--json"]);
    assert_eq!(
        trigger["skill"]["trigger"]["words"],
        "when the hook `code` receives a delivery"
    );
    daemon.stop();
}

/// A sender without a valid signature can cause failures of deft too. They must not fill the logs.
#[test]
fn a_flood_of_failures_fills_no_log() {
    let world = world();
    let (daemon, api) = up(&world);
    let at = Timestamp::now().as_second().to_string();
    let headers = [
        ("webhook-id", "one"),
        ("webhook-timestamp", at.as_str()),
        ("webhook-signature", "v1,AAAA"),
    ];
    let failed = (0..FLOOD).map(|_| deliver(&api, "broken", &headers, "{}").status);
    let failed = failed.filter(|status| *status == 500).count();
    assert!(failed > 105, "{failed}");
    let printed = daemon.stop();
    let entries = world.audited_requests().len();
    assert!((1..=105).contains(&entries), "{entries}");
    let lines = printed.matches("/hooks/broken").count();
    assert!((1..=105).contains(&lines), "{lines}");
    let reasons = printed
        .matches("the secret of a hook cannot be read")
        .count();
    assert_eq!(reasons, 1);
}

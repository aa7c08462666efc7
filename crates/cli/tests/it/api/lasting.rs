//! Lifetimes: feeds end with their token, stored replies survive a restart, runs can be resumed. Also
//! compression.

use std::io::{Read, Write};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::client::{Api, Reply};
use super::socket::Socket;
use crate::daemon::{Daemon, used_home};
use crate::support::World;

/// Creates a client with its own token.
pub(super) fn with_token(world: &World, api: &Api, name: &str) -> Api {
    let added = world.json(&["tokens", "add", name, "--scope", "run", "--json"]);
    Api {
        address: api.address.clone(),
        token: added["token"].as_str().unwrap().to_owned(),
    }
}

fn post(api: &Api, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
    let json = [("Content-Type", "application/json")];
    let headers = [&json, headers].concat();
    api.send("POST", path, &headers, body.to_string().as_bytes())
}

#[test]
fn a_feed_ends_when_its_token_is_revoked() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let owner = Api::find(&world);
    let phone = with_token(&world, &owner, "phone");
    let tablet = with_token(&world, &owner, "tablet");
    let mut socket = Socket::open(&phone, &format!("/ws?token={}", phone.token));
    let mut kept = Socket::open(&tablet, &format!("/ws?token={}", tablet.token));
    let mut stream = phone.connect();
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        phone.address, phone.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");

    assert_eq!(world.code(&["tokens", "revoke", "phone"]), 0);
    // The socket gets a close frame, and the stream ends.
    while socket.frame().0 != 8 {}
    let mut rest = Vec::new();
    loop {
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).unwrap();
        rest.extend(&bytes[..read]);
        if read == 0 || rest.ends_with(b"0\r\n\r\n") {
            break;
        }
    }
    // The connection of the other token stays open.
    kept.send("nonsense");
    assert_eq!(kept.next()["type"], "error");
    daemon.stop();
}

/// A request with an idempotency key that starts no run is executed once, even across a restart.
#[test]
fn a_stored_reply_survives_a_restart() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let path = "/api/v1/tools/fact_save/call";
    let body = json!({"arguments": {"text": "likes tea", "category": "taste"}});
    let key = [("Idempotency-Key", "tea-1")];
    let first = post(&Api::find(&world), path, &key, &body);
    assert_eq!(first.status, 200, "{}", first.json());
    let refused = post(
        &Api::find(&world),
        path,
        &[("Idempotency-Key", "bad")],
        &json!({"x": 1}),
    );
    assert_eq!(refused.status, 400);
    daemon.stop();

    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let facts = || api.get("/api/v1/memory").json()["facts"].clone();
    assert_eq!(facts().as_array().unwrap().len(), 1);
    let fact = format!("/api/v1/memory/{}", facts()[0]["id"]);
    assert_eq!(api.send("DELETE", &fact, &[], b"").status, 200);
    let again = post(&api, path, &key, &body);
    assert_eq!((again.status, again.json()), (200, first.json()));
    // The request was not executed again.
    assert_eq!(facts(), json!([]));
    let other = json!({"arguments": {"text": "likes coffee", "category": "taste"}});
    let taken = post(&api, path, &key, &other);
    assert_eq!(
        (taken.status, &taken.json()["code"]),
        (409, &json!("key_taken"))
    );
    let still = post(&api, path, &[("Idempotency-Key", "bad")], &json!({"x": 1}));
    assert_eq!(
        (still.status, still.header("content-type")),
        (400, Some("application/problem+json"))
    );
    daemon.stop();
}

#[test]
fn a_failed_run_is_resumed_over_http() {
    let world = used_home();
    world.write("files/x", "");
    let folder = world.path("files");
    world.write(
        "home/config.toml",
        format!("[tools.file]\nfolders = [{}]\n", json!(folder)),
    );
    let skill = format!(
        "name: reader\ndescription: Reads\nsteps:\n  - {{id: one, tool: log, args: {{message: x}}}}\n  \
         - {{id: two, tool: file.read, args: {{path: {}}}}}\n",
        json!(folder.join("late.txt"))
    );
    world.write("home/skills/reader.yaml", skill);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let failed = post(
        &api,
        "/api/v1/runs?wait=20",
        &[],
        &json!({"skill": "reader"}),
    );
    let failed = failed.json()["run"].clone();
    assert_eq!(failed["outcome"], "error", "{failed:#}");
    world.write("files/late.txt", "here");
    let path = format!(
        "/api/v1/runs/{}/resume?wait=20",
        failed["id"].as_str().unwrap()
    );
    let resumed = post(&api, &path, &[], &json!({}));
    let run = resumed.json()["run"].clone();
    assert_eq!(
        (resumed.status, &run["outcome"]),
        (200, &json!("success")),
        "{run:#}"
    );
    assert_eq!(run["id"], failed["id"]);
    assert_eq!(run["steps"][0]["attempts"], 1, "{run:#}");
    let audit = world.read("home/logs/audit.jsonl");
    assert!(audit.contains("/resume"), "{audit}");
    daemon.stop();
}

#[test]
fn replies_are_compressed_for_clients_that_ask() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let path = "/api/openapi.json";
    let plain = api.get(path);
    assert_eq!(plain.header("content-encoding"), None);
    let small = api.send("GET", path, &[("Accept-Encoding", "br, gzip")], b"");
    assert_eq!(small.header("content-encoding"), Some("gzip"));
    assert!(small.body.len() * 4 < plain.body.len());
    let mut text = Vec::new();
    GzDecoder::new(&small.body[..])
        .read_to_end(&mut text)
        .unwrap();
    assert_eq!(text, plain.body);
    // An ETag is valid for the compressed and the plain form.
    let tag = api.get("/api/v1/runs").header("etag").unwrap().to_owned();
    let headers = [("Accept-Encoding", "gzip"), ("If-None-Match", tag.as_str())];
    assert_eq!(api.send("GET", "/api/v1/runs", &headers, b"").status, 304);
    daemon.stop();
}

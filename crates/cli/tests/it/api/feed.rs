//! Live events: server-sent events and the WebSocket.

use serde_json::{Value, json};

use super::ASKING;
use super::client::Api;
use super::socket::Socket;
use crate::daemon::{Daemon, used_home};
use crate::support::World;

const HELLO: &str = "\
name: hello
description: Says hello
steps:
  - {id: say, tool: log, args: {message: hello}}
";

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/hello.yaml", HELLO)
        .write("home/skills/asking.yaml", ASKING);
    world
}

fn start(api: &Api, skill: &str) -> Value {
    let body = json!({"skill": skill}).to_string();
    let headers = [("Content-Type", "application/json")];
    let reply = api.send("POST", "/api/v1/runs?wait=20", &headers, body.as_bytes());
    reply.json()["run"].clone()
}

fn seqs(events: &[Value]) -> Vec<u64> {
    events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect()
}

/// S3.29
#[test]
fn a_socket_gets_stored_events_then_live_ones_each_once() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    start(&api, "hello");
    let token = format!("token={}", api.token);
    let mut socket = Socket::open(&api, &format!("/?after=0&{token}"));
    let stored = socket.until("skill_completed");
    assert_eq!(stored[0]["type"], "skill_started");
    start(&api, "hello");
    let live = socket.until("skill_completed");
    assert_eq!(live[0]["type"], "skill_started");
    // Events of a run in another process arrive too.
    assert_eq!(world.code(&["run", "hello", "--quiet"]), 0);
    let other = socket.until("skill_completed");
    let all = [stored, live, other].concat();
    let order = seqs(&all);
    assert!(order.is_sorted_by(|one, other| one < other), "{order:?}");
    // A second client that starts in the middle gets the rest; one that starts now gets no old events.
    let middle = order[2];
    let mut second = Socket::open(&api, &format!("/ws?after={middle}&skill=hello&{token}"));
    let rest: Vec<u64> = order.iter().copied().filter(|seq| *seq > middle).collect();
    let mut got = Vec::new();
    while got.len() < rest.len() {
        got.push(second.next()["seq"].as_u64().unwrap());
    }
    assert_eq!(got, rest);
    let mut fresh = Socket::open(&api, &format!("/ws?{token}"));
    start(&api, "hello");
    let first = fresh.next();
    assert!(first["seq"].as_u64() > order.last().copied(), "{first}");
    fresh.say_goodbye();
    daemon.stop();
}

#[test]
fn no_event_is_lost_or_duplicated_while_clients_join() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let token = format!("token={}", api.token);
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| -> Vec<Value> {
            (0..20)
                .map(|_| start(&api, "hello")["id"].clone())
                .collect()
        });
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let mut socket = Socket::open(&api, &format!("/ws?after=0&{token}"));
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    let mut ended = 0;
                    while ended < 20 {
                        let event = socket.next();
                        ended += usize::from(event["type"] == "skill_completed");
                        seen.push(event["seq"].as_u64().unwrap());
                    }
                    seen
                })
            })
            .collect();
        let stored = runs.join().unwrap().into_iter().flat_map(|run| {
            let path = format!("/api/v1/runs/{}/events", run.as_str().unwrap());
            seqs(api.read(&path)["events"].as_array().unwrap())
        });
        let mut stored: Vec<u64> = stored.collect();
        stored.sort_unstable();
        let mut all: Vec<Vec<u64>> = Vec::new();
        for client in clients {
            all.push(client.join().unwrap());
        }
        for seen in all {
            assert_eq!(seen, stored);
        }
    });
    daemon.stop();
}

#[test]
fn a_question_is_answered_on_the_socket() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut socket = Socket::open(&api, &format!("/ws?token={}", api.token));
    let run = start(&api, "asking");
    let asked = socket.until("confirmation_required");
    let asked = asked.last().unwrap();
    assert_eq!(asked["execution_id"], run["id"]);
    for bad in [
        "nonsense",
        "{}",
        r#"{"type":"confirm","id":"x","answer":"yes"}"#,
    ] {
        socket.send(bad);
        assert_eq!(socket.next()["type"], "error", "{bad}");
    }
    let answer = json!({"type": "confirm", "id": run["id"], "answer": "yes"});
    socket.send(&answer.to_string());
    let seen = socket.until("skill_completed");
    let reply = seen.iter().find(|one| one["type"] == "confirmed").unwrap();
    assert_eq!(reply["approval"]["by"], "api (owner)");
    assert!(
        seen.iter()
            .any(|one| one["type"] == "confirmation_answered")
    );
    let output = daemon.stop();
    assert!(!output.contains(&api.token), "{output}");
}

#[test]
fn plain_curl_gets_server_sent_events() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    start(&api, "hello");
    let read = |header: &str, path: &str, wanted: usize| -> Vec<Value> {
        api.follow(path, header).take(wanted).collect()
    };
    let all = read("", "/api/v1/events?after=0", 4);
    assert_eq!(all[0]["type"], "skill_started");
    let last = format!("Last-Event-ID: {}\r\n", all[0]["seq"]);
    let rest = read(&last, "/api/v1/events", 3);
    assert_eq!(rest, all[1..]);
    assert_eq!(api.get("/api/v1/events?after=x").status, 400);
    assert_eq!(api.get("/ws").status, 404);
    daemon.stop();
}

/// A client that never reads does not block the events of other clients.
#[test]
fn a_client_that_does_not_read_does_not_affect_others() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let token = format!("token={}", api.token);
    let stalled: Vec<Socket> = (0..10)
        .map(|_| Socket::open(&api, &format!("/ws?after=0&{token}")))
        .collect();
    let mut socket = Socket::open(&api, &format!("/ws?{token}"));
    for _ in 0..20 {
        start(&api, "hello");
        socket.until("skill_completed");
    }
    drop(stalled);
    daemon.stop();
}

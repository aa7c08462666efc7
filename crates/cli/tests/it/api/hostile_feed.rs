//! WebSocket clients that break the protocol or do not read.

use std::io::{Read, Write};
use std::time::Instant;

use serde_json::{Value, json};

use super::client::Api;
use super::socket::Socket;
use crate::daemon::{Daemon, WAIT_TIMEOUT, used_home, wait_for};

fn open(api: &Api, query: &str) -> Socket {
    Socket::open(api, &format!("/ws?{query}token={}", api.token))
}

fn assert_served(api: &Api, other: &mut Socket) {
    assert_eq!(api.get("/healthz").status, 200);
    other.send("nonsense");
    assert_eq!(other.next()["type"], "error");
}

/// Invalid frames end only the connection that they arrive on.
#[test]
fn invalid_frames_close_only_their_connection() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut other = open(&api, "");
    let masked = |first: u8, text: &[u8]| {
        let length = u8::try_from(text.len()).unwrap();
        [&[first, 0x80 | length, 0, 0, 0, 0], text].concat()
    };
    let huge = [&[0x81, 0xff], &(1_u64 << 60).to_be_bytes()[..], &[0; 4]].concat();
    let large = [
        &[0x81, 0xff],
        &70_000_u64.to_be_bytes()[..],
        &[0; 4],
        &vec![b'x'; 70_000],
    ]
    .concat();
    let fragments = [masked(0x01, b"{"), masked(0x00, &[b'x'; 100]).repeat(1_000)];
    let attacks: Vec<(&str, Vec<u8>)> = vec![
        ("not masked", vec![0x81, 0x02, b'{', b'}']),
        ("huge", huge),
        ("too large", large),
        ("a continuation of nothing", masked(0x80, b"x")),
        (
            "a message inside another one",
            [masked(0x01, b"a"), masked(0x01, b"b")].concat(),
        ),
        ("a reserved kind", masked(0x83, b"x")),
        ("reserved bits", masked(0xf1, b"x")),
        ("a ping in fragments", masked(0x09, b"x")),
        ("text that is not UTF-8", masked(0x81, &[0xff, 0xfe])),
        ("a close with half a code", masked(0x88, &[3])),
        ("fragments without an end", fragments.concat()),
        ("HTTP again", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
    ];
    for (what, bytes) in attacks {
        let mut socket = open(&api, "");
        // The server may close while bytes are in flight.
        drop(socket.stream.write_all(&bytes));
        let begun = Instant::now();
        let mut buffer = [0; 1024];
        while !matches!(socket.stream.read(&mut buffer), Ok(0) | Err(_)) {
            assert!(begun.elapsed() < WAIT_TIMEOUT, "{what}: it is never closed");
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{what}: it is never closed");
        assert_served(&api, &mut other);
    }
    // Empty fragments cost their sender more than the server.
    let mut endless = open(&api, "");
    endless.stream.write_all(&masked(0x01, b"")).unwrap();
    drop(endless.stream.write_all(&masked(0x00, b"").repeat(20_000)));
    assert_served(&api, &mut other);
    daemon.stop();
}

/// Feeds may use a quarter of the files that the process may open, so that other requests are always served.
#[test]
fn feeds_leave_file_descriptors_for_other_requests() {
    let world = used_home();
    let daemon = Daemon::with_open_files(&world, 200);
    let api = Api::find(&world);
    let mut feeds: Vec<_> = (0..50).map(|_| open(&api, "")).collect();
    let path = format!("/ws?token={}", api.token);
    let refused = Socket::ask(&api, &path, &api.address, &[]).err().unwrap();
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (429, &json!("too_many_requests"))
    );
    assert_served(&api, &mut feeds[0]);
    feeds.truncate(49);
    wait_for("the permit of the closed feed", || {
        Socket::ask(&api, &path, &api.address, &[]).ok().map(drop)
    });
    daemon.stop();
}

/// Has a large output, so a few events fill the buffers between server and client.
const LARGE: &str = "\
name: large
description: Has a large output
inputs:
  - {name: text, type: string, required: true}
steps:
  - {id: say, tool: log, args: {message: x}}
outputs:
  text: \"{{ inputs.text }}\"
";

/// A client that reads nothing for a while gets `resync`, then all missed events in order, over the WebSocket and as
/// server-sent events. Another client gets all events as they happen.
#[test]
fn a_slow_client_gets_resync_and_loses_no_event() {
    let world = used_home();
    let steps: String = (0..60)
        .map(|step| format!("  - {{id: s{step}, tool: log, args: {{message: x}}}}\n"))
        .collect();
    let many = format!("name: many\ndescription: Has many steps\nsteps:\n{steps}");
    world
        .write("home/skills/large.yaml", LARGE)
        .write("home/skills/many.yaml", many);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let run = |body: Value| {
        let json = [("Content-Type", "application/json")];
        let reply = api.send(
            "POST",
            "/api/v1/runs?wait=20",
            &json,
            body.to_string().as_bytes(),
        );
        assert_eq!(reply.status, 200, "{}", reply.json());
    };
    let (large, small) = (24, 12);
    let text = "x".repeat(200_000);
    std::thread::scope(|scope| {
        let mut slow = open(&api, "");
        let slow_stream = api.follow("/api/v1/events", "");
        let mut quick = open(&api, "");
        let quick = scope.spawn(move || {
            let mut seen = Vec::new();
            let mut ended = 0;
            while ended < large + small {
                let event = quick.next();
                assert_ne!(event["type"], "resync", "the quick client is not affected");
                ended += usize::from(event["type"] == "skill_completed");
                seen.push(event["seq"].as_u64().unwrap());
            }
            seen
        });
        for _ in 0..large {
            run(json!({"skill": "large", "inputs": {"text": text}}));
        }
        for _ in 0..small {
            run(json!({"skill": "many"}));
        }
        let all = quick.join().unwrap();
        assert_caught_up(std::iter::repeat_with(|| slow.next()), &all);
        assert_caught_up(slow_stream, &all);
    });
    daemon.stop();
}

/// Asserts that a slow client gets `resync` with the last event before a gap, and all events in order.
fn assert_caught_up(events: impl Iterator<Item = Value>, all: &[u64]) {
    let (mut seen, mut resyncs) = (Vec::new(), 0);
    for event in events {
        if event["type"] == "resync" {
            assert_eq!(event["seq"].as_u64(), seen.last().copied(), "{event}");
            resyncs += 1;
        } else {
            seen.push(event["seq"].as_u64().unwrap());
        }
        if seen.len() == all.len() {
            break;
        }
    }
    assert_eq!(seen, all);
    assert!(resyncs > 0, "the slow client was not slow enough");
}

//! Requests that try to bypass checks: smuggling, path tricks, wrong protocol eras.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::client::Api;
use super::hostile::assert_served;
use crate::daemon::{Daemon, used_home};

/// A second request is hidden in the first one of a connection: each is checked separately.
#[test]
fn smuggled_requests_are_authorised_separately() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let hidden = format!(
        "GET /api/v1/runs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        api.address
    );
    let head = |lengths: &str| {
        format!(
            "POST /api/v1/skills/validate HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\n{lengths}\r\n",
            api.address, api.token
        )
    };
    let raw = |text: String| {
        let mut stream = api.connect();
        drop(stream.write_all(text.as_bytes()));
        let mut all = Vec::new();
        drop(stream.read_to_end(&mut all));
        String::from_utf8_lossy(&all).into_owned()
    };
    for lengths in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 5, 6\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding : chunked\r\n",
    ] {
        let response = raw(format!("{}0\r\n\r\n{hidden}", head(lengths)));
        let replies: Vec<&str> = response.split("HTTP/1.1 ").skip(1).collect();
        assert!(
            !replies.is_empty() && replies.len() <= 2,
            "{lengths}: {response}"
        );
        assert!(
            replies.iter().all(|reply| reply.starts_with('4')),
            "{lengths}: {response}"
        );
        assert!(!response.contains("\"runs\""), "{lengths}: {response}");
        assert_served(&api);
    }
    daemon.stop();
}

/// Without a length, the size of a body is only known while it arrives.
#[test]
fn a_body_without_a_length_is_limited_too() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let head = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
            api.address, api.token
        )
    };
    let piece = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    for (path, pieces, code) in [
        ("/api/v1/runs", 3, "invalid_input"),
        ("/api/v1/runs", 4, "body_too_large"),
        ("/mcp", 4, "body_too_large"),
    ] {
        let mut stream = api.connect();
        stream.write_all(head(path).as_bytes()).unwrap();
        for _ in 0..pieces {
            stream.write_all(piece.as_bytes()).unwrap();
        }
        stream.write_all(b"1\r\n{\r\n0\r\n\r\n").unwrap();
        let mut text = Vec::new();
        drop(stream.read_to_end(&mut text));
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains(code), "{path}: {text}");
        assert_served(&api);
    }
    daemon.stop();
}

/// Ambiguous paths and heads. The token is valid, so a refusal can only be due to the trick.
#[test]
fn malformed_paths_and_heads_are_refused() {
    let world = used_home();
    world.write("home/skills/x.yaml", "name: x\ndescription: d\nsteps: []\n");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let long = format!("/api/v1/runs/{}", "x".repeat(30_000));
    let queries = format!("/api/v1/runs?{}", "a=1&".repeat(5_000));
    for path in [
        "//api/v1/runs",
        "/api//v1/runs",
        "/api/v1/runs/",
        "/api/v1/./runs",
        "/api/v1/x/../runs",
        "/api/v1/%2e%2e/%2e%2e/token",
        "/api/v1/skills/%2e%2e%2f%2e%2e%2ftoken/source",
        "/api/v1/skills/..%5c..%5ctoken/source",
        "/api/v1/skills/%00/source",
        "/api/v1/skills/x%00.yaml/source",
        "/api/v1/runs/%ff%fe",
        "/api/v1/runs/%",
        "/api%2fv1%2fruns",
        "/hooks/%2e%2e/x",
        "/../../etc/passwd",
        &long,
        &queries,
    ] {
        let reply = api.get(path);
        let shown = &path[..path.len().min(60)];
        assert!(
            (400..500).contains(&reply.status),
            "{shown}: {}",
            reply.status
        );
        assert_served(&api);
    }
    let line = |text: &str| {
        let text = text.replace("HOST", &api.address);
        format!(
            "{text}Authorization: Bearer {}\r\nConnection: close\r\n",
            api.token
        )
    };
    let many: String = (0..200).map(|one| format!("X-{one}: x\r\n")).collect();
    for (what, head) in [
        (
            "two hosts",
            line("GET /healthz HTTP/1.1\r\nHost: HOST\r\nHost: evil\r\n"),
        ),
        (
            "the same host twice",
            line("GET /healthz HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n"),
        ),
        (
            "another host in the line",
            line("GET http://evil/healthz HTTP/1.1\r\nHost: HOST\r\n"),
        ),
        (
            "a user in the host",
            line("GET /healthz HTTP/1.1\r\nHost: x@HOST\r\n"),
        ),
        (
            "many headers",
            line(&format!("GET /healthz HTTP/1.1\r\nHost: HOST\r\n{many}")),
        ),
        (
            "a folded header",
            line("GET /healthz HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n"),
        ),
        (
            "a NUL",
            line("GET /healthz HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n"),
        ),
        ("no version", line("GET /healthz\r\nHost: HOST\r\n")),
        (
            "another version",
            line("GET /healthz HTTP/3.0\r\nHost: HOST\r\n"),
        ),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n".to_owned()),
        (
            "a proxy",
            line("CONNECT evil:443 HTTP/1.1\r\nHost: HOST\r\n"),
        ),
        (
            "TRACE",
            line("TRACE /api/v1/runs HTTP/1.1\r\nHost: HOST\r\n"),
        ),
        ("OPTIONS", line("OPTIONS * HTTP/1.1\r\nHost: HOST\r\n")),
        ("TLS", "\u{16}\u{3}\u{1}\0\u{1}\u{1}".to_owned()),
    ] {
        let mut stream = api.connect();
        drop(stream.write_all(format!("{head}\r\n").as_bytes()));
        let mut received = Vec::new();
        drop(stream.read_to_end(&mut received));
        // Some are closed without a response.
        let refused = received.is_empty() || received.starts_with(b"HTTP/1.1 4");
        assert!(refused, "{what}: {}", String::from_utf8_lossy(&received));
        assert_served(&api);
    }
    daemon.stop();
}

/// MCP messages of one era sent in the other, and messages of neither era.
#[test]
fn mcp_messages_of_the_wrong_era_are_refused() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let ask = |headers: &[(&str, &str)], body: &str| {
        let kinds = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        api.send("POST", "/mcp", &[&kinds, headers].concat(), body.as_bytes())
    };
    let call = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    };
    let hello = call(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    );
    let listed = call("tools/list", json!({}));
    let session = ask(&[], &hello);
    assert_eq!(session.status, 200);
    let session = session.header("mcp-session-id").unwrap().to_owned();
    for (headers, body) in [
        // A request of the old era without a session, and with an unknown session.
        (vec![("MCP-Protocol-Version", "2025-11-25")], listed.clone()),
        (vec![("Mcp-Session-Id", "nothing")], listed.clone()),
        // A request of the new era on an old session, an unknown version, and an unexpected `initialize`.
        (
            vec![
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Session-Id", &session),
            ],
            hello.clone(),
        ),
        (vec![("MCP-Protocol-Version", "1999-01-01")], listed.clone()),
        (vec![("MCP-Protocol-Version", "2026-07-28")], hello.clone()),
        (vec![("Mcp-Session-Id", &session)], "[]".to_owned()),
        (vec![("Mcp-Session-Id", &session)], format!("[{listed}]")),
        (
            vec![("Mcp-Session-Id", &session)],
            "{\"jsonrpc\":\"1.0\"}".to_owned(),
        ),
        (vec![], "nonsense".to_owned()),
        (
            vec![],
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":7}".to_owned(),
        ),
    ] {
        let reply = ask(&headers, &body);
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let refused = (400..500).contains(&reply.status) || text.contains("\"error\"");
        assert!(refused, "{headers:?} {body}: {} {text}", reply.status);
        assert_served(&api);
    }
    // The session of the old era still works.
    let ready = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
    assert_eq!(ask(&[("Mcp-Session-Id", &session)], ready).status, 202);
    assert_served(&api);
    daemon.stop();
}

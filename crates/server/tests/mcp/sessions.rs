//! Plain requests over HTTP: a call in one POST, and refused hosts and origins.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::test_server::TestServer;

/// Sends one POST and returns the head and the body of the response.
fn post(served: &TestServer, headers: &[(&str, &str)], body: &Value) -> (String, String) {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let body = body.to_string();
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request.push_str(&format!("Host: {}\r\n", served.address));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    write!(stream, "{request}\r\n{body}").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn call(arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "echo",
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
}

const MODERN: [(&str, &str); 3] = [
    ("MCP-Protocol-Version", "2026-07-28"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "echo"),
];

#[test]
fn a_skill_is_run_by_one_request() {
    let served = TestServer::start();
    let (head, body) = post(&served, &MODERN, &call(&json!({"text": "hi"})));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{body}");
    assert!(body.contains(r#""outputs":{"said":"hi"}"#), "{body}");
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let served = TestServer::start();
    for header in [("Host", "evil.example"), ("Origin", "http://evil.example")] {
        let headers = [&MODERN[..], &[header]].concat();
        let (head, body) = post(&served, &headers, &call(&json!({"text": "hi"})));
        assert!(head.starts_with("HTTP/1.1 403"), "{head}\n{body}");
    }
}

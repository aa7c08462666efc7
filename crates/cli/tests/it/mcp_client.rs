//! An MCP client for tests that exchanges lines with `deft mcp serve`, without an MCP library.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use serde_json::{Value, json};

use crate::daemon::WAIT_TIMEOUT;
use crate::support::World;

/// The newest revision without sessions.
pub(crate) const MODERN: &str = "2026-07-28";

/// The newest revision with sessions.
pub(crate) const LEGACY: &str = "2025-11-25";

pub(crate) struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Received messages that no caller has taken yet.
    waiting: Vec<Value>,
    next: u64,
    /// Metadata of every request in a revision without sessions.
    meta: Option<Value>,
}

impl McpClient {
    /// Starts the server without sending anything.
    pub(crate) fn start(world: &World) -> Self {
        let mut child = world
            .command(&["mcp", "serve"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            waiting: Vec::new(),
            next: 0,
            meta: None,
        }
    }

    /// Creates a client with a session.
    pub(crate) fn legacy(world: &World, version: &str, capabilities: &Value) -> Self {
        let mut client = Self::start(world);
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": { "name": "tester", "version": "1" },
        });
        let result = client.request("initialize", params);
        assert_eq!(result["protocolVersion"], version, "{result:#}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Creates a client without a session.
    pub(crate) fn modern(world: &World, capabilities: &Value) -> Self {
        let mut client = Self::start(world);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    /// Creates clients of both eras, without optional capabilities.
    pub(crate) fn both(world: &World) -> [Self; 2] {
        [
            Self::legacy(world, LEGACY, &json!({})),
            Self::modern(world, &json!({})),
        ]
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(meta) = &self.meta {
            let mut whole = meta.clone();
            if let Some(given) = params["_meta"].as_object() {
                whole.as_object_mut().unwrap().extend(given.clone());
            }
            params["_meta"] = whole;
        }
        let id = self.next;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        message["params"] = params;
        self.write(&message);
    }

    /// Answers a request of the server.
    pub(crate) fn respond(&mut self, request: &Value, result: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "id": request["id"] });
        message["result"] = result;
        self.write(&message);
    }

    fn write(&mut self, message: &Value) {
        self.write_line(&message.to_string());
    }

    /// Sends a line, which need not be a valid message.
    pub(crate) fn write_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// Returns the next message accepted by `fits`. Other messages are kept for later calls.
    pub(crate) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at);
        }
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no {what}; {:#?}", self.waiting);
            };
            // Only protocol messages may be on stdout.
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|problem| panic!("{problem}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if fits(&message) {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// Waits for the response to a request.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        self.until("response", |message| {
            message["id"] == id && message["method"].is_null()
        })
    }

    /// Sends a request that must succeed, and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let mut response = self.response(id);
        assert!(response["error"].is_null(), "{method}: {response:#}");
        response["result"].take()
    }

    /// Sends a request that must fail, and returns its error.
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let mut response = self.response(id);
        assert!(response["result"].is_null(), "{method}: {response:#}");
        response["error"].take()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        self.request("tools/call", params)
    }

    /// Makes a call that must succeed, and returns its structured result.
    pub(crate) fn value(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result:#}");
        result["structuredContent"].take()
    }

    /// Waits for a notification of a kind.
    pub(crate) fn notification(&mut self, method: &str) -> Value {
        self.until(method, |message| message["method"] == method)
    }

    /// Returns the received messages that no caller has taken, in order.
    pub(crate) fn waiting(&self) -> &[Value] {
        &self.waiting
    }

    /// Returns the number of notifications of a kind among the waiting messages.
    pub(crate) fn count(&self, method: &str) -> usize {
        let waiting = self.waiting().iter();
        waiting
            .filter(|message| message["method"] == method)
            .count()
    }

    /// Closes stdin, waits for the server to exit, and returns its exit code.
    pub(crate) fn close(mut self) -> i32 {
        drop(self.stdin.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for McpClient {
    /// Kills the process if the test failed.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

//! A client of `/mcp` over HTTP, in both eras, with streamed responses.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::client::{Api, Reply};
use crate::mcp_client::{LEGACY, MODERN};

/// Accepts both forms of a response.
const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");

/// A client of `/mcp`.
pub(super) struct McpHttp<'a> {
    api: &'a Api,
    /// The session, in the era with sessions.
    session: Option<String>,
    version: &'a str,
    next: u64,
}

impl<'a> McpHttp<'a> {
    /// Creates a client with a session.
    pub(super) fn legacy(api: &'a Api) -> Self {
        Self::with_version(api, LEGACY)
    }

    /// Creates a client with a session of this revision.
    pub(super) fn with_version(api: &'a Api, version: &'a str) -> Self {
        let mut client = Self {
            api,
            session: None,
            version,
            next: 0,
        };
        let params = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "tester", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let reply = api.post_with("/mcp", &hello, &[ACCEPT]);
        assert_eq!(
            reply.status,
            200,
            "{}",
            String::from_utf8_lossy(&reply.body)
        );
        assert_eq!(message_of(&reply)["result"]["protocolVersion"], version);
        client.session = reply.header("mcp-session-id").map(str::to_owned);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let headers = client.headers("notifications/initialized", &json!({}));
        assert_eq!(
            api.post_with("/mcp", &ready, &borrowed(&headers)).status,
            202
        );
        client
    }

    /// Creates a client without a session.
    pub(super) fn modern(api: &'a Api) -> Self {
        Self {
            api,
            session: None,
            version: MODERN,
            next: 0,
        }
    }

    /// Sends a request in this session with another token, and returns the status.
    pub(super) fn status_for(&mut self, other: &Api) -> u16 {
        let (message, headers) = self.message("tools/list", json!({}));
        let reply = other.post_with("/mcp", &message, &borrowed(&headers));
        reply.status
    }

    /// Sends a request and returns its response, which may be an error.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let (message, headers) = self.message(method, params);
        message_of(&self.api.post_with("/mcp", &message, &borrowed(&headers)))
    }

    /// Sends a request whose response is a long-lived stream.
    pub(super) fn follow(&mut self, method: &str, params: Value) -> EventStream {
        let (message, mut headers) = self.message(method, params);
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        EventStream::open(self.api, "POST", &headers, &message.to_string())
    }

    /// Opens the stream of unsolicited messages of the server.
    pub(super) fn listen(&self) -> EventStream {
        EventStream::open(self.api, "GET", &self.headers("", &json!({})), "")
    }

    fn message(&mut self, method: &str, mut params: Value) -> (Value, Vec<(String, String)>) {
        self.next += 1;
        let headers = self.headers(method, &params);
        if self.session.is_none() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        (message, headers)
    }

    fn headers(&self, method: &str, params: &Value) -> Vec<(String, String)> {
        let mut headers = vec![(ACCEPT.0.to_owned(), ACCEPT.1.to_owned())];
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        if let Some(session) = &self.session {
            add("Mcp-Session-Id", session);
            add("MCP-Protocol-Version", self.version);
            return headers;
        }
        add("MCP-Protocol-Version", self.version);
        add("Mcp-Method", method);
        if let Some(name) = params["name"].as_str().or_else(|| params["uri"].as_str()) {
            add("Mcp-Name", name);
        }
        headers
    }
}

fn borrowed(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    let headers = headers.iter();
    headers
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

/// Returns the message in an HTTP reply: the whole document, or the last event of a stream.
fn message_of(reply: &Reply) -> Value {
    let kind = reply.header("content-type").unwrap_or_default();
    if kind.starts_with("application/json") {
        return reply.json();
    }
    let text = String::from_utf8_lossy(&reply.body);
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = data.filter_map(|data| serde_json::from_str(data).ok());
    let last = messages.next_back();
    last.unwrap_or_else(|| panic!("{}: {text}", reply.status))
}

/// A stream of events.
pub(super) struct EventStream {
    stream: TcpStream,
    seen: Vec<u8>,
}

impl EventStream {
    fn open(api: &Api, method: &str, headers: &[(String, String)], body: &str) -> Self {
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n",
            api.address,
            api.token,
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = api.connect();
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .unwrap();
        let mut opened = Self {
            stream,
            seen: Vec::new(),
        };
        opened.until("\r\n\r\n");
        let head = String::from_utf8_lossy(&opened.seen).into_owned();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("text/event-stream"), "{head}");
        opened
    }

    /// Reads until `text` has arrived.
    pub(super) fn until(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            assert!(
                self.read(),
                "it ended: {}",
                String::from_utf8_lossy(&self.seen)
            );
        }
    }

    /// Reads until the server ends the stream.
    pub(super) fn until_end(&mut self) {
        while !self.seen.ends_with(b"0\r\n\r\n") && self.read() {}
    }

    /// Reads more bytes. Returns false at the end. Panics if nothing arrives for too long.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let read = self.stream.read(&mut bytes).unwrap();
        self.seen.extend(&bytes[..read]);
        read > 0
    }
}

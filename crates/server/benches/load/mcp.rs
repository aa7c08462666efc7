//! A client for streamable HTTP, revision 2025-11-25, which all measured servers support.

use std::time::Instant;

use serde_json::{Value, json};

use crate::connection::{Connection, HttpReply, request};
use crate::figures;

const REVISION: &str = "2025-11-25";

pub(crate) struct Session {
    connection: Connection,
    token: String,
    path: String,
    id: Option<String>,
}

impl Session {
    pub(crate) async fn open(address: &str, token: &str, path: &str) -> Self {
        let mut session = Self {
            connection: Connection::open(address).await,
            token: token.to_owned(),
            path: path.to_owned(),
            id: None,
        };
        let hello = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": REVISION,
                "capabilities": {},
                "clientInfo": { "name": "load", "version": "1" },
            },
        });
        let reply = session.post(&hello.to_string()).await;
        session.id = reply.header("mcp-session-id").map(str::to_owned);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        session.post(&ready.to_string()).await;
        session
    }

    /// Calls a tool `count` times in sequence.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &str, count: usize) -> Value {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let mut times = Vec::with_capacity(count);
        let begun = Instant::now();
        for id in 1..=count {
            let call = json!({
                "jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": { "name": tool, "arguments": arguments },
            });
            let call = call.to_string();
            let sent = Instant::now();
            let reply = self.post(&call).await;
            times.push(sent.elapsed());
            let body = String::from_utf8_lossy(&reply.body);
            assert!(
                body.contains("\"result\"") && !body.contains("\"isError\":true"),
                "{body}"
            );
        }
        figures::summary(times, begun.elapsed())
    }

    async fn post(&mut self, body: &str) -> HttpReply {
        let mut headers = vec![
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", REVISION),
        ];
        if let Some(id) = &self.id {
            headers.push(("mcp-session-id", id));
        }
        let request = request("POST", &self.path, &self.token, &headers, body);
        let reply = self.connection.exchange(&request).await;
        assert!(reply.status < 300, "{}", reply.head);
        reply
    }
}

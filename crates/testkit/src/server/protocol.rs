//! The tool part of the protocol, in both of its eras.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::state::{State, Witness};
use crate::{Sink, behaviour, lock};

const MODERN: &str = "2026-07-28";
const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A server that follows a script.
pub(crate) struct Server {
    script: Value,
    pub(crate) state: State,
    pub(crate) witness: Witness,
    /// Requests to the client that are not answered yet.
    asked: Mutex<HashMap<u64, Sender<Value>>>,
    next: AtomicU64,
    /// The ids of calls that the client cancelled.
    cancelled: Mutex<HashSet<String>>,
    subscriptions: Mutex<Vec<Value>>,
}

impl Server {
    pub(crate) fn new(script: Value, witness: Option<&String>, state: Option<&String>) -> Self {
        let server = Self {
            script,
            state: State::new(state.map(Into::into)),
            witness: Witness::new(witness),
            asked: Mutex::default(),
            next: AtomicU64::new(1000),
            cancelled: Mutex::default(),
            subscriptions: Mutex::default(),
        };
        server.witness.write("up", "", &Value::Null, &Value::Null);
        server
    }

    pub(crate) fn script(&self) -> &Value {
        &self.script
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Value> {
        self.script["tools"]
            .get(name)
            .filter(|words| self.is_visible(name, words))
    }

    fn is_visible(&self, name: &str, words: &Value) -> bool {
        words["hidden"] != json!(true) || self.state.get(&format!("revealed {name}")) == json!(true)
    }

    fn era(&self) -> &str {
        self.script["era"].as_str().unwrap_or("legacy")
    }

    /// Handles one message, on a separate thread if it may block.
    pub(crate) fn handle(self: &Arc<Self>, message: Value, sink: &Arc<dyn Sink>) {
        let id = message["id"].clone();
        let Some(method) = message["method"].as_str() else {
            self.handle_response(&message);
            return;
        };
        if id.is_null() {
            self.handle_notification(method, &message["params"]);
            return;
        }
        if method != "tools/call" {
            if let Some(reply) = self.reply(method, &id, &message["params"], sink) {
                sink.send(&reply);
            }
            return;
        }
        let words = self.tool(message["params"]["name"].as_str().unwrap_or_default());
        if words.is_some_and(behaviour::may_take_long) {
            let (server, sink) = (self.clone(), sink.clone());
            std::thread::spawn(move || behaviour::call(&server, &message, &sink));
        } else {
            behaviour::call(self, &message, sink);
        }
    }

    fn reply(
        &self,
        method: &str,
        id: &Value,
        params: &Value,
        sink: &Arc<dyn Sink>,
    ) -> Option<Value> {
        let unknown = || error(id, -32601, "method not found");
        Some(match method {
            "initialize" if self.era() == "modern" => error(id, -32601, "no initialize here"),
            "initialize" => result(id, &self.initialize_result(params)),
            "server/discover" if self.script["start"]["silent_probe"] == json!(true) => {
                return None;
            }
            "server/discover" if self.script["start"]["empty_probe"] == json!(true) => {
                result(id, &json!({}))
            }
            "server/discover" if self.era() == "legacy" => unknown(),
            "server/discover" => result(id, &self.discover_result()),
            "subscriptions/listen" if self.era() != "legacy" => {
                lock(&self.subscriptions).push(id.clone());
                sink.send(&json!({
                    "jsonrpc": "2.0",
                    "method": "notifications/subscriptions/acknowledged",
                    "params": {"_meta": {META_SUBSCRIPTION: id}, "notifications": params["notifications"]}
                }));
                return None;
            }
            "ping" => result(id, &json!({})),
            "tools/list" => result(id, &self.list(params)),
            method => self
                .skills_reply(method, id, params)
                .unwrap_or_else(unknown),
        })
    }

    fn capabilities(&self) -> Value {
        let mut all = json!({"tools": {"listChanged": self.announces()}});
        if self.has_skills() {
            all["resources"] = json!({"listChanged": self.announces()});
            all["extensions"] = json!({"io.modelcontextprotocol/skills": {}});
        }
        all
    }

    /// Whether the server announces changes of its tools.
    fn announces(&self) -> bool {
        self.script["announces"] != json!(false)
    }

    fn initialize_result(&self, params: &Value) -> Value {
        let version = params["protocolVersion"].as_str().unwrap_or("2025-11-25");
        json!({
            "protocolVersion": if version == MODERN { "2025-11-25" } else { version },
            "capabilities": self.capabilities(),
            "serverInfo": {"name": self.script["name"], "version": self.version()},
            "instructions": self.script["instructions"].as_str().unwrap_or_default()
        })
    }

    fn version(&self) -> &str {
        self.script["version"].as_str().unwrap_or("1.0")
    }

    fn discover_result(&self) -> Value {
        json!({
            "resultType": "complete",
            "supportedVersions": [MODERN],
            "capabilities": self.capabilities(),
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": self.script["name"], "version": "1.0"}}
        })
    }

    fn list(&self, params: &Value) -> Value {
        let empty = serde_json::Map::new();
        let tools = self.script["tools"].as_object().unwrap_or(&empty);
        let tools: Vec<Value> = tools
            .iter()
            .filter(|(name, words)| self.is_visible(name, words))
            .map(|(name, words)| describe_tool(name, words))
            .collect();
        let first: usize = params["cursor"]
            .as_str()
            .and_then(|at| at.parse().ok())
            .unwrap_or(0);
        let size = self.script["page"]
            .as_u64()
            .map_or(tools.len(), |size| usize::try_from(size).unwrap_or(1));
        let last = (first + size).min(tools.len());
        let mut page = json!({"tools": &tools[first.min(last)..last], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
        if last < tools.len() {
            page["nextCursor"] = json!(last.to_string());
        }
        if self.script["endless_pages"] == json!(true) {
            page["nextCursor"] = json!((first + 1).to_string());
        }
        page
    }

    fn handle_notification(&self, method: &str, params: &Value) {
        if method == "notifications/cancelled" {
            let id = params["requestId"].to_string();
            self.witness
                .write("cancelled", "", &params["requestId"], &Value::Null);
            lock(&self.cancelled).insert(id);
        }
    }

    pub(crate) fn is_cancelled(&self, id: &Value) -> bool {
        lock(&self.cancelled).contains(&id.to_string())
    }

    /// Passes a response of the client to the request that waits for it.
    fn handle_response(&self, message: &Value) {
        let asked = message["id"]
            .as_u64()
            .and_then(|id| lock(&self.asked).remove(&id));
        if let Some(asked) = asked {
            asked.send(message.clone()).ok();
        }
    }

    /// Sends a request to the client and waits for the response.
    pub(crate) fn ask(&self, method: &str, sink: &Arc<dyn Sink>) -> Value {
        let id = self.next.fetch_add(1, Ordering::SeqCst);
        let (sender, receiver) = mpsc::channel();
        lock(&self.asked).insert(id, sender);
        let params = match method {
            "elicitation/create" => {
                json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}})
            }
            "sampling/createMessage" => json!({"messages": [], "maxTokens": 1}),
            _ => json!({}),
        };
        sink.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        receiver.recv().unwrap_or(Value::Null)
    }

    /// Announces that the tools or the resources have changed.
    pub(crate) fn announce(&self, what: &str, sink: &Arc<dyn Sink>) {
        if !self.announces() {
            return;
        }
        let subscriptions = lock(&self.subscriptions).clone();
        let mut notice =
            json!({"jsonrpc": "2.0", "method": format!("notifications/{what}/list_changed")});
        if subscriptions.is_empty() {
            sink.send(&notice);
        }
        for id in subscriptions {
            notice["params"] = json!({"_meta": {META_SUBSCRIPTION: id}});
            sink.send(&notice);
        }
    }
}

fn describe_tool(name: &str, words: &Value) -> Value {
    let mut tool = json!({
        "name": name,
        "description": words["description"].as_str().unwrap_or("A tool for tests."),
        "inputSchema": {"type": "object"},
    });
    for (from, to) in [
        ("schema", "inputSchema"),
        ("annotations", "annotations"),
        ("title", "title"),
    ] {
        if !words[from].is_null() {
            tool[to] = words[from].clone();
        }
    }
    tool
}

pub(crate) fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

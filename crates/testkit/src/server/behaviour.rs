//! The behaviour of a call, controlled by the keys of its tool.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Sink;
use crate::protocol::{Server, error, result};
use crate::spoil::spoil;

/// Whether a call may block and must not delay other calls.
pub(crate) fn may_take_long(words: &Value) -> bool {
    ["delay_ms", "hang", "ask", "need", "flood", "requests"]
        .iter()
        .any(|word| !words[*word].is_null())
}

/// A call in flight.
struct Call<'a> {
    server: &'a Server,
    sink: &'a Arc<dyn Sink>,
    id: &'a Value,
    tool: &'a str,
    arguments: &'a Value,
    meta: &'a Value,
    key: &'a Value,
}

/// Performs a call and sends its response.
pub(crate) fn call(server: &Server, message: &Value, sink: &Arc<dyn Sink>) {
    let params = &message["params"];
    let call = Call {
        server,
        sink,
        id: &message["id"],
        tool: params["name"].as_str().unwrap_or_default(),
        arguments: &params["arguments"],
        meta: &params["_meta"],
        key: &params["_meta"]["deft/idempotencyKey"],
    };
    match server.tool(call.tool) {
        Some(words) => call.perform(words),
        None => sink.send(&error(
            call.id,
            -32602,
            &format!("unknown tool {}", call.tool),
        )),
    }
}

impl Call<'_> {
    fn perform(&self, words: &Value) {
        self.note("started");
        let missing = words["need"].as_object().into_iter().flatten();
        for (flag, instead) in missing {
            if self.server.state.get(flag) != json!(true) {
                self.note("finished");
                self.answer(instead);
                return;
            }
        }
        if self.prelude(words) {
            return;
        }
        self.effect(words);
        self.note("finished");
        if words["die"] == json!("after") {
            std::process::exit(4);
        }
        self.answer(words);
    }

    fn note(&self, event: &str) {
        self.server
            .witness
            .write(event, self.tool, self.arguments, self.key);
    }

    /// Performs the part of a call before its effect. Returns true if the call ends here.
    fn prelude(&self, words: &Value) -> bool {
        if let Some(millis) = words["delay_ms"].as_u64() {
            std::thread::sleep(Duration::from_millis(millis));
        }
        for n in 0..words["flood"].as_u64().unwrap_or(0) {
            self.sink.send(&json!({
                "jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "info", "data": format!("noise {n}")}
            }));
        }
        for n in 0..words["garbage"].as_u64().unwrap_or(0) {
            self.sink
                .raw(format!("DEBUG this is no message {n} {{").as_bytes());
        }
        for n in 0..words["requests"].as_u64().unwrap_or(0) {
            self.sink.send(&json!({
                "jsonrpc": "2.0", "id": 1_000_000 + n, "method": "sampling/createMessage",
                "params": {"messages": [], "maxTokens": 1}
            }));
        }
        for n in 0..words["stderr_lines"].as_u64().unwrap_or(0) {
            writeln!(std::io::stderr(), "complaint {n}").ok();
        }
        if let Some(line) = words["run"].as_str() {
            let shell = std::process::Command::new("/bin/sh")
                .args(["-c", line])
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::null())
                .status();
            shell.ok();
        }
        if let Some(bytes) = words["garbage_bytes"].as_u64() {
            self.sink
                .raw("x".repeat(usize::try_from(bytes).unwrap_or(0)).as_bytes());
        }
        while words["freeze"] == json!(true) {
            // This blocks the reading thread, so the server no longer answers anything.
            std::thread::sleep(Duration::from_mins(1));
        }
        if words["die"] == json!("before") {
            std::process::exit(4);
        }
        while words["hang"] == json!(true) {
            std::thread::sleep(Duration::from_millis(10));
            if self.server.is_cancelled(self.id) {
                return true;
            }
        }
        false
    }

    fn effect(&self, words: &Value) {
        for (flag, value) in words["set"].as_object().into_iter().flatten() {
            self.server.state.set(flag, value.clone());
        }
        let revealed = words["reveal"].as_array().into_iter().flatten();
        let mut changed = false;
        for name in revealed.filter_map(Value::as_str) {
            self.server
                .state
                .set(&format!("revealed {name}"), json!(true));
            changed = true;
        }
        if changed {
            self.server.announce("tools", self.sink);
        }
        if let Some(what) = words["announce"].as_str() {
            self.server.announce(what, self.sink);
        }
    }

    fn answer(&self, words: &Value) {
        let fail = &words["fail"];
        let times = fail["times"].as_u64().unwrap_or(0);
        if times > 0 && self.server.state.count(&format!("failed {}", self.tool)) < times {
            self.answer_with(fail);
        } else {
            self.answer_with(words);
        }
    }

    fn answer_with(&self, words: &Value) {
        if let Some(text) = words["error"].as_str() {
            let content = json!([{"type": "text", "text": self.fill_arguments(text)}]);
            self.send(json!({"content": content, "isError": true}));
        } else if let Some(code) = words["rpc_error"]["code"].as_i64() {
            let message = words["rpc_error"]["message"].as_str().unwrap_or("no");
            self.sink.send(&error(self.id, code, message));
        } else if let Some(status) = words["http_status"].as_u64() {
            // Only the HTTP transport interprets this message.
            self.sink.send(&json!({"http_status": status}));
        } else if let Some(bytes) = words["huge"].as_u64() {
            let text = "x".repeat(usize::try_from(bytes).unwrap_or(0));
            self.sink.raw(self.huge(words, &text).as_bytes());
        } else if !words["raw_line"].is_null() {
            let line = words["raw_line"].as_str().unwrap_or_default();
            let line = line.replace("ID", &self.id.to_string());
            self.sink.raw(&spoil(line));
        } else {
            self.send(self.value(words));
        }
    }

    /// Returns a large response, with the id before or after the result.
    fn huge(&self, words: &Value, text: &str) -> String {
        let result = json!({"content": [{"type": "text", "text": text}], "resultType": "complete"});
        if words["id_last"] == json!(true) {
            format!(
                "{{\"result\":{result},\"jsonrpc\":\"2.0\",\"id\":{}}}",
                self.id
            )
        } else {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}",
                self.id
            )
        }
    }

    fn value(&self, words: &Value) -> Value {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        if !words["raw"].is_null() {
            return words["raw"].clone();
        }
        if let Some(method) = words["ask"].as_str() {
            return text(&self.server.ask(method, self.sink).to_string());
        }
        if !words["content"].is_null() {
            return json!({"content": words["content"]});
        }
        if !words["structured"].is_null() {
            let structured = self.filled_value(&words["structured"]);
            return json!({"content": [{"type": "text", "text": structured.to_string()}], "structuredContent": structured});
        }
        if let Some(name) = words["env"].as_str() {
            return text(&std::env::var(name).unwrap_or_default());
        }
        if words["meta"] == json!(true) {
            return text(&self.meta.to_string());
        }
        match words["text"].as_str() {
            Some(given) => text(&self.fill_arguments(given)),
            None => text(&self.arguments.to_string()),
        }
    }

    fn send(&self, mut value: Value) {
        if value["resultType"].is_null() && value.is_object() {
            value["resultType"] = json!("complete");
        }
        self.sink.send(&result(self.id, &value));
    }

    /// Replaces `${name}` in `text` by the argument of that name.
    fn fill_arguments(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in self.arguments.as_object().into_iter().flatten() {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            text = text.replace(&format!("${{{name}}}"), &value);
        }
        text
    }

    fn filled_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.fill_arguments(text)),
            Value::Array(items) => items.iter().map(|item| self.filled_value(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| (name.clone(), self.filled_value(value)))
                .collect(),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other.clone(),
        }
    }
}

//! The request body of `/api/chat`.

use deft_model::{CallArgs, Message, ModelRequest, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use crate::ModelOptions;
use crate::wire::{system_text, unreadable};

pub(super) fn body(options: &ModelOptions, request: &ModelRequest, streamed: bool) -> Value {
    let most = request.max_tokens.unwrap_or(options.max_tokens);
    let mut settings = json!({"num_predict": most});
    if let Some(temperature) = options.temperature {
        settings["temperature"] = temperature.into();
    }
    if let Some(context) = options.context_tokens {
        settings["num_ctx"] = context.into();
    }
    // A prompt that does not fit must fail; without this, Ollama silently drops its beginning.
    let mut body = json!({"model": options.model, "messages": messages(request),
        "truncate": false, "shift": false, "options": settings, "stream": streamed});
    let offered: Vec<Value> = request
        .tools
        .iter()
        .filter(|tool| is_offered(tool, &request.choice))
        .map(tool)
        .collect();
    if !offered.is_empty() {
        body["tools"] = offered.into();
    }
    body
}

fn is_offered(tool: &ToolSpec, choice: &ToolChoice) -> bool {
    match choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::Named(name) => tool.name == *name,
        ToolChoice::None => false,
    }
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut system = system_text(request);
    let demand = match &request.choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto | ToolChoice::None => None,
        ToolChoice::Required => Some("Answer with a call of one of the tools.".to_owned()),
        ToolChoice::Named(name) => Some(format!("Answer with a call of the tool `{name}`.")),
    };
    if let Some(demand) = demand {
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str(&demand);
    }
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    if !system.is_empty() {
        out.push(json!({"role": "system", "content": system}));
    }
    out.extend(request.messages.iter().map(message));
    out
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant {
            text,
            calls,
            opaque,
        } => assistant(text, calls, opaque.as_ref()),
        Message::Tool { name, text, .. } => {
            json!({"role": "tool", "tool_name": name, "content": text})
        }
    }
}

fn assistant(text: &str, calls: &[ToolCall], opaque: Option<&Value>) -> Value {
    let mut out = json!({"role": "assistant", "content": text});
    if calls.is_empty() {
        return out;
    }
    out["tool_calls"] = calls.iter().map(call).collect();
    // Models that think between calls need their earlier thoughts.
    if let Some(thinking) = opaque.and_then(|opaque| opaque.pointer("/ollama/thinking")) {
        out["thinking"] = thinking.clone();
    }
    out
}

fn call(call: &ToolCall) -> Value {
    let arguments = match &call.args {
        CallArgs::Object(object) => Value::Object(object.clone()),
        CallArgs::Invalid(raw) => unreadable(raw),
    };
    json!({"function": {"name": call.name, "arguments": arguments}})
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {"name": tool.name, "description": tool.description,
        "parameters": tool.schema}})
}

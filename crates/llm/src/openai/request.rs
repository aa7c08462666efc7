//! The request body of chat completions.

use deft_model::{CallArgs, Message, ModelRequest, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use super::HOME;
use crate::ModelOptions;

pub(super) fn body(options: &ModelOptions, request: &ModelRequest, streamed: bool) -> Value {
    let mut body = json!({"model": options.model, "messages": messages(request)});
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = choice(&request.choice);
    }
    let most = request.max_tokens.unwrap_or(options.max_tokens);
    body[limit_name(options)] = most.into();
    if let Some(temperature) = options.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some(grammar) = &request.grammar {
        body["grammar"] = grammar.as_str().into();
    }
    body["stream"] = streamed.into();
    if streamed {
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

/// OpenAI's newer models refuse the old name, and other servers do not know the new one.
fn limit_name(options: &ModelOptions) -> &'static str {
    let own = options
        .base_url
        .as_deref()
        .is_none_or(|base| base.starts_with(HOME));
    if own {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    // The templates of many models accept only one system message, at the beginning.
    let system = crate::wire::system_text(request);
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
        Message::Tool { id, text, .. } => {
            json!({"role": "tool", "tool_call_id": id, "content": text})
        }
    }
}

fn assistant(text: &str, calls: &[ToolCall], opaque: Option<&Value>) -> Value {
    let mut out = json!({"role": "assistant", "content": text});
    if calls.is_empty() {
        return out;
    }
    if text.is_empty() {
        out["content"] = Value::Null;
    }
    out["tool_calls"] = calls.iter().map(call).collect();
    // Models that think between calls need their earlier thoughts, but only then.
    let thoughts = opaque.and_then(|opaque| opaque.get("openai"));
    for (key, value) in thoughts.and_then(Value::as_object).into_iter().flatten() {
        out[key] = value.clone();
    }
    out
}

fn call(call: &ToolCall) -> Value {
    // Servers parse this as JSON for their templates, so invalid arguments must not be sent back as they
    // were.
    let arguments = match &call.args {
        CallArgs::Object(object) => serde_json::to_string(object).unwrap_or_default(),
        CallArgs::Invalid(raw) => crate::wire::unreadable(raw).to_string(),
    };
    json!({"id": call.id, "type": "function",
        "function": {"name": call.name, "arguments": arguments}})
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {"name": tool.name, "description": tool.description,
        "parameters": tool.schema}})
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

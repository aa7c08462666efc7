//! The request body of the Messages API.

use deft_model::{CallArgs, Message, ModelRequest, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use crate::ModelOptions;
use crate::wire::unreadable;

pub(super) fn body(options: &ModelOptions, request: &ModelRequest, streamed: bool) -> Value {
    let mut body = json!({
        "model": options.model,
        "max_tokens": request.max_tokens.unwrap_or(options.max_tokens),
    });
    let system = system(request);
    if !system.is_empty() {
        body["system"] = system.into();
    }
    body["messages"] = messages(&request.messages).into();
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = choice(&request.choice);
    } else if let Some(tools) = past_tools(&request.messages) {
        body["tools"] = tools;
        body["tool_choice"] = choice(&ToolChoice::None);
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = temperature.into();
    }
    body["stream"] = streamed.into();
    body
}

/// Returns the system prompt. The provider caches everything up to the mark, including the tools.
fn system(request: &ModelRequest) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut mark = None;
    for part in request
        .system
        .iter()
        .filter(|part| !part.text.trim().is_empty())
    {
        if part.stable {
            mark = Some(parts.len());
        }
        parts.push(json!({"type": "text", "text": part.text}));
    }
    if let Some(part) = mark.and_then(|mark| parts.get_mut(mark)) {
        part["cache_control"] = json!({"type": "ephemeral"});
    }
    parts
}

/// Turns must alternate, so consecutive messages of one role are merged.
fn messages(messages: &[Message]) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::User { text } => ("user", vec![text_block(text)]),
            Message::Assistant {
                text,
                calls,
                opaque,
            } => ("assistant", assistant(text, calls, opaque.as_ref())),
            Message::Tool {
                id, text, failed, ..
            } => ("user", vec![result(id, text, *failed)]),
        };
        match out.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, there)) if *last == role => there.extend(blocks),
            _ => out.push((role, blocks)),
        }
    }
    out.into_iter()
        .map(|(role, blocks)| json!({"role": role, "content": blocks}))
        .collect()
}

/// The API refuses empty texts.
fn text_block(text: &str) -> Value {
    let text = if text.trim().is_empty() {
        "(nothing)"
    } else {
        text
    };
    json!({"type": "text", "text": text})
}

fn assistant(text: &str, calls: &[ToolCall], opaque: Option<&Value>) -> Vec<Value> {
    // Thoughts are signed and come first.
    let thoughts = opaque.and_then(|opaque| opaque["anthropic"].as_array());
    let mut blocks: Vec<Value> = thoughts.cloned().unwrap_or_default();
    if !text.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": text}));
    }
    blocks.extend(calls.iter().map(|call| {
        let input = match &call.args {
            CallArgs::Object(object) => Value::Object(object.clone()),
            CallArgs::Invalid(raw) => unreadable(raw),
        };
        json!({"type": "tool_use", "id": id(&call.id), "name": call.name, "input": input})
    }));
    blocks
}

fn result(call: &str, text: &str, failed: bool) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id(call)});
    if !text.is_empty() {
        block["content"] = text.into();
    }
    if failed {
        block["is_error"] = true.into();
    }
    block
}

/// Ids from other providers, after a fallback, may contain characters that this API refuses.
fn id(id: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    id.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

fn tool(tool: &ToolSpec) -> Value {
    let mut schema = tool.schema.clone();
    if !schema.is_object() {
        schema = json!({});
    }
    if schema.get("type").is_none() {
        schema["type"] = "object".into();
    }
    json!({"name": tool.name, "description": tool.description, "input_schema": schema})
}

/// The API refuses calls in the conversation without their tools, even if no tool may be called now.
fn past_tools(messages: &[Message]) -> Option<Value> {
    let mut names: Vec<&str> = Vec::new();
    for message in messages {
        if let Message::Assistant { calls, .. } = message {
            names.extend(calls.iter().map(|call| call.name.as_str()));
        }
    }
    names.sort_unstable();
    names.dedup();
    let stub = |name: &&str| json!({"name": name, "input_schema": {"type": "object"}});
    (!names.is_empty()).then(|| names.iter().map(stub).collect())
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Named(name) => json!({"type": "tool", "name": name}),
    }
}

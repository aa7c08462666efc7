//! The request body of Gemini.

use deft_model::{CallArgs, Message, ModelRequest, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use super::schema;
use crate::ModelOptions;
use crate::wire::{system_text, unreadable};

/// Replaces a required signature that does not exist, because another model made the call.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn body(options: &ModelOptions, request: &ModelRequest) -> Value {
    let mut body = json!({"contents": contents(options, &request.messages)});
    let system = system_text(request);
    if !system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body["tools"] = json!([{"functionDeclarations": tools}]);
        body["toolConfig"] = json!({"functionCallingConfig": choice(&request.choice)});
    }
    let most = request.max_tokens.unwrap_or(options.max_tokens);
    body["generationConfig"] = json!({"maxOutputTokens": most});
    if let Some(temperature) = options.temperature {
        body["generationConfig"]["temperature"] = temperature.into();
    }
    body
}

/// Turns must alternate, so consecutive messages of one role are merged.
fn contents(options: &ModelOptions, messages: &[Message]) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            Message::User { text } => ("user", vec![json!({"text": text})]),
            Message::Assistant {
                text,
                calls,
                opaque,
            } => ("model", assistant(options, text, calls, opaque.as_ref())),
            Message::Tool {
                name, text, failed, ..
            } => ("user", vec![result(name, text, *failed)]),
        };
        match out.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, there)) if *last == role => there.extend(parts),
            _ => out.push((role, parts)),
        }
    }
    out.into_iter()
        .map(|(role, parts)| json!({"role": role, "parts": parts}))
        .collect()
}

fn assistant(
    options: &ModelOptions,
    text: &str,
    calls: &[ToolCall],
    opaque: Option<&Value>,
) -> Vec<Value> {
    let signed = opaque.and_then(|opaque| opaque.get("gemini"));
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({"text": text}));
    }
    if let Some(signature) = signed.and_then(|signed| signed.get("text")) {
        // A signature may come without text to attach it to.
        if parts.is_empty() {
            parts.push(json!({"text": ""}));
        }
        parts[0]["thoughtSignature"] = signature.clone();
    }
    for (place, call) in calls.iter().enumerate() {
        let args = match &call.args {
            CallArgs::Object(object) => Value::Object(object.clone()),
            CallArgs::Invalid(raw) => unreadable(raw),
        };
        let mut part = json!({"functionCall": {"name": call.name, "args": args}});
        let signature = signed.map(|signed| &signed["calls"][place]);
        match signature.filter(|signature| signature.is_string()) {
            Some(signature) => part["thoughtSignature"] = signature.clone(),
            // Only the first call of a turn has to be signed, and only newer models require it.
            None if place == 0 && signed.is_none() && options.model.contains("gemini-3") => {
                part["thoughtSignature"] = UNSIGNED.into();
            }
            None => {}
        }
        parts.push(part);
    }
    parts
}

fn result(name: &str, text: &str, failed: bool) -> Value {
    let key = if failed { "error" } else { "result" };
    json!({"functionResponse": {"name": name, "response": {key: text}}})
}

fn tool(tool: &ToolSpec) -> Value {
    let mut out = json!({"name": tool.name, "description": tool.description});
    if let Some(schema) = schema::parameters(&tool.schema) {
        out["parameters"] = schema;
    }
    out
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    }
}

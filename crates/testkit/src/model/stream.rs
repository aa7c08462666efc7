//! Streamed answers in the format of each provider.

use serde_json::{Value, json};

use super::answer::ScriptedReply;
use super::dialect::{Dialect, gemini_parts, ollama_call, openai_call};
use crate::double::{Piece, Reaction};

pub(super) fn reaction(dialect: Dialect, saying: &ScriptedReply) -> Reaction {
    let kind = match dialect {
        Dialect::Ollama => "Content-Type: application/x-ndjson",
        Dialect::OpenAi | Dialect::Anthropic | Dialect::Gemini => "Content-Type: text/event-stream",
    };
    Reaction::Stream(200, vec![kind.to_owned()], pieces(dialect, saying))
}

fn pieces(dialect: Dialect, saying: &ScriptedReply) -> Vec<Piece> {
    let mut events: Vec<String> = match dialect {
        Dialect::OpenAi => openai(saying),
        Dialect::Anthropic => anthropic(saying),
        Dialect::Gemini => gemini(saying),
        Dialect::Ollama => ollama(saying),
    };
    let cut = saying.cut.filter(|cut| *cut < events.len());
    events.truncate(cut.unwrap_or(events.len()));
    let mut pieces: Vec<Piece> = match saying.bytes {
        Some(size) => events
            .concat()
            .into_bytes()
            .chunks(size.max(1))
            .map(|bytes| Piece::Bytes(bytes.to_vec()))
            .collect(),
        None => events
            .into_iter()
            .map(|event| Piece::Bytes(event.into_bytes()))
            .collect(),
    };
    if let Some((after, gate)) = &saying.gate {
        pieces.insert((*after).min(pieces.len()), Piece::Gate(gate.clone()));
    }
    if cut.is_some() {
        pieces.push(Piece::Cut);
    }
    pieces
}

/// Splits a text into words, as a stream sends it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Splits the arguments of a call into two halves, as a stream sends them.
fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(text.len() / 2))
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn openai(saying: &ScriptedReply) -> Vec<String> {
    let event = |delta: Value, stop: Value| {
        data(
            &json!({"id": "chatcmpl-double", "object": "chat.completion.chunk", "model": "double",
            "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}),
        )
    };
    let mut events = vec![event(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    )];
    for word in words(&saying.text) {
        events.push(event(json!({"content": word}), Value::Null));
    }
    for (index, call) in saying.calls.iter().enumerate() {
        let mut begun = openai_call(call);
        let args = begun["function"]["arguments"].take();
        let (first, second) = halves(args.as_str().unwrap_or_default());
        begun["index"] = index.into();
        begun["function"]["arguments"] = first.into();
        events.push(event(json!({"tool_calls": [begun]}), Value::Null));
        let rest = json!({"index": index, "function": {"arguments": second}});
        events.push(event(json!({"tool_calls": [rest]}), Value::Null));
    }
    events.push(event(json!({}), Dialect::OpenAi.stop(saying).into()));
    if saying.usage.is_some() {
        let mut last =
            json!({"id": "chatcmpl-double", "object": "chat.completion.chunk", "choices": []});
        Dialect::OpenAi.put_usage(&mut last, saying);
        events.push(data(&last));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn anthropic(saying: &ScriptedReply) -> Vec<String> {
    let event = |value: Value| {
        let kind = value["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {value}\n\n")
    };
    let mut message =
        json!({"id": "msg_double", "type": "message", "role": "assistant", "content": []});
    let mut end =
        json!({"type": "message_delta", "delta": {"stop_reason": Dialect::Anthropic.stop(saying)}});
    if saying.usage.is_some() {
        Dialect::Anthropic.put_usage(&mut message, saying);
        end["usage"] = json!({"output_tokens": message["usage"]["output_tokens"]});
        message["usage"]["output_tokens"] = 1.into();
    }
    let mut events = vec![
        event(json!({"type": "message_start", "message": message})),
        event(json!({"type": "ping"})),
    ];
    let mut index = 0;
    if !saying.text.is_empty() {
        events.push(event(json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}})));
        for word in words(&saying.text) {
            events.push(event(json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": word}})));
        }
        events.push(event(json!({"type": "content_block_stop", "index": 0})));
        index = 1;
    }
    for call in &saying.calls {
        events.push(event(json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}})));
        let args = match &call.args {
            Value::String(raw) => raw.clone(),
            args @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => args.to_string(),
        };
        let (first, second) = halves(&args);
        for half in ["", first, second] {
            events.push(event(json!({"type": "content_block_delta", "index": index,
                "delta": {"type": "input_json_delta", "partial_json": half}})));
        }
        events.push(event(json!({"type": "content_block_stop", "index": index})));
        index += 1;
    }
    events.push(event(end));
    events.push(event(json!({"type": "message_stop"})));
    events
}

fn gemini(saying: &ScriptedReply) -> Vec<String> {
    let event =
        |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let mut events: Vec<Value> = words(&saying.text)
        .map(|word| event(json!([{"text": word}])))
        .collect();
    let calls = gemini_parts(saying)
        .into_iter()
        .filter(|part| part.get("text").is_none());
    events.extend(calls.map(|part| event(json!([part]))));
    let mut last = event(json!([{"text": ""}]));
    last["candidates"][0]["finishReason"] = Dialect::Gemini.stop(saying).into();
    Dialect::Gemini.put_usage(&mut last, saying);
    events.push(last);
    // This provider ends its lines with CR and LF.
    events
        .iter()
        .map(|event| format!("data: {event}\r\n\r\n"))
        .collect()
}

fn ollama(saying: &ScriptedReply) -> Vec<String> {
    let event = |message: Value| json!({"model": "double", "message": message, "done": false});
    let mut events: Vec<Value> = words(&saying.text)
        .map(|word| event(json!({"role": "assistant", "content": word})))
        .collect();
    for call in &saying.calls {
        let calls = json!([ollama_call(call)]);
        events.push(event(
            json!({"role": "assistant", "content": "", "tool_calls": calls}),
        ));
    }
    let mut last = json!({"model": "double", "message": {"role": "assistant", "content": ""},
        "done": true, "done_reason": Dialect::Ollama.stop(saying)});
    Dialect::Ollama.put_usage(&mut last, saying);
    events.push(last);
    events.iter().map(|event| format!("{event}\n")).collect()
}

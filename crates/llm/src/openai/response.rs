//! Whole responses of chat completions.

use deft_model::StopReason;
use serde_json::{Value, json};

use crate::draft::{Args, Draft};
use crate::provider_failure::{Overflow, ProviderFailure, Words};

pub(super) fn whole(answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
    let choice = answer
        .pointer("/choices/0")
        .ok_or_else(ProviderFailure::empty)?;
    let message = &choice["message"];
    take_text(message, draft);
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        draft.call(
            call["id"].as_str().unwrap_or_default(),
            function["name"].as_str().unwrap_or_default(),
            Args::Value(function["arguments"].clone()),
        );
    }
    if draft.count() > 0 {
        draft.opaque = thoughts(message);
    }
    read_stop_reason(choice, draft);
    count(answer, draft);
    Ok(())
}

/// Takes the text of a message or of a piece of one. A refusal has its own field.
pub(super) fn take_text(message: &Value, draft: &mut Draft<'_>) {
    let content = &message["content"];
    if let Some(text) = content.as_str() {
        draft.say(text);
    }
    // Some servers send the text in parts.
    for part in content.as_array().into_iter().flatten() {
        if let Some(text) = part["text"].as_str() {
            draft.say(text);
        }
    }
    if let Some(text) = message["refusal"].as_str().filter(|text| !text.is_empty()) {
        draft.say(text);
        draft.stop = Some(StopReason::Refused);
    }
}

pub(super) fn read_stop_reason(choice: &Value, draft: &mut Draft<'_>) {
    let Some(word) = choice["finish_reason"].as_str() else {
        return;
    };
    if draft.stop == Some(StopReason::Refused) {
        return;
    }
    draft.stop = Some(match word {
        "stop" => StopReason::Done,
        "tool_calls" | "function_call" => StopReason::Calls,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        other => StopReason::Other(other.to_owned()),
    });
}

pub(super) fn count(answer: &Value, draft: &mut Draft<'_>) {
    let usage = &answer["usage"];
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    if let Some(input) = number("/prompt_tokens") {
        draft.counts.input = Some(input);
        let cached = number("/prompt_tokens_details/cached_tokens");
        draft.counts.cached = cached.or_else(|| number("/prompt_cache_hit_tokens"));
    }
    draft.counts.output = number("/completion_tokens").or(draft.counts.output);
}

/// Returns the thoughts that some servers need back with the results of calls.
fn thoughts(message: &Value) -> Option<Value> {
    let mut kept = json!({});
    for key in ["reasoning_content", "reasoning_details"] {
        let value = &message[key];
        if !value.is_null() && value != "" {
            kept[key] = value.clone();
        }
    }
    let is_empty = kept.as_object().is_none_or(serde_json::Map::is_empty);
    (!is_empty).then(|| json!({"openai": kept}))
}

/// Error formats: `{"error": {…}}`, `{"error": "…"}`, `{"object": "error", "message": "…"}`, `{"detail":
/// "…"}`.
pub(super) fn words(answer: &Value) -> Option<Words> {
    let mut error = &answer["error"];
    if error.is_null() {
        let is_error = answer["object"] == "error" || answer.get("detail").is_some();
        error = is_error.then_some(answer)?;
    }
    let text = |value: &Value| match value.as_str() {
        Some(text) => Some(text.to_owned()),
        None => (!value.is_null()).then(|| value.to_string()),
    };
    let message = match error.as_str() {
        Some(text) => text.to_owned(),
        None => text(&error["message"])
            .or_else(|| text(&error["detail"]))
            .unwrap_or_default(),
    };
    let number = |key: &str| error[key].as_u64();
    let overflow =
        number("n_prompt_tokens").map(|needed| Overflow::new(Some(needed), number("n_ctx")));
    Some(Words {
        status: number("code").and_then(|code| u16::try_from(code).ok()),
        kinds: [&error["type"], &error["code"]]
            .iter()
            .filter_map(|kind| kind.as_str().map(str::to_owned))
            .collect(),
        message,
        after: None,
        overflow,
    })
}

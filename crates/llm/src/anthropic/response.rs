//! Whole responses of the Messages API.

use deft_model::StopReason;
use serde_json::{Value, json};

use crate::draft::{Args, Draft};
use crate::provider_failure::{ProviderFailure, Words};

pub(super) fn whole(answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
    let blocks = answer["content"]
        .as_array()
        .ok_or_else(ProviderFailure::empty)?;
    let mut thoughts = Vec::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => draft.say(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => draft.call(
                block["id"].as_str().unwrap_or_default(),
                block["name"].as_str().unwrap_or_default(),
                Args::Value(block["input"].clone()),
            ),
            Some("thinking" | "redacted_thinking") => thoughts.push(block.clone()),
            // Results of tools that the provider ran on its own.
            _ => {}
        }
    }
    keep(&thoughts, draft);
    read_stop_reason(&answer["stop_reason"], draft);
    count(&answer["usage"], draft);
    if blocks.is_empty() && draft.stop.is_none() {
        return Err(ProviderFailure::empty());
    }
    Ok(())
}

/// Thoughts are sent back unchanged, with their signatures.
pub(super) fn keep(thoughts: &[Value], draft: &mut Draft<'_>) {
    if !thoughts.is_empty() {
        draft.opaque = Some(json!({"anthropic": thoughts}));
    }
}

pub(super) fn read_stop_reason(word: &Value, draft: &mut Draft<'_>) {
    let Some(word) = word.as_str() else {
        return;
    };
    draft.stop = Some(match word {
        "end_turn" | "stop_sequence" => StopReason::Done,
        "tool_use" => StopReason::Calls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        other => StopReason::Other(other.to_owned()),
    });
}

/// The counts are separate: new tokens, tokens written to the cache, tokens read from it.
pub(super) fn count(usage: &Value, draft: &mut Draft<'_>) {
    let number = |key: &str| usage[key].as_u64();
    if let Some(fresh) = number("input_tokens") {
        let cached = number("cache_read_input_tokens").unwrap_or_default();
        let written = number("cache_creation_input_tokens").unwrap_or_default();
        draft.counts.input = Some(fresh.saturating_add(cached).saturating_add(written));
        draft.counts.cached = Some(cached);
        draft.counts.cache_write = Some(written);
    }
    draft.counts.output = number("output_tokens").or(draft.counts.output);
}

/// Error format: `{"type": "error", "error": {"type": …, "message": …}}`; compatible servers omit the outer
/// type.
pub(super) fn words(answer: &Value) -> Option<Words> {
    let error = answer.get("error").filter(|error| !error.is_null())?;
    let message = error["message"].as_str().or_else(|| error.as_str());
    let number = |key: &str| error[key].as_u64();
    Some(Words {
        kinds: error["type"]
            .as_str()
            .map(str::to_owned)
            .into_iter()
            .collect(),
        message: message.unwrap_or_default().to_owned(),
        overflow: number("n_prompt_tokens")
            .map(|needed| crate::provider_failure::Overflow::new(Some(needed), number("n_ctx"))),
        ..Words::default()
    })
}

//! Whole responses of Gemini.

use std::time::Duration;

use deft_model::{FailureClass, StopReason};
use serde_json::{Value, json};

use crate::draft::{Args, Draft};
use crate::provider_failure::{ProviderFailure, Words};

/// Signatures of a reply, in the order of its parts.
#[derive(Default)]
pub(super) struct Signatures {
    text: Option<Value>,
    calls: Vec<Value>,
    /// The signature of an empty thought, which belongs to the next call.
    waiting: Option<Value>,
}

impl Signatures {
    pub(super) fn keep(mut self, draft: &mut Draft<'_>) {
        if self.text.is_none() {
            self.text = self.waiting;
        }
        let signed = self.calls.iter().any(Value::is_string);
        if self.text.is_none() && !signed {
            return;
        }
        let mut kept = json!({});
        if let Some(text) = self.text {
            kept["text"] = text;
        }
        if signed {
            kept["calls"] = self.calls.into();
        }
        draft.opaque = Some(json!({"gemini": kept}));
    }
}

pub(super) fn whole(answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
    let mut signatures = Signatures::default();
    if !take(answer, draft, &mut signatures)? {
        return Err(ProviderFailure::empty());
    }
    signatures.keep(draft);
    Ok(())
}

/// Reads one response, or one piece of it. Returns false if it is empty.
pub(super) fn take(
    answer: &Value,
    draft: &mut Draft<'_>,
    signatures: &mut Signatures,
) -> Result<bool, ProviderFailure> {
    count(&answer["usageMetadata"], draft);
    let blocked = answer.pointer("/promptFeedback/blockReason");
    if blocked.is_some_and(Value::is_string) {
        draft.stop = Some(StopReason::Refused);
        return Ok(true);
    }
    let Some(candidate) = answer.pointer("/candidates/0") else {
        return Ok(false);
    };
    for part in candidate["content"]["parts"]
        .as_array()
        .into_iter()
        .flatten()
    {
        take_part(part, draft, signatures);
    }
    if let Some(word) = candidate["finishReason"].as_str() {
        read_stop_reason(word, draft)?;
    }
    Ok(candidate["content"].is_object() || draft.stop.is_some())
}

fn take_part(part: &Value, draft: &mut Draft<'_>, signatures: &mut Signatures) {
    let signature = part.get("thoughtSignature").cloned();
    if let Some(call) = part.get("functionCall") {
        let text = |key: &str| call[key].as_str().unwrap_or_default();
        draft.call(text("id"), text("name"), Args::Value(call["args"].clone()));
        let signature = signature.or_else(|| signatures.waiting.take());
        signatures.calls.push(signature.unwrap_or_default());
        return;
    }
    if part["thought"] == true || part["text"] == "" {
        signatures.waiting = signature.or_else(|| signatures.waiting.take());
        return;
    }
    draft.say(part["text"].as_str().unwrap_or_default());
    signatures.text = signature.or_else(|| signatures.text.take());
}

fn read_stop_reason(word: &str, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
    draft.stop = Some(match word {
        "STOP" => StopReason::Done,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
            StopReason::Refused
        }
        // The provider could not parse the call that its own model wrote, and discards it.
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            let message = format!("the model wrote a call that its provider cannot read: {word}");
            return Err(ProviderFailure::transient(FailureClass::Other, message));
        }
        other => StopReason::Other(other.to_owned()),
    });
    Ok(())
}

/// Cached tokens are part of the prompt; thoughts cost as much as output.
fn count(usage: &Value, draft: &mut Draft<'_>) {
    let number = |key: &str| usage[key].as_u64();
    if let Some(prompt) = number("promptTokenCount") {
        let tools = number("toolUsePromptTokenCount").unwrap_or_default();
        draft.counts.input = Some(prompt.saturating_add(tools));
        draft.counts.cached = number("cachedContentTokenCount");
    }
    let thoughts = number("thoughtsTokenCount");
    if let Some(count) = number("candidatesTokenCount").or(thoughts.and(Some(0))) {
        draft.counts.output = Some(count.saturating_add(thoughts.unwrap_or_default()));
    }
}

/// Error format: `{"error": {"code", "message", "status", "details"}}`, inside a list if streamed.
pub(super) fn words(answer: &Value) -> Option<Words> {
    let error = answer
        .get("error")
        .or_else(|| answer.get(0)?.get("error"))?;
    let details = error["details"].as_array().cloned().unwrap_or_default();
    let mut kinds: Vec<String> = error["status"]
        .as_str()
        .map(str::to_owned)
        .into_iter()
        .collect();
    kinds.extend(
        details
            .iter()
            .filter_map(|detail| detail["reason"].as_str().map(str::to_owned)),
    );
    let quotas = details
        .iter()
        .flat_map(|detail| detail["violations"].as_array().into_iter().flatten());
    let per_day = |quota: &Value| {
        quota["quotaId"]
            .as_str()
            .is_some_and(|id| id.contains("PerDay"))
    };
    if quotas.into_iter().any(per_day) {
        kinds.push("quota_per_day".to_owned());
    }
    let delay = details
        .iter()
        .find_map(|detail| detail["retryDelay"].as_str());
    let delay = delay.and_then(|delay| delay.strip_suffix('s')?.parse::<f64>().ok());
    Some(Words {
        status: error["code"]
            .as_u64()
            .and_then(|code| u16::try_from(code).ok()),
        kinds,
        message: error["message"].as_str().unwrap_or_default().to_owned(),
        after: delay.and_then(|delay| Duration::try_from_secs_f64(delay).ok()),
        overflow: None,
    })
}

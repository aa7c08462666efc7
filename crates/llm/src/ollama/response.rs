//! Responses of `/api/chat`: one object, or one per line, the last of which is marked as done.

use deft_model::StopReason;
use serde_json::{Value, json};

use crate::draft::{Args, Draft};
use crate::provider_failure::{ProviderFailure, Words};
use crate::wire::Events;

pub(super) fn whole(answer: &Value, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
    if !answer["message"].is_object() {
        return Err(ProviderFailure::empty());
    }
    let mut stream = Stream::default();
    stream.piece(answer, draft);
    stream.end(draft)
}

/// The pieces of a response so far.
#[derive(Default)]
pub(super) struct Stream {
    thinking: String,
    ended: bool,
}

impl Events for Stream {
    fn take(&mut self, data: &str, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        let piece: Value =
            serde_json::from_str(data).map_err(|_| ProviderFailure::bad_event(data))?;
        if let Some(words) = words(&piece) {
            return Err(ProviderFailure::in_stream(&words));
        }
        self.piece(&piece, draft);
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn end(&mut self, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        if !self.ended {
            return Err(ProviderFailure::cut());
        }
        if !self.thinking.is_empty() && draft.count() > 0 {
            draft.opaque = Some(json!({"ollama": {"thinking": self.thinking}}));
        }
        Ok(())
    }
}

impl Stream {
    fn piece(&mut self, piece: &Value, draft: &mut Draft<'_>) {
        let message = &piece["message"];
        draft.say(message["content"].as_str().unwrap_or_default());
        self.thinking
            .push_str(message["thinking"].as_str().unwrap_or_default());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            draft.call(
                call["id"].as_str().unwrap_or_default(),
                function["name"].as_str().unwrap_or_default(),
                Args::Value(function["arguments"].clone()),
            );
        }
        if piece["done"] != true {
            return;
        }
        self.ended = true;
        draft.counts.input = piece["prompt_eval_count"].as_u64();
        draft.counts.output = piece["eval_count"].as_u64();
        draft.stop = match piece["done_reason"].as_str() {
            None | Some("stop") => Some(StopReason::Done),
            Some("length") => Some(StopReason::Length),
            Some(other) => Some(StopReason::Other(other.to_owned())),
        };
    }
}

/// Error format: `{"error": "…"}`; for models served by `llama.cpp`, the text contains its error as JSON.
pub(super) fn words(answer: &Value) -> Option<Words> {
    let error = answer.get("error").filter(|error| !error.is_null())?;
    let message = error.as_str().or_else(|| error["message"].as_str());
    let message = message.unwrap_or_default().to_owned();
    Some(Words {
        status: answer["status_code"]
            .as_u64()
            .and_then(|code| u16::try_from(code).ok()),
        message,
        ..Words::default()
    })
}

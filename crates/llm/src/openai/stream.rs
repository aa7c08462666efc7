//! Streamed responses of chat completions.

use serde_json::{Value, json};

use super::response::{count, read_stop_reason, take_text, words};
use crate::draft::Draft;
use crate::provider_failure::ProviderFailure;
use crate::wire::Events;

#[derive(Default)]
pub(super) struct Stream {
    /// The server's index of each call, by its index in the draft.
    places: Vec<Option<u64>>,
    /// Whether a stop reason was received.
    ended: bool,
    /// Whether the end mark was received.
    over: bool,
    reasoning: String,
}

impl Events for Stream {
    fn take(&mut self, data: &str, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        if data.trim() == "[DONE]" {
            self.over = true;
            return Ok(());
        }
        let event: Value =
            serde_json::from_str(data).map_err(|_| ProviderFailure::bad_event(data))?;
        if let Some(words) = words(&event) {
            return Err(ProviderFailure::in_stream(&words));
        }
        count(&event, draft);
        // The last event has the counts and no choice.
        let Some(choice) = event.pointer("/choices/0") else {
            return Ok(());
        };
        let delta = &choice["delta"];
        take_text(delta, draft);
        if let Some(text) = delta["reasoning_content"].as_str() {
            self.reasoning.push_str(text);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, draft);
        }
        read_stop_reason(choice, draft);
        self.ended |= choice["finish_reason"].is_string();
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.over
    }

    fn end(&mut self, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        // A stop reason is an end too; some servers send nothing after it.
        if !self.ended && !self.over {
            return Err(ProviderFailure::cut());
        }
        if !self.reasoning.is_empty() && draft.count() > 0 {
            let reasoning = std::mem::take(&mut self.reasoning);
            draft.opaque = Some(json!({"openai": {"reasoning_content": reasoning}}));
        }
        Ok(())
    }
}

impl Stream {
    fn call(&mut self, call: &Value, draft: &mut Draft<'_>) {
        let function = &call["function"];
        let id = call["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let place = self.place(call["index"].as_u64(), id, name, draft);
        draft.grow(place, id, name);
        let arguments = &function["arguments"];
        if let Some(more) = arguments.as_str() {
            draft.grow_args(place, more);
        } else if !arguments.is_null() {
            // A server that streams arguments as an object sends them in one piece.
            draft.grow_args(place, &arguments.to_string());
        }
    }

    /// Returns the index of the call that a piece belongs to. Servers that send no index, or the same one for
    /// every call, send an id with the first piece of each call.
    fn place(&mut self, index: Option<u64>, id: &str, name: &str, draft: &mut Draft<'_>) -> usize {
        let known = match index {
            Some(_) => self.places.iter().rposition(|place| *place == index),
            None => draft.count().checked_sub(1),
        };
        let is_new = |place: &usize| {
            let other = !draft.id(*place).is_empty() && draft.id(*place) != id;
            (!id.is_empty() && !name.is_empty() && other)
                || (index.is_none() && id.is_empty() && !name.is_empty())
        };
        if let Some(place) = known.filter(|place| !is_new(place)) {
            return place;
        }
        self.places.push(index);
        draft.begin()
    }
}

//! Streamed responses of the Messages API.

use std::collections::BTreeMap;

use serde_json::Value;

use super::response::{count, keep, read_stop_reason, words};
use crate::draft::Draft;
use crate::provider_failure::ProviderFailure;
use crate::wire::Events;

#[derive(Default)]
pub(super) struct Stream {
    blocks: BTreeMap<u64, Block>,
    ended: bool,
}

/// A block that is being received.
enum Block {
    Text,
    /// A call, with its index in the draft.
    Call(usize),
    /// A thought, in the form in which it is sent back.
    Thought(Value),
    Unknown,
}

impl Events for Stream {
    fn take(&mut self, data: &str, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        let event: Value =
            serde_json::from_str(data).map_err(|_| ProviderFailure::bad_event(data))?;
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("message_start") => count(&event["message"]["usage"], draft),
            Some("content_block_start") => self.begin(index, &event["content_block"], draft),
            Some("content_block_delta") => self.grow(index, &event["delta"], draft),
            Some("message_delta") => {
                read_stop_reason(&event["delta"]["stop_reason"], draft);
                count_last(&event["usage"], draft);
            }
            Some("message_stop") => self.ended = true,
            _ => {
                if let Some(words) = words(&event) {
                    return Err(ProviderFailure::in_stream(&words));
                }
            }
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn end(&mut self, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        if !self.ended && draft.stop.is_none() {
            return Err(ProviderFailure::cut());
        }
        let thoughts = std::mem::take(&mut self.blocks).into_values();
        let thoughts = thoughts.filter_map(|block| match block {
            Block::Thought(block) => Some(block),
            Block::Text | Block::Call(_) | Block::Unknown => None,
        });
        keep(&thoughts.collect::<Vec<_>>(), draft);
        Ok(())
    }
}

impl Stream {
    /// Some servers begin the same block again with every piece; only the first time counts.
    fn begin(&mut self, index: u64, block: &Value, draft: &mut Draft<'_>) {
        if self.blocks.contains_key(&index) {
            return;
        }
        let begun = match block["type"].as_str() {
            Some("text") => {
                draft.say(block["text"].as_str().unwrap_or_default());
                Block::Text
            }
            Some("tool_use") => {
                let place = draft.begin();
                let text = |key: &str| block[key].as_str().unwrap_or_default();
                draft.grow(place, text("id"), text("name"));
                // The whole input is here only if no pieces of it follow.
                if let Some(input) = block["input"].as_object().filter(|input| !input.is_empty()) {
                    draft.set_args(place, Value::Object(input.clone()));
                }
                Block::Call(place)
            }
            Some("thinking" | "redacted_thinking") => Block::Thought(block.clone()),
            _ => Block::Unknown,
        };
        self.blocks.insert(index, begun);
    }

    fn grow(&mut self, index: u64, delta: &Value, draft: &mut Draft<'_>) {
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        match (self.blocks.get_mut(&index), delta["type"].as_str()) {
            (Some(Block::Call(place)), Some("input_json_delta")) => {
                draft.grow_args(*place, text("partial_json"));
            }
            (Some(Block::Thought(block)), Some("thinking_delta")) => {
                append(block, "thinking", text("thinking"));
            }
            (Some(Block::Thought(block)), Some("signature_delta")) => {
                append(block, "signature", text("signature"));
            }
            // The text counts even if its block was never begun.
            (_, Some("text_delta")) => draft.say(text("text")),
            _ => {}
        }
    }
}

fn append(block: &mut Value, key: &str, more: &str) {
    let before = block[key].as_str().unwrap_or_default();
    block[key] = format!("{before}{more}").into();
}

/// The first event has the counts of the prompt, and the last one may repeat some of them. Some servers
/// report no counts in the first event.
fn count_last(usage: &Value, draft: &mut Draft<'_>) {
    if draft.counts.input.is_none_or(|count| count == 0) {
        count(usage, draft);
    }
    draft.counts.output = usage["output_tokens"].as_u64().or(draft.counts.output);
}

//! What the inputs of a chat's run say: its conversation, who reads along, where the answer goes.

use deft_library::CHAT_SKILL;
use deft_store::RunRow;
use serde_json::Value;

/// The input that says where the answer goes.
pub const ANSWER_TO: &str = "answer_to";

/// The input of a chat that no person follows, so that no question can be asked.
pub const ALONE: &str = "alone";

/// The conversation that a run belongs to, if it is a chat.
pub fn conversation_of(run: &RunRow) -> Option<String> {
    if run.skill != CHAT_SKILL {
        return None;
    }
    let inputs: Value = serde_json::from_str(&run.inputs).ok()?;
    inputs["conversation"].as_str().map(str::to_owned)
}

/// Whether no person follows a chat.
pub(crate) fn is_alone(run: &RunRow) -> bool {
    let inputs: Value = serde_json::from_str(&run.inputs).unwrap_or_default();
    !inputs[ALONE].is_null()
}

/// Where the answer of a chat goes by way of the outbox, if anywhere.
pub fn answer_to(run: &RunRow) -> Option<String> {
    if run.skill != CHAT_SKILL {
        return None;
    }
    let inputs: Value = serde_json::from_str(&run.inputs).ok()?;
    inputs[ANSWER_TO].as_str().map(str::to_owned)
}

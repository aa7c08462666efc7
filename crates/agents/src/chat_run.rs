//! What the inputs of a chat's run say: its conversation, who reads along, where the answer goes.

use deft_base::{Error, run_inputs};
use deft_library::CHAT_SKILL;
use deft_store::RunRow;
use serde::Deserialize;
use serde_json::Value;

/// The input that says where the answer goes.
pub const ANSWER_TO: &str = "answer_to";

/// The input of a chat that no person follows, so that no question can be asked.
pub const ALONE: &str = "alone";

/// The input that names the model that answers, where a person chose one.
pub const MODEL: &str = "model";

/// The inputs of a chat's run. The names are those of the constants above.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ChatInputs {
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// What the person said.
    pub message: Option<String>,
    /// Where the answer goes by way of the outbox.
    pub answer_to: Option<String>,
    /// Present if no person follows the chat.
    pub alone: Option<Value>,
    /// The model that answers, where a person chose one.
    pub model: Option<String>,
}

/// The inputs of a chat; none for every other run.
pub fn chat_inputs(run: &RunRow) -> Result<Option<ChatInputs>, Error> {
    if run.skill != CHAT_SKILL {
        return Ok(None);
    }
    run_inputs(run).map(Some)
}

/// The conversation that a run belongs to, if it is a chat.
pub fn conversation_of(run: &RunRow) -> Result<Option<String>, Error> {
    Ok(chat_inputs(run)?.and_then(|inputs| inputs.conversation))
}

/// Whether no person follows a chat.
pub(crate) fn is_alone(run: &RunRow) -> Result<bool, Error> {
    Ok(chat_inputs(run)?.is_some_and(|inputs| inputs.alone.is_some()))
}

/// The model that a person chose for a chat.
pub fn chosen_model(run: &RunRow) -> Result<Option<String>, Error> {
    Ok(chat_inputs(run)?.and_then(|inputs| inputs.model))
}

/// Where the answer of a chat goes by way of the outbox, if anywhere.
pub fn answer_to(run: &RunRow) -> Result<Option<String>, Error> {
    Ok(chat_inputs(run)?.and_then(|inputs| inputs.answer_to))
}

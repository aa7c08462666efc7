//! The inputs of a chat's run: its conversation, whether a person follows it, where the answer goes.

use deft_base::{Error, run_inputs};
use deft_library::CHAT_SKILL;
use deft_store::RunRow;
use serde::Deserialize;
use serde_json::Value;

/// The input with the address to which the answer is sent.
pub const ANSWER_TO: &str = "answer_to";

/// The input that marks a chat that no person follows, so that no question can be asked.
pub const ALONE: &str = "alone";

/// The input with the model for the answer, if a person chose one.
pub const MODEL: &str = "model";

/// The inputs of a chat's run. The names are those of the constants above.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ChatInputs {
    /// The conversation of the chat.
    pub conversation: Option<String>,
    /// The message of the person.
    pub message: Option<String>,
    /// The address to which the outbox sends the answer.
    pub answer_to: Option<String>,
    /// Present if no person follows the chat.
    pub alone: Option<Value>,
    /// The model for the answer, if a person chose one.
    pub model: Option<String>,
}

/// Returns the inputs of a chat; `None` for any other run.
pub fn chat_inputs(run: &RunRow) -> Result<Option<ChatInputs>, Error> {
    if run.skill != CHAT_SKILL {
        return Ok(None);
    }
    run_inputs(run).map(Some)
}

/// Returns the conversation of a chat; `None` for any other run.
pub fn conversation_of(run: &RunRow) -> Result<Option<String>, Error> {
    Ok(chat_inputs(run)?.and_then(|inputs| inputs.conversation))
}

/// Whether no person follows a chat.
pub(crate) fn is_alone(run: &RunRow) -> Result<bool, Error> {
    Ok(chat_inputs(run)?.is_some_and(|inputs| inputs.alone.is_some()))
}

/// Returns the model that a person chose for a chat.
pub fn chosen_model(run: &RunRow) -> Result<Option<String>, Error> {
    Ok(chat_inputs(run)?.and_then(|inputs| inputs.model))
}

/// Returns the address to which the outbox sends the answer of a chat, if any.
pub fn answer_to(run: &RunRow) -> Result<Option<String>, Error> {
    Ok(chat_inputs(run)?.and_then(|inputs| inputs.answer_to))
}

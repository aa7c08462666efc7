//! The part of the Bot API for chats: incoming messages and button presses, outgoing buttons, and the
//! typing indicator.
//!
//! Not here: who may write to the bot, how to answer, and when to call the API again.

use std::time::Duration;

use deft_model::Object;
use serde_json::{Value, json};

use super::Client;
use crate::delivery::SendError;

/// The maximum number of updates per call. Each may be long; the rest comes with the next call.
const BATCH: u32 = 20;

/// An update of the Bot API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// A growing number; the same number is the same update.
    pub id: i64,
    /// The content.
    pub what: UpdateContent,
}

/// The content of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateContent {
    /// A person sent a message.
    Message {
        /// The chat.
        chat: ChatId,
        /// The sender's name, for display.
        from: String,
        /// The text; `None` for pictures, voice messages and the like.
        text: Option<String>,
    },
    /// A person pressed a button.
    Pressed {
        /// The chat.
        chat: ChatId,
        /// The name of the person, for display.
        from: String,
        /// The id of the message with the button.
        message: i64,
        /// The id to pass to [`Client::answer_press`].
        query: String,
        /// The data of the button.
        data: String,
    },
    /// A kind of update that deft does not handle.
    Other,
}

/// The identity of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatId {
    /// The numeric id.
    pub id: String,
    /// The public name, with an `@`.
    pub name: Option<String>,
}

/// A button below a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// The label.
    pub label: String,
    /// The data returned when the button is pressed; at most 64 bytes.
    pub data: String,
}

impl Client {
    /// Waits at most `wait` for updates with ids of at least `from`. Telegram deletes earlier ones.
    pub async fn updates(&self, from: i64, wait: Duration) -> Result<Vec<Update>, SendError> {
        let body = json!({
            "offset": from,
            "timeout": wait.as_secs(),
            "limit": BATCH,
            "allowed_updates": ["message", "callback_query"],
        });
        // The server holds the request for `wait`, then needs as long as for any other.
        let found = self.call("getUpdates", &body, wait + self.allowed).await?;
        Ok(found
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(update)
            .collect())
    }

    /// Sends a message with buttons below it; returns its id.
    pub async fn send_buttons(
        &self,
        chat: &str,
        text: &str,
        buttons: &[Button],
    ) -> Result<i64, SendError> {
        let text = super::split::split(text)
            .into_iter()
            .next()
            .unwrap_or_default();
        let body = json!({"chat_id": chat, "text": text, "reply_markup": keyboard(buttons)});
        let sent = self.call("sendMessage", &body, self.allowed).await?;
        Ok(sent["message_id"].as_i64().unwrap_or_default())
    }

    /// Replaces the text of a message and removes its buttons.
    pub async fn edit(&self, chat: &str, message: i64, text: &str) -> Result<(), SendError> {
        let text = super::split::split(text)
            .into_iter()
            .next()
            .unwrap_or_default();
        let body = json!({"chat_id": chat, "message_id": message, "text": text});
        self.call("editMessageText", &body, self.allowed)
            .await
            .map(drop)
    }

    /// Acknowledges a pressed button with a short text.
    pub async fn answer_press(&self, query: &str, text: &str) -> Result<(), SendError> {
        let body = json!({"callback_query_id": query, "text": text});
        self.call("answerCallbackQuery", &body, self.allowed)
            .await
            .map(drop)
    }

    /// Shows the typing indicator for some seconds.
    pub async fn show_typing(&self, chat: &str) -> Result<(), SendError> {
        let body = json!({"chat_id": chat, "action": "typing"});
        self.call("sendChatAction", &body, self.allowed)
            .await
            .map(drop)
    }
}

fn keyboard(buttons: &[Button]) -> Value {
    let button = |button: &Button| json!({"text": button.label, "callback_data": button.data});
    json!({"inline_keyboard": [buttons.iter().map(button).collect::<Vec<_>>()]})
}

fn update(value: &Value) -> Option<Update> {
    let id = value["update_id"].as_i64()?;
    let what = match value.as_object() {
        Some(fields) => read_content(fields).unwrap_or(UpdateContent::Other),
        None => UpdateContent::Other,
    };
    Some(Update { id, what })
}

fn read_content(fields: &Object) -> Option<UpdateContent> {
    if let Some(message) = fields.get("message") {
        return Some(UpdateContent::Message {
            chat: chat(&message["chat"])?,
            from: person(&message["from"]),
            text: message["text"].as_str().map(str::to_owned),
        });
    }
    let pressed = fields.get("callback_query")?;
    let message = &pressed["message"];
    Some(UpdateContent::Pressed {
        chat: chat(&message["chat"])?,
        from: person(&pressed["from"]),
        message: message["message_id"].as_i64()?,
        query: pressed["id"].as_str()?.to_owned(),
        data: pressed["data"].as_str().unwrap_or_default().to_owned(),
    })
}

fn chat(value: &Value) -> Option<ChatId> {
    Some(ChatId {
        id: value["id"].as_i64()?.to_string(),
        name: value["username"].as_str().map(|name| format!("@{name}")),
    })
}

/// Returns the name of a person, or the id.
fn person(value: &Value) -> String {
    let name = value["username"].as_str().map(|name| format!("@{name}"));
    let name = name.or_else(|| value["first_name"].as_str().map(str::to_owned));
    name.or_else(|| value["id"].as_i64().map(|id| id.to_string()))
        .unwrap_or_else(|| "an unknown person".to_owned())
}

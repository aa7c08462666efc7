//! The half of the Bot API that chats need: messages and pressed buttons of people, buttons to send, and
//! the sign "typing".
//!
//! Not here: who may write, what an answer is, and when the API is asked again.

use std::time::Duration;

use deft_model::Object;
use serde_json::{Value, json};

use super::Client;
use crate::delivery::SendError;

/// How many updates one call may bring. Each may be long, and the rest comes with the next call.
const BATCH: u32 = 20;

/// Something that happened to the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Numbers grow; the same number is the same update.
    pub id: i64,
    /// What.
    pub what: UpdateContent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateContent {
    /// A person wrote.
    Message {
        /// Where.
        chat: ChatId,
        /// Who, for people.
        from: String,
        /// The text; none for pictures, voices and the like.
        text: Option<String>,
    },
    /// A person pressed a button.
    Pressed {
        /// Where.
        chat: ChatId,
        /// Who, for people.
        from: String,
        /// The message that has the button.
        message: i64,
        /// What to answer to.
        query: String,
        /// What the button says to us.
        data: String,
    },
    /// A kind of update that deft does not handle.
    Other,
}

/// A chat as Telegram knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatId {
    /// Its number.
    pub id: String,
    /// Its public name, with an `@`.
    pub name: Option<String>,
}

/// A button below a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// What people read.
    pub label: String,
    /// What comes back when it is pressed; at most 64 bytes.
    pub data: String,
}

impl Client {
    /// Waits for updates from this number on, at most this long. Earlier ones are forgotten by
    /// Telegram.
    pub async fn updates(&self, from: i64, wait: Duration) -> Result<Vec<Update>, SendError> {
        let body = json!({
            "offset": from,
            "timeout": wait.as_secs(),
            "limit": BATCH,
            "allowed_updates": ["message", "callback_query"],
        });
        // The answer takes as long as it is told to, and then as long as any other.
        let found = self.call("getUpdates", &body, wait + self.allowed).await?;
        Ok(found
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(update)
            .collect())
    }

    /// Sends a message with buttons below it; gives its number.
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

    /// Puts another text in the place of a message, without buttons.
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

    /// Ends the waiting of a button that was pressed, with a few words.
    pub async fn answer_press(&self, query: &str, text: &str) -> Result<(), SendError> {
        let body = json!({"callback_query_id": query, "text": text});
        self.call("answerCallbackQuery", &body, self.allowed)
            .await
            .map(drop)
    }

    /// Shows the typing indicator for some seconds.
    pub async fn typing(&self, chat: &str) -> Result<(), SendError> {
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
        Some(fields) => incoming(fields).unwrap_or(UpdateContent::Other),
        None => UpdateContent::Other,
    };
    Some(Update { id, what })
}

fn incoming(fields: &Object) -> Option<UpdateContent> {
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

/// The name of a person, or their number.
fn person(value: &Value) -> String {
    let name = value["username"].as_str().map(|name| format!("@{name}"));
    let name = name.or_else(|| value["first_name"].as_str().map(str::to_owned));
    name.or_else(|| value["id"].as_i64().map(|id| id.to_string()))
        .unwrap_or_else(|| "an unknown person".to_owned())
}

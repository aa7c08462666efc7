//! What is known of the Telegram bot.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::seconds;
use crate::secret::Reference;

/// The Telegram bot and its chats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelegramOptions {
    /// The token of the bot; without it there is no bot.
    pub token: Option<Reference>,
    /// The address of the Bot API.
    pub base_url: String,
    /// The chats that the bot listens to.
    #[serde(deserialize_with = "chats")]
    pub allowed_chats: Vec<String>,
    /// The primary chat; the first of the allowed ones when absent.
    pub chat: Option<String>,
    /// The longest a request may take.
    #[serde(with = "seconds")]
    pub timeout: Duration,
}

impl Default for TelegramOptions {
    fn default() -> Self {
        Self {
            token: None,
            base_url: "https://api.telegram.org".to_owned(),
            allowed_chats: Vec::new(),
            chat: None,
            timeout: Duration::from_secs(30),
        }
    }
}

impl TelegramOptions {
    /// The chat that messages go to which name none.
    pub fn primary_chat(&self) -> Option<String> {
        let first = || self.allowed_chats.first();
        self.chat.as_ref().or_else(first).cloned()
    }
}

/// Ids of chats are written as numbers and as texts.
fn chats<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let chats = Vec::<Value>::deserialize(from)?;
    let text = |chat: Value| match chat {
        Value::String(text) => Ok(text),
        Value::Number(number) if number.is_i64() => Ok(number.to_string()),
        other => Err(serde::de::Error::custom(format!(
            "`{other}` is not the id of a chat"
        ))),
    };
    chats.into_iter().map(text).collect()
}

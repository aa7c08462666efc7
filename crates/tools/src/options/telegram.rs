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
    /// The chats that the bot listens to, and the only ones that tools may name, if there are any.
    #[serde(deserialize_with = "chats")]
    pub allowed_chats: Vec<String>,
    /// The primary chat; the first of the allowed ones when absent.
    pub chat: Option<String>,
    /// Whether `notify` sends to Telegram, so that its `target` is a chat.
    pub takes_notices: bool,
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
            takes_notices: true,
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

    /// The chats that are known, the primary one first.
    pub(crate) fn known_chats(&self) -> Vec<String> {
        let mut known = Vec::from_iter(self.primary_chat());
        let others = self
            .allowed_chats
            .iter()
            .filter(|chat| Some(*chat) != known.first());
        let others: Vec<String> = others.cloned().collect();
        known.extend(others);
        known
    }

    /// Whether a tool may be given this chat.
    pub(crate) fn allows(&self, chat: &str) -> bool {
        // Names such as `@News` are the same in any case.
        let is_same = |known: &String| known.eq_ignore_ascii_case(chat);
        self.allowed_chats.is_empty() || self.known_chats().iter().any(is_same)
    }
}

/// Ids of chats are written as numbers and as texts.
fn chats<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let chats = Vec::<Value>::deserialize(from)?;
    let text = |chat: Value| match chat {
        Value::String(text) => Ok(text),
        Value::Number(number) if number.is_i64() => Ok(number.to_string()),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => Err(serde::de::Error::custom(format!(
            "`{other}` is not the id of a chat"
        ))),
    };
    chats.into_iter().map(text).collect()
}

//! Options of the Telegram bot.

use std::sync::Arc;
use std::time::Duration;

use deft_model::{Failure, FailureClass};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::seconds;
use crate::secret::{Reference, Secret, SecretSource};

/// The Telegram bot and its chats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelegramOptions {
    /// The bot's token; without it the bot is disabled.
    pub token: Option<Reference>,
    /// The base URL of the Bot API.
    pub base_url: String,
    /// The chats from which the bot accepts messages. If not empty, tools may use only these chats and
    /// the primary one.
    #[serde(deserialize_with = "chats")]
    pub allowed_chats: Vec<String>,
    /// The primary chat; `None` is the first allowed chat.
    pub chat: Option<String>,
    /// Whether `notify` sends to Telegram, so that its `target` is a chat.
    pub takes_notices: bool,
    /// The timeout of a request.
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
    /// Returns the chat for messages without a target.
    pub fn primary_chat(&self) -> Option<String> {
        let first = || self.allowed_chats.first();
        self.chat.as_ref().or_else(first).cloned()
    }

    /// Looks up the token of the bot.
    pub async fn look_up_token(&self, secrets: &Arc<dyn SecretSource>) -> Result<Secret, Failure> {
        let token = self.token.as_ref().ok_or_else(|| {
            Failure::new(FailureClass::NotFound, "no Telegram bot is configured")
                .hint("set `telegram.token` to `env:NAME` or `file:PATH`")
                .mark_blocked()
        })?;
        Ok(token.resolve(secrets, "`telegram.token`").await?.text)
    }

    /// Returns the known chats, the primary chat first.
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

    /// Whether a tool may use this chat.
    pub(crate) fn allows(&self, chat: &str) -> bool {
        // Names such as `@News` are case-insensitive.
        let is_same = |known: &String| known.eq_ignore_ascii_case(chat);
        self.allowed_chats.is_empty() || self.known_chats().iter().any(is_same)
    }
}

/// Chat ids may be written as numbers or as strings.
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

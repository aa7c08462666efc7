//! The chat of a call: fills in the primary chat if no chat is given, and rejects chats that deft may
//! not use (S0.44, S0.48, S1.3).
//!
//! A chat parameter is recognised by its name and the tool's schema, so a server's tool is treated like
//! the built-in bot. Not here: the other repairs (`pipeline.rs`).

use deft_model::{Failure, FailureClass, Object};
use serde_json::Value;

use super::schema::{accepts, properties};
use crate::desktop::LOCAL_TARGET;
use crate::options::TelegramOptions;
use crate::secret::Reveal;
use crate::tool::ToolInfo;

/// The longest plausible chat id; ids that models invent are longer.
const MAX_ID_LEN: usize = 20;

/// The tool that accepts a chat even if its schema lists no parameters.
const SENDS_TO_CHAT: &str = "telegram_send_message";

/// Names of the parameter for the chat of a message, most likely first, without `_` and `-`.
const NAMES: [&str; 5] = [
    "chatid",
    "telegramchatid",
    "targetchatid",
    "tochatid",
    "chat",
];

/// A call whose chat is checked.
#[derive(Clone, Copy)]
pub(super) struct ChatCall<'a> {
    pub(super) tool: &'a ToolInfo,
    pub(super) telegram: &'a TelegramOptions,
    pub(super) reveal: &'a dyn Reveal,
    /// Whether a model wrote the arguments.
    pub(super) by_model: bool,
}

impl ChatCall<'_> {
    /// Inserts the primary chat if the tool accepts a chat and none is given; returns whether it did.
    ///
    /// An id that is too long counts as invented if a model wrote it or if it is for the built-in bot,
    /// whose ids are known. An id that a person wrote for a server is kept: other services have longer
    /// ids.
    pub(super) fn inject(&self, arguments: &mut Object) -> bool {
        let Some(primary) = self.telegram.primary_chat() else {
            return false;
        };
        let Some(name) = self.parameter() else {
            return false;
        };
        let given = arguments.get(name);
        let is_absent = match given {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(_) => false,
        };
        let replaces = if is_absent {
            !self.is_filter(name)
        } else {
            (self.by_model || self.tool.builtin)
                && !given
                    .and_then(|given| self.id(given))
                    .is_some_and(|id| self.is_plausible(&id))
        };
        if replaces {
            arguments.insert(name.to_owned(), primary.into());
        }
        replaces
    }

    /// Rejects a call that names a chat outside `telegram.allowed_chats`, if that list is set.
    pub(super) fn check(&self, arguments: &Object) -> Result<(), Failure> {
        if self.telegram.allowed_chats.is_empty() {
            return Ok(());
        }
        for (name, value) in arguments {
            let values = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            for value in values {
                if let Value::Object(inner) = value {
                    self.check(inner)?;
                }
                let id = self.id(value).filter(|_| self.is_chat(name));
                let id = id.filter(|id| !self.is_local_notice(id));
                if let Some(other) = id.filter(|id| !self.telegram.allows(id)) {
                    return Err(self.refusal(name, &other));
                }
            }
        }
        Ok(())
    }

    /// Whether the tool requires a chat that neither the arguments nor the configuration provide.
    pub(super) fn lacks_chat(&self, arguments: &Object) -> bool {
        let required = |name| is_required(&self.tool.input_schema, name);
        self.telegram.primary_chat().is_none()
            && self
                .parameter()
                .is_some_and(|name| required(name) && !arguments.contains_key(name))
    }

    fn refusal(&self, parameter: &str, chat: &str) -> Failure {
        // The id may come from a secret.
        let chat = self.reveal.hide(chat);
        let message = format!("the chat `{chat}` is not one of `telegram.allowed_chats`");
        let known = self.telegram.known_chats();
        let known = known.join("`, `");
        Failure::new(FailureClass::Invalid, message)
            .hint(format!("leave `{parameter}` out, or use `{known}`"))
    }

    /// Returns the parameter for the chat of a message, if the tool has one.
    fn parameter(&self) -> Option<&str> {
        if self.tool.builtin && self.tool.name != SENDS_TO_CHAT {
            return None;
        }
        let Some(known) = properties(&self.tool.input_schema) else {
            return (self.tool.name == SENDS_TO_CHAT).then_some("chat_id");
        };
        let takes_id = |schema: &Value| {
            ["string", "integer", "number"]
                .iter()
                .any(|kind| accepts(schema, kind) != Some(false))
        };
        let candidates = known.iter().filter(|(_, schema)| takes_id(schema));
        let ranked = candidates.filter_map(|(name, _)| {
            let rank = NAMES.iter().position(|known| is_spelled(name, known))?;
            let is_clear = NAMES[rank] != "chat" || self.is_telegram();
            is_clear.then_some((rank, name.as_str()))
        });
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
    }

    /// Whether a notice stays on this host and so goes to no chat.
    fn is_local_notice(&self, target: &str) -> bool {
        self.tool.builtin && self.tool.name != SENDS_TO_CHAT && target == LOCAL_TARGET
    }

    /// Whether an argument names one or more chats.
    fn is_chat(&self, name: &str) -> bool {
        if self.tool.builtin {
            return match self.tool.name.as_str() {
                SENDS_TO_CHAT => name == "chat_id",
                "notify" => name == "target" && self.telegram.takes_notices,
                _ => false,
            };
        }
        let plain: String = letters(name).collect();
        plain.ends_with("chatid")
            || plain.ends_with("chatids")
            || plain == "chat" && self.is_telegram()
    }

    /// Whether the chat only filters what is read: without it the tool reads all chats.
    fn is_filter(&self, name: &str) -> bool {
        self.tool.annotations.read_only_hint == Some(true)
            && !is_required(&self.tool.input_schema, name)
    }

    /// Whether the tool belongs to Telegram. Elsewhere, `chat` may be the text of a chat.
    fn is_telegram(&self) -> bool {
        [&self.tool.name, &self.tool.server]
            .iter()
            .any(|name| name.to_lowercase().contains("telegram"))
    }

    fn is_plausible(&self, id: &str) -> bool {
        id.chars().count() <= MAX_ID_LEN || self.telegram.known_chats().contains(&id.to_owned())
    }

    /// Returns the id in a value; ids are written as strings or as integers.
    fn id(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => {
                let text = self.reveal.reveal(text).trim().to_owned();
                (!text.is_empty()).then_some(text)
            }
            Value::Number(number) if !number.is_f64() => Some(number.to_string()),
            // `815.0` is an integer too.
            Value::Number(number) => {
                let whole = number.as_f64().filter(|number| number.fract() == 0.0);
                whole.map(|number| format!("{number:.0}"))
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}

/// Returns the letters of a name in lower case: `chat_id`, `chatId` and `chat-id` are equal.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

fn is_spelled(name: &str, letters_of: &str) -> bool {
    letters(name).eq(letters_of.chars())
}

#[cfg(test)]
mod tests;

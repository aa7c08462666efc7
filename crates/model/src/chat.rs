//! Requests to models and their replies, in a form shared by all providers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Object;
use crate::choice::choice;

/// One message of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A message from a person, or from the engine in that role.
    User {
        /// The text of the message.
        text: String,
    },
    /// A message from the model.
    Assistant {
        /// The text of the reply.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// The calls that the model requests.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// Provider data that must be sent back unchanged, such as signed reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// The result of a call.
    Tool {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The result as shown to the model.
        text: String,
        /// Whether the call failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

choice! {
    /// The author of a message.
    MessageRole {
        /// A person, or the engine in their place.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The result of a call.
        Tool = "tool",
    }
}

impl Message {
    /// The author of the message.
    pub fn role(&self) -> MessageRole {
        match self {
            Self::User { .. } => MessageRole::User,
            Self::Assistant { .. } => MessageRole::Assistant,
            Self::Tool { .. } => MessageRole::Tool,
        }
    }
}

/// A call that a model requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identifies the call within its conversation.
    pub id: String,
    /// The name of the tool, as the model spelled it.
    pub name: String,
    /// The arguments.
    pub args: CallArgs,
}

/// The arguments of a call, as received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArgs {
    /// A JSON object.
    Object(Object),
    /// Anything else: truncated, malformed, or not an object. Never repaired by guessing.
    Invalid(String),
}

/// A tool as described to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name: only letters, digits, `_` and `-`, which every provider accepts.
    pub name: String,
    /// The purpose of the tool.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: Value,
}

/// A part of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    /// The text.
    pub text: String,
    /// Whether the text is the same in every request, so that a provider can cache it.
    #[serde(default)]
    pub stable: bool,
}

/// Which tools the model must call, if any.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call at least one tool.
    Required,
    /// The model must call this tool.
    Named(String),
    /// The model must not call a tool.
    None,
}

/// The input of a model for one turn.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModelRequest {
    /// The system prompt, stable parts first.
    pub system: Arc<[PromptPart]>,
    /// The conversation so far, oldest message first.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// Whether the model must call a tool.
    pub choice: ToolChoice,
    /// Maximum number of output tokens; `None` uses the model's setting.
    pub max_tokens: Option<u32>,
    /// A GBNF grammar that the reply must follow, for servers that support grammars.
    pub grammar: Option<String>,
}

/// The reply of a model.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelReply {
    /// The text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The requested calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why generation stopped.
    #[serde(default)]
    pub stop: StopReason,
    /// The tokens used.
    #[serde(default)]
    pub usage: TokenUsage,
    /// Provider data to send back unchanged; see [`Message::Assistant`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// Why a model stopped generating.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The reply is complete.
    #[default]
    Done,
    /// The model requests calls.
    Calls,
    /// The token limit was reached; the reply is truncated.
    Length,
    /// The model or its provider refused.
    Refused,
    /// Another reason, as named by the provider.
    Other(String),
}

/// Token counts of model requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Input tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// Input tokens that the provider wrote to its cache, if it reports them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// Output tokens.
    pub output: u64,
    /// Whether the counts are estimates, because the provider reported none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TokenUsage {
    /// Returns the sum of input and output tokens.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl From<&ModelReply> for Message {
    fn from(reply: &ModelReply) -> Self {
        Self::Assistant {
            text: reply.text.clone(),
            calls: reply.calls.clone(),
            opaque: reply.opaque.clone(),
        }
    }
}

impl ModelRequest {
    /// Estimates the tokens of the system prompt and the tools.
    pub fn head_tokens(&self) -> u64 {
        let system = self.system.iter();
        let system = system.map(|part| estimate_tokens(&part.text));
        system.chain(self.tools.iter().map(ToolSpec::tokens)).sum()
    }

    /// Estimates the tokens of the whole request.
    pub fn tokens(&self) -> u64 {
        self.head_tokens() + self.messages.iter().map(Message::tokens).sum::<u64>()
    }
}

impl Message {
    /// Estimates the tokens of this message.
    pub fn tokens(&self) -> u64 {
        match self {
            Self::User { text } | Self::Tool { text, .. } => estimate_tokens(text),
            Self::Assistant { text, calls, .. } => {
                let calls = serde_json::to_string(calls).unwrap_or_default();
                estimate_tokens(text) + estimate_tokens(&calls)
            }
        }
    }
}

impl ToolSpec {
    /// Estimates the tokens that this tool adds to every request.
    pub fn tokens(&self) -> u64 {
        estimate_tokens(&self.description) + estimate_tokens(&self.schema.to_string())
    }
}

/// Estimates the number of tokens of `text`, rather too high than too low. Used for budgets and for fitting a
/// prompt, before the provider has counted.
pub fn estimate_tokens(text: &str) -> u64 {
    let letters = text.chars().count();
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    // On average, three ASCII characters or one other character make a token.
    ((letters - wide).div_ceil(3) + wide) as u64
}

//! Requests to models and their replies, the same for every provider.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Object;
use crate::choice::choice;

/// One entry of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A person, or the engine in their place.
    User {
        /// What they say.
        text: String,
    },
    /// The model.
    Assistant {
        /// What it says.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// What it wants done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// What its provider wants to see again unchanged, such as signed thoughts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// The result of a call.
    Tool {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The result as the model reads it.
        text: String,
        /// True when it failed.
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

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Names the call within its conversation.
    pub id: String,
    /// The tool, as the model spells it.
    pub name: String,
    /// Its arguments.
    pub args: CallArgs,
}

/// The arguments of a call, as they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArgs {
    /// A JSON object.
    Object(Object),
    /// Something else: cut off, malformed, or no object. It is never mended by guessing.
    Invalid(String),
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name, letters, digits, `_` and `-` only, as every provider allows.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// A part of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    /// The text.
    pub text: String,
    /// True when it is the same from call to call, so that a provider may keep it.
    #[serde(default)]
    pub stable: bool,
}

/// Whether the model has to call something.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// At least one tool.
    Required,
    /// This tool.
    Named(String),
    /// None.
    None,
}

/// Everything a model is given for one turn.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModelRequest {
    /// The system prompt, stable parts first.
    pub system: Arc<[PromptPart]>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Arc<[ToolSpec]>,
    /// Whether it has to.
    pub choice: ToolChoice,
    /// The most tokens it may write; the model's setting when absent.
    pub max_tokens: Option<u32>,
    /// A GBNF grammar that the answer must follow, for servers that know grammars.
    pub grammar: Option<String>,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelReply {
    /// What it says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it wants done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    #[serde(default)]
    pub stop: StopReason,
    /// What it took.
    #[serde(default)]
    pub usage: TokenUsage,
    /// See [`Message::Assistant`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said everything.
    #[default]
    Done,
    /// It wants something called.
    Calls,
    /// It ran into the limit of tokens; what it wrote is cut off.
    Length,
    /// It, or its provider, refused.
    Refused,
    /// Something else, in the provider's word.
    Other(String),
}

/// Tokens that a model took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens that were read, cached ones included.
    pub input: u64,
    /// How many of those came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// How many of those the provider has put into its cache, where it says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// Tokens that were written.
    pub output: u64,
    /// True when the provider said nothing and these are estimates.
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
    /// Tokens in and out together.
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
    /// A rough count of what a model has to read before the first message.
    pub fn head_tokens(&self) -> u64 {
        let system = self.system.iter();
        let system = system.map(|part| estimate_tokens(&part.text));
        system.chain(self.tools.iter().map(ToolSpec::tokens)).sum()
    }

    /// A rough count of what a model has to read.
    pub fn tokens(&self) -> u64 {
        self.head_tokens() + self.messages.iter().map(Message::tokens).sum::<u64>()
    }
}

impl Message {
    /// A rough count of what a model has to read for it.
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
    /// How many tokens it takes with every question, about.
    pub fn tokens(&self) -> u64 {
        estimate_tokens(&self.description) + estimate_tokens(&self.schema.to_string())
    }
}

/// A rough count of the tokens of a text, on the high side: for budgets and for fitting a prompt,
/// where the provider has not counted yet.
pub fn estimate_tokens(text: &str) -> u64 {
    let letters = text.chars().count();
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    // About three ASCII characters or one other to a token.
    ((letters - wide).div_ceil(3) + wide) as u64
}

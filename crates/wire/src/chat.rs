//! Chats: answers, conversations and prompts.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{FailureClass, Message, Object, Outcome, RunId, RunStatus, Usage, Usd};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{words, words_or_null};

/// JSON output of `deft chat -p`: the answer to one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatAnswer {
    pub conversation: String,
    #[schemars(with = "String")]
    pub run: RunId,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    /// Outcome of the run; null if it has not ended.
    #[schemars(schema_with = "words_or_null::<Outcome>")]
    pub outcome: Option<Outcome>,
    pub text: String,
    pub usage: ChatUsage,
    /// Tool calls made for the answer, as far as the caller followed the run.
    pub calls: Vec<ChatCall>,
    pub error: Option<ChatError>,
}

/// Response to a chat message: the answer, or the run that is still working on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatReply {
    #[schemars(with = "String")]
    pub run: RunId,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    /// The answer; null if it takes longer than the request waits. The run continues.
    pub answer: Option<ChatAnswer>,
}

/// Tokens, cost and model calls of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Cost in US dollars; null if no price is known.
    #[schemars(with = "Option<f64>")]
    pub cost_usd: Option<Usd>,
    pub llm_calls: u64,
}

impl ChatUsage {
    /// Adds the usage of another answer.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.llm_calls += other.llm_calls;
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or_default() + other.unwrap_or_default()),
        };
    }
}

impl From<Usage> for ChatUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            // In `Usage`, a cost of zero means that no price is known.
            cost_usd: Some(usage.cost_usd).filter(|cost| *cost != Usd::default()),
            llm_calls: usage.llm_calls,
        }
    }
}

/// Why an answer failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatError {
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    pub hint: Option<String>,
}

/// A call of a tool in an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatCall {
    pub tool: String,
    /// Arguments; secrets appear as their names.
    pub args: Object,
    /// Number of agents between the first one and the caller.
    pub depth: usize,
    #[serde(flatten)]
    pub state: CallState,
}

/// State of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum CallState {
    Running,
    Success {
        duration_ms: u64,
        note: Option<String>,
    },
    Error {
        duration_ms: u64,
        /// What went wrong.
        note: Option<String>,
    },
    /// The call was not made.
    Refused {
        /// Why the call was refused.
        note: String,
    },
}

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationView {
    pub id: String,
    pub agent: String,
    pub channel: String,
    pub title: String,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
    pub message_count: u64,
}

/// JSON output of `deft chat list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationList {
    pub conversations: Vec<ConversationView>,
}

/// JSON output of `deft chat show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationDocument {
    pub conversation: ConversationDetail,
}

/// A conversation with its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationDetail {
    #[serde(flatten)]
    pub view: ConversationView,
    pub messages: Vec<ChatMessage>,
    /// Last run of the conversation, if it has not ended.
    #[schemars(with = "Option<String>")]
    pub open_run: Option<RunId>,
}

/// A message in a conversation or in search results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatMessage {
    pub conversation: String,
    pub seq: u64,
    pub role: MessageRole,
    pub text: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    User,
    Assistant,
    /// The result of a call.
    Tool,
}

impl From<deft_model::MessageRole> for MessageRole {
    fn from(role: deft_model::MessageRole) -> Self {
        match role {
            deft_model::MessageRole::User => Self::User,
            deft_model::MessageRole::Assistant => Self::Assistant,
            deft_model::MessageRole::Tool => Self::Tool,
        }
    }
}

impl MessageRole {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// JSON output of `deft chat search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageList {
    pub messages: Vec<ChatMessage>,
}

/// JSON output of `deft chat delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationDeleted {
    pub ok: bool,
    pub conversation: String,
}

/// JSON output of `deft chat --show-prompt`: the prompt that a model would get.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptView {
    pub agent: String,
    pub model: String,
    pub mode: PromptMode,
    pub system: Vec<SystemPart>,
    pub sections: Vec<PromptSection>,
    /// Earlier messages and the new one, in their stored form.
    #[schemars(with = "Vec<Value>")]
    pub messages: Vec<Message>,
    pub tools: Vec<PromptTool>,
    /// Tools that are offered only after the model looks them up.
    pub shelf: Vec<String>,
    /// Estimated tokens of the whole prompt.
    pub tokens: u64,
    /// Remarks about the prompt, for people.
    pub notes: Vec<String>,
}

/// How a model requests operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    /// With tool calls.
    Tools,
    /// With `cmd` blocks in its text.
    Cmd,
}

/// A part of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemPart {
    pub text: String,
    /// Whether the part is the same in every turn.
    pub stable: bool,
}

/// A section of the system prompt and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptSection {
    pub section: String,
    pub chars: u64,
}

/// A tool offered to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptTool {
    pub name: String,
    pub description: String,
    /// Full name of the tool.
    pub tool: String,
    /// Whether a person has to approve each call.
    pub approve: bool,
    /// Estimated tokens of the tool's description.
    pub tokens: u64,
}

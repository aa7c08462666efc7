//! Results of deft's own tools, as models, workflows and MCP clients get them.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Outcome, RunId, RunStatus};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chat::MessageRole;
use crate::schema::words;
use crate::skill::StoredSkill;

/// The result of `memory_store_skill` and `memory_update_skill`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillStoredResult {
    /// Always true: a failure is an error.
    pub success: bool,
    /// The number of the record.
    pub id: i64,
    /// What the skill will do, in words.
    pub stored: String,
    /// Corrections that were made to the arguments, in words.
    pub normalised: Vec<String>,
    /// Required tools that no connected server provides; the skill is enabled when they appear.
    pub waits_for: Vec<String>,
    pub skill: StoredSkill,
}

/// The result of `memory_list_skills`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillListResult {
    /// Always true: a failure is an error.
    pub success: bool,
    pub count: usize,
    pub skills: Vec<StoredSkill>,
}

/// The result of `memory_get_skill`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillResult {
    /// Always true: a failure is an error.
    pub success: bool,
    pub skill: StoredSkill,
}

/// The result of `memory_delete_skill`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillDeletedResult {
    /// Always true: a failure is an error.
    pub success: bool,
    /// The name of the skill.
    pub deleted: String,
    /// The number of its record or row.
    pub id: i64,
    /// What is left of a skill that has a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A run that has not succeeded by the time its caller gets a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UnfinishedRun {
    /// The run waits for a person, a time or a tool.
    Waiting {
        #[schemars(with = "String")]
        run: RunId,
        #[schemars(schema_with = "words::<RunStatus>")]
        status: RunStatus,
        /// What it waits for, for people.
        waiting_for: Option<String>,
    },
    /// The run had nothing to do.
    Skipped {
        #[schemars(with = "String")]
        run: RunId,
        /// Always `skipped`.
        #[schemars(schema_with = "words::<Outcome>")]
        outcome: Outcome,
        reason: Option<String>,
    },
}

/// The result of `conversation_list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationsResult {
    /// Whether further conversations match.
    pub more: bool,
    pub conversations: Vec<ConversationSummary>,
}

/// A conversation without its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationSummary {
    pub id: String,
    pub agent: String,
    pub channel: String,
    pub title: String,
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
    pub message_count: u64,
}

/// The result of `conversation_read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationResult {
    pub id: String,
    pub title: String,
    pub channel: String,
    /// The number of the last message that was read: `after_seq` of the next call.
    pub last_seq: u64,
    /// Whether further messages follow.
    pub more: bool,
    pub messages: Vec<TranscriptMessage>,
}

/// A message of a transcript, cut to a length that fits into a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptMessage {
    pub seq: u64,
    pub role: MessageRole,
    pub text: String,
}

/// The result of `fact_save`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactSavedResult {
    pub id: i64,
    /// Whether the fact is new.
    pub saved: bool,
    /// When a fact that is not new was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub known_since: Option<Timestamp>,
}

/// The result of `fact_list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactsResult {
    /// Whether further facts match.
    pub more: bool,
    pub facts: Vec<FactSummary>,
}

/// A fact without its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactSummary {
    pub id: i64,
    pub category: String,
    pub text: String,
    pub agent_id: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
}

/// The result of `fact_delete`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactDeletedResult {
    pub id: i64,
    /// Whether there was such a fact.
    pub deleted: bool,
}

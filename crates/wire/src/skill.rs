//! A skill as programs see it (contract.md), wherever it was written.
//!
//! Keys are printed in the order of the fields. Not here: the parts of a body (`skill_body`).

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Authority, Dialect, DisabledReason, Object, Role, Tier, Trigger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::skill_body::SkillBody;

/// The document of `deft skills list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillList {
    pub skills: Vec<SkillView>,
}

/// The document of `deft skills show`, and of commands that enable, disable and restore a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillDocument {
    pub skill: SkillView,
}

/// The document of `deft skills delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeletedSkill {
    /// The id of the skill.
    pub deleted: String,
}

/// A skill of a file, or one as the store holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SkillView {
    Stored(Box<StoredSkill>),
    File(Box<FileSkill>),
}

/// Where a skill was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    File,
    Record,
}

/// What makes a skill fire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriggerView {
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    pub kind: Trigger,
    /// `trigger_config` as it was written.
    pub config: Option<Value>,
    /// The trigger in a sentence.
    pub words: Option<String>,
    /// The next fires, in the zone of the skill.
    pub next: Vec<String>,
}

/// A skill of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSkill {
    pub id: String,
    /// The number of its row; none if the store does not know the skill yet.
    pub record_id: Option<i64>,
    pub agent_id: String,
    pub name: String,
    pub description: String,
    pub domain: Option<String>,
    #[schemars(with = "String")]
    pub tier: Tier,
    #[schemars(with = "Option<String>")]
    pub role: Option<Role>,
    #[schemars(with = "String")]
    pub dialect: Dialect,
    pub origin: Origin,
    pub path: String,
    pub revision: String,
    pub enabled: bool,
    #[schemars(with = "Option<String>")]
    pub disabled_reason: Option<DisabledReason>,
    pub trigger: TriggerView,
    pub keywords: Vec<String>,
    pub tags: Vec<String>,
    pub required_tools: Vec<String>,
    /// Required tools that no server is known to provide.
    pub missing_tools: Vec<String>,
    pub last_run_at: Option<String>,
    pub last_run_status: Option<String>,
    pub last_run_summary: Option<String>,
    /// Everything that listings leave out.
    #[serde(flatten)]
    pub details: Option<FileDetails>,
    /// The number of the record that has the same name, so that the file does not fire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clashes_with: Option<i64>,
    /// Present if the store knows the skill.
    #[serde(flatten)]
    pub standing: Option<SkillStanding>,
    /// Present if tools changed the skill.
    #[serde(flatten)]
    pub change: Option<SkillChange>,
    /// Why its command cannot be run now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Unknown tools and wrong arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The fields of a skill of a file that listings leave out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileDetails {
    pub author: Option<String>,
    pub version: Option<String>,
    pub created: Option<String>,
    pub priority: i64,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    pub allowed_tools: Option<Value>,
    pub metadata: Object,
    /// Keys that deft does not read.
    pub extra: Object,
    pub max_steps: u32,
    /// The files beside the one that defines the skill.
    pub files: Vec<SiblingView>,
    pub body: Option<SkillBody>,
}

/// A file that belongs to a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiblingView {
    pub path: String,
    pub size: u64,
    /// Absent for a file that is too large to be read.
    pub sha256: Option<String>,
}

/// How often a skill failed in a row, and until when it backs off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillStanding {
    pub failures: u32,
    pub backoff_until: Option<String>,
}

/// What tools changed about a skill of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillChange {
    pub changed_fields: Vec<String>,
    /// The agent whose rights the skill has since; none for a person.
    pub changed_by: Option<String>,
}

/// A skill as the store holds it: with all columns of the seeds (S0.62) and those of the contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredSkill {
    pub id: String,
    pub record_id: Option<i64>,
    pub agent_id: String,
    pub name: String,
    pub description: Option<String>,
    #[schemars(with = "String")]
    pub tier: Tier,
    #[schemars(with = "Option<String>")]
    pub dialect: Option<Dialect>,
    pub origin: Origin,
    pub revision: String,
    pub enabled: bool,
    #[schemars(with = "Option<String>")]
    pub disabled_reason: Option<DisabledReason>,
    #[schemars(with = "String")]
    pub trigger_type: Trigger,
    pub trigger_config: Option<Value>,
    pub trigger: TriggerView,
    pub instructions: Option<String>,
    pub required_tools: Vec<String>,
    /// Unknown if the content of the skill cannot be read.
    pub missing_tools: Option<Vec<String>>,
    pub execution_plan: Option<Value>,
    /// The rights of the agent that stored it; none if a person did.
    #[schemars(with = "Option<Object>")]
    pub authority: Option<Authority>,
    pub max_steps: Option<u32>,
    pub notify_on_completion: Option<bool>,
    pub notify_interval_minutes: Option<u32>,
    pub failures: u32,
    pub backoff_until: Option<String>,
    pub last_run_at: Option<String>,
    pub last_run_status: Option<String>,
    pub last_run_summary: Option<String>,
    pub last_notified_at: Option<String>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    /// What a person has allowed this revision; present if an agent stored the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Vec<String>>,
}

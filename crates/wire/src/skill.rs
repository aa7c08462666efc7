//! Types of skills (contract.md), for all dialects.
//!
//! Keys are printed in the order of the fields. Not here: the parts of a body (`skill_body`).

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Authority, Dialect, DisabledReason, Object, Role, Tier, Trigger};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::remote_skill::{RefusedSkillView, RemoteSkillView};
use crate::schema::{words, words_or_null};
use crate::skill_body::SkillBody;
use crate::skill_details::{DetailsView, present};
use crate::skill_policy::PolicyView;

/// JSON output of `deft skills list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillList {
    pub skills: Vec<SkillView>,
    /// Skills provided by MCP servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remote: Vec<RemoteSkillView>,
    /// Entries that servers list as skills but that cannot be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_remote: Vec<RefusedSkillView>,
}

/// JSON output of `deft skills show` and of the commands that enable, disable and restore a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillDocument {
    pub skill: SkillView,
}

/// JSON output of `deft skills delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeletedSkill {
    /// Id of the skill.
    pub deleted: String,
}

/// A skill from a file or from the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SkillView {
    Stored(Box<StoredSkill>),
    File(Box<FileSkill>),
}

/// Where a skill is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    File,
    Record,
}

/// Trigger of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriggerView {
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::<Trigger>")]
    pub kind: Trigger,
    /// `trigger_config` as written.
    pub config: Option<Value>,
    /// The trigger as a sentence.
    pub words: Option<String>,
    /// Next fires, in the time zone of the skill.
    pub next: Vec<String>,
}

/// What lists and pages say of every skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillHead {
    pub id: String,
    /// Number of its row; null if the skill is not in the store.
    pub record_id: Option<i64>,
    pub agent_id: String,
    pub name: String,
    /// Null if the skill's content cannot be read.
    pub description: Option<String>,
    #[schemars(schema_with = "words::<Tier>")]
    pub tier: Tier,
    /// Null if the skill's content cannot be read.
    #[schemars(schema_with = "words_or_null::<Dialect>")]
    pub dialect: Option<Dialect>,
    pub origin: Origin,
    pub revision: String,
    pub enabled: bool,
    #[schemars(schema_with = "words_or_null::<DisabledReason>")]
    pub disabled_reason: Option<DisabledReason>,
    pub trigger: TriggerView,
    pub required_tools: Vec<String>,
    /// Required tools that no connected server provides; null if the skill's content cannot be read.
    pub missing_tools: Option<Vec<String>>,
    #[schemars(with = "Option<String>")]
    pub last_run_at: Option<Timestamp>,
    pub last_run_status: Option<String>,
    pub last_run_summary: Option<String>,
}

/// A skill defined in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSkill {
    #[serde(flatten)]
    pub head: SkillHead,
    pub domain: Option<String>,
    #[schemars(schema_with = "words_or_null::<Role>")]
    pub role: Option<Role>,
    pub path: String,
    pub keywords: Vec<String>,
    pub tags: Vec<String>,
    /// Fields that are omitted in lists.
    #[serde(flatten)]
    pub details: Option<FileDetails>,
    /// Number of a record with the same name, which keeps the file from firing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clashes_with: Option<i64>,
    /// Failures and backoff; present if the skill is in the store.
    #[serde(flatten)]
    pub standing: Option<SkillStanding>,
    /// Changes by tools; present if there are any.
    #[serde(flatten)]
    pub change: Option<SkillChange>,
    /// Why the command of the skill cannot be run now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Warnings about unknown tools and wrong arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Fields of a skill from a file that are omitted in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileDetails {
    #[serde(flatten)]
    pub described: DetailsView,
    pub priority: i64,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    pub allowed_tools: Option<Value>,
    pub metadata: Object,
    /// Keys in the file that deft does not use.
    pub extra: Object,
    pub max_steps: u32,
    #[serde(default, skip_serializing_if = "PolicyView::is_empty")]
    pub policy: PolicyView,
    /// Other files of the skill, besides the one that defines it.
    pub files: Vec<SiblingView>,
    pub body: Option<SkillBody>,
}

/// Another file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiblingView {
    pub path: String,
    pub size: u64,
    /// SHA-256 of the file; null if it is too large to be read.
    pub sha256: Option<String>,
}

/// Failures in a row of a skill, and the end of its backoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillStanding {
    pub failures: u32,
    #[schemars(with = "Option<String>")]
    pub backoff_until: Option<Timestamp>,
}

/// Changes that tools made to a skill with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillChange {
    pub changed_fields: Vec<String>,
    /// Agent whose rights apply to the skill since the change; null if a person changed it.
    pub changed_by: Option<String>,
}

/// A skill as stored: all columns of the seeds (S0.62) and of the contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredSkill {
    #[serde(flatten)]
    pub head: SkillHead,
    #[schemars(schema_with = "words::<Trigger>")]
    pub trigger_type: Trigger,
    pub trigger_config: Option<Value>,
    pub instructions: Option<String>,
    pub execution_plan: Option<Value>,
    /// The rights of the agent that stored it; absent if a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Object>")]
    pub authority: Option<Authority>,
    pub max_steps: Option<u32>,
    pub notify_on_completion: Option<bool>,
    pub notify_interval_minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "PolicyView::is_empty")]
    pub policy: PolicyView,
    #[serde(flatten)]
    pub standing: SkillStanding,
    #[schemars(with = "Option<String>")]
    pub last_notified_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub created_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub updated_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Path of the skill file with the same id, which does not fire. Set by `deft skills list` and `show`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces_file: Option<String>,
    /// Descriptive fields; present if at least one is set.
    #[serde(flatten, deserialize_with = "present")]
    pub described: Option<DetailsView>,
    /// Operations that a person approved for this revision; present if an agent stored the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A skill from a file with all keys, in the order that programs read. `§` stands for the descriptive
    /// fields.
    const FILE: &str = r#"{"id":"email.send","record_id":3,"agent_id":"default","name":"email.send","description":"Sends","tier":"command","dialect":"manpage","origin":"file","revision":"a1","enabled":false,"disabled_reason":"user","trigger":{"type":"manual","config":null,"words":"when asked","next":[]},"required_tools":[],"missing_tools":[],"last_run_at":"2026-01-01T10:00:00.25Z","last_run_status":null,"last_run_summary":null,"domain":"email","role":null,"path":"/s/email/send.md","keywords":[],"tags":["mail"],§,"priority":0,"license":null,"compatibility":null,"allowed_tools":null,"metadata":{},"extra":{"x":1.5},"max_steps":50,"policy":{"timeout":90},"files":[{"path":"a.txt","size":1,"sha256":null}],"body":{"handler":"tool:post","flags":[{"name":"to","description":"Who","required":true,"takes":"one","values":["a"],"default":[]}],"sections":[{"title":"Flags","level":2,"start":0,"end":9}],"text":"page"},"clashes_with":4,"failures":2,"backoff_until":null,"changed_fields":["description"],"changed_by":null,"unavailable":"no","warnings":["odd"]}"#;

    /// A skill from a file in a list, not yet in the store.
    const LISTED: &str = r#"{"id":"brief","record_id":null,"agent_id":"default","name":"brief","description":"Brief","tier":"agent","dialect":"agentskills","origin":"file","revision":"b2","enabled":true,"disabled_reason":null,"trigger":{"type":"cron","config":{"schedule":"0 9 * * *"},"words":"daily at 09:00","next":["2026-01-01T09:00:00+00:00"]},"required_tools":[],"missing_tools":[],"last_run_at":null,"last_run_status":null,"last_run_summary":null,"domain":null,"role":"playbook","path":"/s/brief/SKILL.md","keywords":["brief"],"tags":[]}"#;

    /// A record stored by an agent.
    const RECORD: &str = r#"{"id":"water","record_id":7,"agent_id":"default","name":"Water","description":"Drink","tier":"direct","dialect":"record","origin":"record","revision":"c3","enabled":true,"disabled_reason":null,"trigger":{"type":"cron","config":{"interval_minutes":60},"words":"every hour","next":["2026-01-01T10:00:00+00:00"]},"required_tools":["log"],"missing_tools":[],"last_run_at":"2026-01-01T10:00:00.25Z","last_run_status":null,"last_run_summary":null,"trigger_type":"cron","trigger_config":{"interval_minutes":60},"instructions":null,"execution_plan":[{"tool":"log","args":{}}],"authority":{"agent":"helper","attended":true,"may_schedule":true},"max_steps":50,"notify_on_completion":true,"notify_interval_minutes":0,"policy":{"timeout":90},"failures":0,"backoff_until":"2026-01-01T11:00:00Z","last_notified_at":null,"created_at":"2026-01-01T09:00:00Z","updated_at":"2026-01-01T09:00:00Z","grants":["call `log`"]}"#;

    #[test]
    fn a_skill_round_trips() {
        let mut details = DetailsView::default();
        let bare = fields(&details);
        details.author = Some("Ada".to_owned());
        let described = format!(r#""tags":["health"],{},"grants""#, fields(&details));
        let cases = [
            (FILE.replace('§', &bare), false),
            (FILE.replace('§', &fields(&details)), false),
            (LISTED.to_owned(), false),
            (RECORD.to_owned(), true),
            (RECORD.replace(r#""grants""#, &described), true),
        ];
        for (text, is_stored) in cases {
            let skill: SkillView = serde_json::from_str(&text).unwrap();
            assert_eq!(matches!(skill, SkillView::Stored(_)), is_stored, "{text}");
            assert_eq!(serde_json::to_string(&skill).unwrap(), text);
        }
    }

    /// Returns the JSON object of `details` without its braces.
    fn fields(details: &DetailsView) -> String {
        let text = serde_json::to_string(details).unwrap();
        text.trim_matches(['{', '}']).to_owned()
    }
}

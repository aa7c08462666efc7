//! Deleted items that can be restored.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrashKind {
    /// A skill file of the home, or a folder with a `SKILL.md`.
    SkillFile,
    /// A skill stored as a record.
    SkillRecord,
    Conversation,
    Runs,
}

/// An item in the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrashEntry {
    pub id: String,
    pub kind: TrashKind,
    /// Description of the item, for people.
    pub what: String,
    #[schemars(with = "String")]
    pub deleted_at: Timestamp,
}

/// JSON output of `deft undo --list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrashList {
    pub trash: Vec<TrashEntry>,
}

/// JSON output of `deft undo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoResult {
    pub undone: TrashEntry,
}

//! Skills provided by MCP servers.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A skill provided by a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSkillView {
    /// `SERVER/PATH`: the name of the server in this home, and the path in the URI of the skill.
    pub id: String,
    pub server: String,
    /// URI of its `SKILL.md` on that server.
    pub uri: String,
    pub name: String,
    pub description: String,
    pub approval: SkillApproval,
    /// Hash of the content; null if the server lists no digests.
    pub revision: Option<String>,
    pub approved_by: Option<String>,
    #[schemars(with = "Option<String>")]
    pub approved_at: Option<Timestamp>,
    /// Tools that the skill asks for. They are not granted.
    pub allowed_tools: Option<Value>,
    /// A skill of this home with the same name. The server's skill does not replace it.
    pub same_name_as: Option<String>,
    /// Files of the skill; null if the server lists none.
    pub files: Option<Vec<RemoteFileView>>,
}

/// Whether agents may load a skill of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillApproval {
    /// A person approved the current content.
    Approved,
    /// The content has changed since it was approved.
    Changed,
    /// Not approved yet.
    Needed,
    /// The server lists no digests, so no content can be approved.
    Impossible,
}

/// A file of a server's skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteFileView {
    pub path: String,
    pub uri: String,
    pub size: u64,
    pub sha256: String,
}

/// An entry that a server lists as a skill but that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedSkillView {
    pub server: String,
    /// URI of the entry, as far as it is known.
    pub uri: String,
    pub reason: String,
}

/// JSON output of `deft skills approve`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSkillDocument {
    pub skill: RemoteSkillView,
}

/// JSON output of `deft skills show` for a server's skill: the skill and one of its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSkillPage {
    pub skill: RemoteSkillView,
    /// Path of the file.
    pub file: String,
    /// Text of the file; null for a binary file.
    pub text: Option<String>,
}

/// JSON output of `deft skills revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevokedSkill {
    /// Id of the skill.
    pub revoked: String,
}

/// Request that names a server's skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteSkillRequest {
    /// `SERVER/PATH`; to read a file, append its path.
    pub skill: String,
}

/// Request to approve a server's skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveSkillRequest {
    pub skill: String,
    /// Revision that was reviewed; the approval fails if the content differs. Default: the current revision.
    #[serde(default)]
    pub revision: Option<String>,
}

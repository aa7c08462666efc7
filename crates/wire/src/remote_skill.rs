//! Skills that MCP servers offer, as programs see them.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A skill that a server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSkillView {
    /// `SERVER/PATH`: the name of the server in this home, and the path in the address of the skill.
    pub id: String,
    pub server: String,
    /// The address of its `SKILL.md` on that server.
    pub uri: String,
    pub name: String,
    pub description: String,
    pub approval: SkillApproval,
    /// Stands for its content; none if its server lists no digests.
    pub revision: Option<String>,
    pub approved_by: Option<String>,
    #[schemars(with = "Option<String>")]
    pub approved_at: Option<Timestamp>,
    /// The tools that it asks for. They are not granted.
    pub allowed_tools: Option<Value>,
    /// A skill of this home with the same name, which it does not replace.
    pub same_name_as: Option<String>,
    /// Its files; none if its server lists none.
    pub files: Option<Vec<RemoteFileView>>,
}

/// Whether agents may load a skill of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillApproval {
    /// A person approved this content.
    Approved,
    /// The content has changed since a person approved it.
    Changed,
    /// No person has approved it.
    Needed,
    /// Its server lists no digests, so that no content can be approved.
    Impossible,
}

/// A file of such a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteFileView {
    pub path: String,
    pub uri: String,
    pub size: u64,
    pub sha256: String,
}

/// Something that a server lists as a skill and that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedSkillView {
    pub server: String,
    /// The address, as far as there is one.
    pub uri: String,
    pub reason: String,
}

/// The document of `deft skills approve`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSkillDocument {
    pub skill: RemoteSkillView,
}

/// The document of `deft skills show` for a skill of a server: the skill and one file of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSkillPage {
    pub skill: RemoteSkillView,
    /// The path of the file.
    pub file: String,
    /// Its text; none if it is no text.
    pub text: Option<String>,
}

/// The document of `deft skills revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevokedSkill {
    /// The id of the skill.
    pub revoked: String,
}

/// Names a skill of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteSkillRequest {
    /// `SERVER/PATH`; to read a file, its path is written behind that.
    pub skill: String,
}

/// An approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveSkillRequest {
    pub skill: String,
    /// The content that was seen; any other one is refused. The current one if it is not given.
    #[serde(default)]
    pub revision: Option<String>,
}

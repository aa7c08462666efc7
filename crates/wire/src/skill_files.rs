//! JSON output of commands that write, read and watch skill files.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// JSON output of `deft` without arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub home: String,
    pub skills: usize,
    pub broken: usize,
    /// Number of configured models.
    pub models: usize,
}

/// JSON output of `deft skills new`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedSkill {
    pub ok: bool,
    pub path: String,
}

/// JSON output of `deft skills import`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportReport {
    pub ok: bool,
    pub dry_run: bool,
    /// Skills that were imported, or would be in a dry run.
    pub skills: Vec<String>,
    pub unchanged: Vec<String>,
    pub kept: Vec<String>,
    pub files: Vec<ImportedFile>,
    pub refused: Vec<RefusedFile>,
    pub also_defined: Vec<AlsoDefined>,
    /// All skills and agents that were found and not refused.
    #[serde(default)]
    pub items: Vec<ImportItem>,
    /// Agents that were imported, or would be in a dry run.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Nodes of other programs' workflows that cannot be expressed as steps.
    #[serde(default)]
    pub unmapped: Vec<UnmappedNode>,
}

/// A skill or an agent, and the effect of the import on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportItem {
    pub id: String,
    pub kind: ImportKind,
    pub effect: ImportEffect,
    /// Number of its files.
    pub files: usize,
    /// Whether the skill fires only after `deft skills enable`.
    pub disabled: bool,
    /// Differences from the source: settings that are not kept, and things to know before it runs.
    pub notes: Vec<String>,
}

/// Kind of an imported item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportKind {
    Skill,
    ManPage,
    Domain,
    Workflow,
    Playbook,
    Agent,
}

impl ImportKind {
    /// Returns the name that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::ManPage => "man page",
            Self::Domain => "domain index",
            Self::Workflow => "workflow",
            Self::Playbook => "playbook",
            Self::Agent => "agent",
        }
    }
}

/// A node that prevents the import of another program's workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnmappedNode {
    /// File of the workflow.
    pub path: String,
    pub node: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub reason: String,
}

/// A file of the home, and the effect of the import on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    pub path: String,
    pub effect: ImportEffect,
}

/// Effect of an import on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportEffect {
    New,
    Unchanged,
    Replaced,
    Blocked,
    Kept,
    Removed,
}

impl ImportEffect {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Unchanged => "unchanged",
            Self::Replaced => "replaced",
            Self::Blocked => "blocked",
            Self::Kept => "kept",
            Self::Removed => "removed",
        }
    }
}

/// A file that was left out, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedFile {
    pub path: String,
    pub reason: String,
}

/// Another file of the home that also defines an imported skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlsoDefined {
    pub skill: String,
    pub path: String,
}

/// JSON output of `deft skills export --to DIR`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenExport {
    pub files: Vec<String>,
    pub lost: Vec<LostParts>,
    pub refused: Vec<RefusedFile>,
    pub ok: bool,
    /// Editor command files that are no longer needed; absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Whether this was a dry run; absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// JSON output of `deft skills export` without a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedExport {
    pub files: Vec<ExportedFile>,
    pub lost: Vec<LostParts>,
    pub refused: Vec<RefusedFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// An exported file. Binary files have no content, because JSON cannot hold bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedFile {
    pub path: String,
    pub content: Option<String>,
    /// Present if the file is not text.
    #[serde(flatten)]
    pub binary: Option<BinaryFile>,
}

/// Properties of a binary file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BinaryFile {
    /// Always `true`.
    pub binary: bool,
    pub size: usize,
}

/// Parts of a skill that the target dialect cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostParts {
    pub skill: String,
    pub what: Vec<String>,
}

/// JSON output of `deft skills prompt`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillPrompt {
    pub text: String,
    pub listed: Vec<String>,
    pub left_out: Vec<String>,
}

/// JSON output of `deft skills prompt --format tool`: the `skill` tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillTool {
    pub name: String,
    pub description: String,
    pub parameters: SchemaDocument,
}

/// A JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SchemaDocument(pub Value);

/// A change of the skills on disk: one line of `deft skills watch --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileEvent {
    Loaded {
        id: String,
        path: String,
        revision: String,
    },
    Removed {
        id: String,
    },
    Agent {
        agent: String,
    },
    Domain {
        domain: String,
    },
    Broken {
        path: String,
        /// Id of the skill whose last good version stays in use.
        kept: Option<String>,
        reason: String,
    },
}

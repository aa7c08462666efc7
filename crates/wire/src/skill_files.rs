//! The documents of commands that write, read and follow skill files.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The document of `deft` alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub home: String,
    pub skills: usize,
    pub broken: usize,
    /// How many models are configured.
    pub models: usize,
}

/// The document of `deft skills new`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedSkill {
    pub ok: bool,
    pub path: String,
}

/// The document of `deft skills import`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportReport {
    pub ok: bool,
    pub dry_run: bool,
    /// Skills that were imported, or would be.
    pub skills: Vec<String>,
    pub unchanged: Vec<String>,
    pub kept: Vec<String>,
    pub files: Vec<ImportedFile>,
    pub refused: Vec<RefusedFile>,
    pub also_defined: Vec<AlsoDefined>,
    /// Every skill and agent that was found and not refused.
    #[serde(default)]
    pub items: Vec<ImportItem>,
    /// Agents that were imported, or would be.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Nodes of workflows of other programs that no step can do.
    #[serde(default)]
    pub unmapped: Vec<UnmappedNode>,
}

/// A skill or an agent, and what the import does to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportItem {
    pub id: String,
    pub kind: ImportKind,
    pub effect: ImportEffect,
    /// How many files it has.
    pub files: usize,
    /// Whether it fires only after `deft skills enable`.
    pub disabled: bool,
    /// What is different from its source: settings that are not kept, and what to know before it runs.
    pub notes: Vec<String>,
}

/// The form of an imported skill.
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
    /// The word that is printed.
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

/// A node of a workflow of another program that keeps the whole workflow from being imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnmappedNode {
    /// The file of the workflow.
    pub path: String,
    pub node: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub reason: String,
}

/// A file of the home, and what the import does to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    pub path: String,
    pub effect: ImportEffect,
}

/// What an import does to a file.
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
    /// The word that is printed.
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

/// A file that is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedFile {
    pub path: String,
    pub reason: String,
}

/// Another file of the home that defines an imported skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlsoDefined {
    pub skill: String,
    pub path: String,
}

/// The document of `deft skills export --to DIR`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenExport {
    pub files: Vec<String>,
    pub lost: Vec<LostParts>,
    pub refused: Vec<RefusedFile>,
    pub ok: bool,
    /// Command files of editors that are not needed any more; left out when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Whether nothing was written; left out otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// The document of `deft skills export` without a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedExport {
    pub files: Vec<ExportedFile>,
    pub lost: Vec<LostParts>,
    pub refused: Vec<RefusedFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A file in a document, which has no place for bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedFile {
    pub path: String,
    pub content: Option<String>,
    /// Present if the file is not text.
    #[serde(flatten)]
    pub binary: Option<BinaryFile>,
}

/// What is known of a file that is not text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BinaryFile {
    /// Always `true`.
    pub binary: bool,
    pub size: usize,
}

/// The parts of a skill that the other dialect cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostParts {
    pub skill: String,
    pub what: Vec<String>,
}

/// The document of `deft skills prompt`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillPrompt {
    pub text: String,
    pub listed: Vec<String>,
    pub left_out: Vec<String>,
}

/// The `skill` tool as a model is offered it: the document of `deft skills prompt --format tool`.
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

/// A change of the skills on disk: a line of `deft skills watch --json`.
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
        /// The skill that stays in use as it was before.
        kept: Option<String>,
        reason: String,
    },
}

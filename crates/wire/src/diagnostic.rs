//! Problems in skill files: the documents of `deft skills validate` and `deft skills doctor`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad a problem is, the worst last.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Hint,
    Warning,
    Error,
}

impl Severity {
    /// The word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One problem; a problem of the whole file is at line 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticView {
    pub rule: String,
    pub severity: Severity,
    pub message: String,
    pub line: usize,
    pub column: usize,
    pub end_line: Option<usize>,
    pub end_column: Option<usize>,
    pub help: Option<String>,
}

/// The document of `deft skills validate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationReport {
    pub ok: bool,
    pub files: Vec<ValidatedFile>,
}

/// A file that was checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidatedFile {
    pub path: String,
    pub dialect: String,
    pub ok: bool,
    pub diagnostics: Vec<DiagnosticView>,
    /// The frontmatter as the reference validator reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Object>,
}

/// The document of `deft skills doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsReport {
    pub ok: bool,
    pub checks: Vec<SkillsCheck>,
    pub files: Vec<ExaminedFile>,
}

/// A check of the folders, the store and the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsCheck {
    pub id: String,
    pub severity: CheckSeverity,
    pub message: String,
    pub hint: Option<String>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckSeverity {
    Ok,
    Warning,
}

/// Whether a file is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    Loaded,
    Hidden,
    Agent,
    Index,
    Shadowed,
    Broken,
    Ignored,
}

impl FileState {
    /// The word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Hidden => "hidden",
            Self::Agent => "agent",
            Self::Index => "index",
            Self::Shadowed => "shadowed",
            Self::Broken => "broken",
            Self::Ignored => "ignored",
        }
    }
}

/// A file, whether it is loaded, and why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExaminedFile {
    pub path: String,
    pub root: String,
    pub state: FileState,
    pub id: Option<String>,
    pub reason: Option<String>,
    pub diagnostics: Vec<DiagnosticView>,
}

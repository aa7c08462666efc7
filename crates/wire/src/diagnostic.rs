//! Problems in skill files: JSON output of `deft skills validate` and `deft skills doctor`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Severity of a problem, in ascending order.
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
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A problem in a skill file. A problem of the whole file is reported at line 1.
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

/// JSON output of `deft skills validate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationReport {
    pub ok: bool,
    pub files: Vec<ValidatedFile>,
}

/// A checked file with its problems.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidatedFile {
    pub path: String,
    pub dialect: String,
    pub ok: bool,
    pub diagnostics: Vec<DiagnosticView>,
    /// The frontmatter, as the reference validator of the open format reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Object>,
}

/// JSON output of `deft skills doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsReport {
    pub ok: bool,
    pub checks: Vec<SkillsCheck>,
    pub files: Vec<ExaminedFile>,
}

/// A check of the folders, the store or the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsCheck {
    pub id: String,
    pub severity: CheckSeverity,
    pub message: String,
    pub hint: Option<String>,
}

/// Severity of a check result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckSeverity {
    Ok,
    Warning,
}

/// State of a file in a skills folder.
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
    /// Returns the name used in JSON.
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

/// A file in a skills folder, with its state and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExaminedFile {
    pub path: String,
    pub root: String,
    pub state: FileState,
    pub id: Option<String>,
    pub reason: Option<String>,
    pub diagnostics: Vec<DiagnosticView>,
}

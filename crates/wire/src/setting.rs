//! Settings of `config.toml`: their values, origins and problems.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// JSON output of `deft config show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingList {
    pub path: String,
    pub settings: Vec<SettingView>,
}

/// JSON output of `deft config get` for one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDocument {
    pub setting: SettingView,
}

/// JSON output of `deft config get` for a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingSection {
    pub settings: Vec<SettingView>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingView {
    pub key: String,
    /// The effective value; a plaintext secret is hidden.
    pub value: Option<Value>,
    pub origin: SettingOrigin,
    /// Line in the file, if the value comes from the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Environment variable, if the value comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    pub doc: String,
    /// Always true; some versions stored settings that they did not use yet.
    pub used: bool,
}

/// Origin of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    Default,
    File,
    Environment,
}

/// JSON output of `deft config set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetSettingResult {
    /// Always `true`.
    pub ok: bool,
    pub changed: bool,
    pub path: String,
    pub setting: SettingView,
    pub warnings: Vec<String>,
}

/// JSON output of `deft config validate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingProblems {
    pub ok: bool,
    pub path: String,
    pub exists: bool,
    pub problems: Vec<SettingProblem>,
}

/// A problem in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingProblem {
    pub message: String,
    pub hint: Option<String>,
    pub line: Option<usize>,
    pub variable: Option<String>,
}

/// JSON output of `deft config path`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigPath {
    pub path: String,
    pub exists: bool,
}

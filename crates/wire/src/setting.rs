//! Settings of `config.toml`: their values, where these come from, and what is wrong with them.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The document of `deft config show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingList {
    pub path: String,
    pub settings: Vec<SettingView>,
}

/// The document of `deft config get` for one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDocument {
    pub setting: SettingView,
}

/// The document of `deft config get` for a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingSection {
    pub settings: Vec<SettingView>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingView {
    pub key: String,
    /// The value that counts; a secret in plain text is hidden.
    pub value: Option<Value>,
    pub origin: SettingOrigin,
    /// The line of the file, if the value comes from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The variable, if the value comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    pub doc: String,
    /// Whether this version uses it.
    pub used: bool,
}

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    Default,
    File,
    Environment,
}

/// The document of `deft config set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChanged {
    /// Always `true`.
    pub ok: bool,
    pub changed: bool,
    pub path: String,
    pub setting: SettingView,
    pub warnings: Vec<String>,
}

/// The document of `deft config validate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingProblems {
    pub ok: bool,
    pub path: String,
    pub exists: bool,
    pub problems: Vec<SettingProblem>,
}

/// One problem of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingProblem {
    pub message: String,
    pub hint: Option<String>,
    pub line: Option<usize>,
    pub variable: Option<String>,
}

/// The document of `deft config path`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigPath {
    pub path: String,
    pub exists: bool,
}

//! Hooks: addresses that other programs send signed deliveries to.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run of one skill that a delivery fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookRun {
    pub skill: String,
    /// Id of the run; null if the skill could not be fired.
    pub run: Option<String>,
    /// Why the skill could not be fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Response of `POST /hooks/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookReceipt {
    pub ok: bool,
    pub hook: String,
    /// Id of the delivery, which distinguishes it from others.
    pub delivery: String,
    /// Whether the delivery was received before. A repeated delivery fires nothing.
    pub repeated: bool,
    /// Why the delivery fires nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
    pub runs: Vec<HookRun>,
}

/// A configured hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookView {
    pub name: String,
    /// Path of the hook in the API.
    pub path: String,
    /// Signature scheme of deliveries.
    pub scheme: String,
    /// Kinds of deliveries that fire skills; empty for all kinds.
    pub events: Vec<String>,
    /// Skills that the hook fires.
    pub skills: Vec<String>,
    /// Why the secret of the hook cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// JSON output of `deft hooks list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookList {
    pub hooks: Vec<HookView>,
}

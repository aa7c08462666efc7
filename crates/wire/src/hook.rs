//! Hooks: addresses that other programs send signed deliveries to.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run that a delivery fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookRun {
    pub skill: String,
    /// The run; none if the skill could not take the delivery.
    pub run: Option<String>,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The answer of `POST /hooks/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookReceipt {
    pub ok: bool,
    pub hook: String,
    /// What tells the delivery from others.
    pub delivery: String,
    /// Whether it was taken before, so that nothing was fired now.
    pub repeated: bool,
    /// Why it fires nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
    pub runs: Vec<HookRun>,
}

/// A hook of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookView {
    pub name: String,
    /// Its address at the API.
    pub path: String,
    /// How deliveries are signed.
    pub scheme: String,
    /// The kinds of deliveries that fire skills; empty for all.
    pub events: Vec<String>,
    /// The skills that it fires.
    pub skills: Vec<String>,
    /// Why its secret cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The document of `deft hooks list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookList {
    pub hooks: Vec<HookView>,
}

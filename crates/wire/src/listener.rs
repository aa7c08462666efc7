//! Where a daemon serves the API, or why it does not.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The API of a daemon that is up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListenerState {
    /// Its address, such as `http://127.0.0.1:9876`; none if it could not be served.
    pub url: Option<String>,
    /// Why it could not be served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ListenerState {
    /// An API that is served.
    pub fn at(url: String) -> Self {
        Self {
            url: Some(url),
            problem: None,
            hint: None,
        }
    }

    /// An API that could not be served.
    pub fn failed(failure: &Failure) -> Self {
        Self {
            url: None,
            problem: Some(failure.message.clone()),
            hint: failure.hint.clone(),
        }
    }
}

/// The answer of `/healthz` and `/readyz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthView {
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

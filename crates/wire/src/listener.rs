//! The address of a daemon's HTTP API, or why it is not served.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The HTTP API of a running daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListenerState {
    /// Address of the API, such as `http://127.0.0.1:9876`; null if it could not be served.
    pub url: Option<String>,
    /// Address for a browser on the same machine, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// Why the API could not be served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ListenerState {
    /// Creates the state of an API served at `url`.
    pub fn from_url(url: String) -> Self {
        Self {
            url: Some(url),
            page_url: None,
            problem: None,
            hint: None,
        }
    }

    /// Creates the state of an API that could not be served.
    pub fn from_failure(failure: &Failure) -> Self {
        Self {
            url: None,
            page_url: None,
            problem: Some(failure.message.clone()),
            hint: failure.hint.clone(),
        }
    }
}

/// Response of `/healthz` and `/readyz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthView {
    pub ok: bool,
    /// Reasons why the check fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

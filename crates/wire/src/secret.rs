//! Secrets named in the configuration: where they are stored and whether they can be read. Never their
//! values.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// JSON output of `deft secrets list` and `deft secrets test`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretList {
    /// Whether every secret was found.
    pub ok: bool,
    pub secrets: Vec<SecretView>,
}

/// One secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretView {
    pub name: String,
    /// Reference to the secret, as written in the configuration.
    pub reference: String,
    pub source: SecretOrigin,
    /// Settings that use the secret.
    pub used_by: Vec<String>,
    pub ok: bool,
    /// Why the secret cannot be read.
    pub error: Option<String>,
}

/// Where a secret is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretOrigin {
    Keyring,
    File,
    Environment,
}

impl SecretOrigin {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Keyring => "keyring",
            Self::File => "file",
            Self::Environment => "environment",
        }
    }
}

/// JSON output of `deft secrets set`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetSecretResult {
    /// Always `true`.
    pub ok: bool,
    pub name: String,
    pub reference: String,
    pub source: SecretOrigin,
    /// Whether the configuration changed.
    pub changed: bool,
    pub warnings: Vec<String>,
}

/// JSON output of `deft secrets rm`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretRemoved {
    /// Always `true`.
    pub ok: bool,
    pub removed: String,
    pub warnings: Vec<String>,
}

//! Secrets: which ones the configuration names, where they are, and whether they can be read. Never a value.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document of `deft secrets list` and `deft secrets test`.
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
    /// Where it is, as the configuration writes it.
    pub reference: String,
    pub source: SecretOrigin,
    /// Settings that name it.
    pub used_by: Vec<String>,
    pub ok: bool,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// What holds a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretOrigin {
    Keyring,
    File,
    Environment,
}

impl SecretOrigin {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Keyring => "keyring",
            Self::File => "file",
            Self::Environment => "environment",
        }
    }
}

/// The document of `deft secrets set`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretStored {
    /// Always `true`.
    pub ok: bool,
    pub name: String,
    pub reference: String,
    pub source: SecretOrigin,
    /// Whether the configuration changed.
    pub changed: bool,
    pub warnings: Vec<String>,
}

/// The document of `deft secrets rm`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretRemoved {
    /// Always `true`.
    pub ok: bool,
    pub removed: String,
    pub warnings: Vec<String>,
}

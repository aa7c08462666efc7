//! Facts that agents remember.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact stored by an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactView {
    pub id: i64,
    /// The agent that stored the fact.
    pub agent_id: String,
    pub category: String,
    pub text: String,
    /// Origin of the fact, such as a run.
    pub source: Option<String>,
    #[schemars(with = "String")]
    pub at: Timestamp,
}

/// A list of facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactList {
    pub facts: Vec<FactView>,
}

/// A deleted fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgottenFact {
    pub forgotten: i64,
}

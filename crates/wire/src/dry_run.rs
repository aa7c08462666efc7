//! Preview of a run that has not begun.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Effects, FailureClass, Object, StepType, Tier};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{list_of_words, words};

/// Preview of a run: what it would do, as far as this is known before it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DryRun {
    pub diagnostics: Vec<DryDiagnostic>,
    pub skill: String,
    pub revision: String,
    #[schemars(schema_with = "words::<Tier>")]
    pub tier: Tier,
    pub inputs: Object,
    pub steps: Vec<DryStep>,
    /// Always true.
    pub dry_run: bool,
}

/// A problem found before the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DryDiagnostic {
    pub rule: String,
    pub severity: String,
    pub message: String,
    pub help: Option<String>,
}

/// Whether a step would run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DryVerdict {
    Run,
    /// The condition of the step is false.
    Skip,
    /// The condition depends on results of earlier steps.
    Depends,
}

/// Preview of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DryStep {
    pub id: String,
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::<StepType>")]
    pub kind: StepType,
    /// Position in the order of execution: 1 for steps that begin at once, 2 for steps that wait for them, …
    pub wave: usize,
    pub verdict: DryVerdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Name of the tool or skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Arguments of the call, or the prompt for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// Paths within the step whose values depend on results of earlier steps. They still contain templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    #[schemars(schema_with = "words::<Effects>")]
    pub effects: Effects,
    /// Approval that would be asked before the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub repeat: Option<DryLoop>,
    pub on_error: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heals: Vec<DryHeal>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Loop of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DryLoop {
    pub var: String,
    pub concurrency: u32,
    /// The items, if known.
    pub items: Option<Vec<Value>>,
}

/// A heal rule of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DryHeal {
    /// Failure classes that the rule handles.
    #[schemars(schema_with = "list_of_words::<FailureClass>")]
    pub when: Vec<FailureClass>,
    pub tool: String,
}

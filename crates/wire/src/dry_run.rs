//! What a run would do, before it begins.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Effects, FailureClass, Object, StepType, Tier};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{list_of_words, words};

/// What a run would do, as far as that is known before it begins.
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

/// A problem that was found before the run.
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
    /// Its condition is false.
    Skip,
    /// It depends on results.
    Depends,
}

/// A step of a run that has not begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DryStep {
    pub id: String,
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::<StepType>")]
    pub kind: StepType,
    /// 1 for the steps that begin at once, 2 for those that wait for them, …
    pub wave: usize,
    pub verdict: DryVerdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The tool or skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its arguments, or what a model would be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// Places that depend on results. They hold templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    #[schemars(schema_with = "words::<Effects>")]
    pub effects: Effects,
    /// The question that would be asked before it.
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

/// The loop around a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DryLoop {
    pub var: String,
    pub concurrency: u32,
    /// The items, if they are known.
    pub items: Option<Vec<Value>>,
}

/// A remedy of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DryHeal {
    /// The failures it answers to.
    #[schemars(schema_with = "list_of_words::<FailureClass>")]
    pub when: Vec<FailureClass>,
    pub tool: String,
}

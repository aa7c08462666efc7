//! Converts workflows of n8n into workflows of deft, if every node has a counterpart. Otherwise nothing is
//! written, and each node without a counterpart is reported with the reason.
//!
//! n8n runs a node once for each item that the node before it returns; the workflow of deft processes one
//! item.

mod branch;
mod code;
mod document;
mod expression;
mod flow;
mod nodes;
mod triggers;

use std::sync::Arc;

use deft_model::{Object, Policy, Workflow};
use deft_skillfile::{Moment, slug};
use serde_json::Value;

use self::document::Document;
pub(super) use self::document::is_workflow;
use super::workflow::{self, timing, workflow_skill};

/// A node without a counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeProblem {
    pub name: String,
    pub kind: String,
    pub reason: String,
}

/// A workflow in deft's format.
#[derive(Debug)]
pub(super) struct ConvertedWorkflow {
    pub id: String,
    pub content: String,
    pub notes: Vec<String>,
    /// Whether it has a schedule that the user must enable, because n8n may still run it.
    pub disabled: bool,
    /// The tools that its steps call.
    pub tools: Vec<String>,
}

/// Converts a workflow; `stem` is the default for its name.
pub(super) fn convert(
    value: &Value,
    stem: &str,
    moment: &Moment,
) -> Result<ConvertedWorkflow, Vec<NodeProblem>> {
    let document = Document::read(value);
    let title = document.name.unwrap_or(stem);
    let whole = |reason: String| {
        vec![NodeProblem {
            name: title.to_owned(),
            kind: "workflow".to_owned(),
            reason,
        }]
    };
    let flow = flow::walk(&document);
    if !flow.problems.is_empty() {
        return Err(flow.problems);
    }
    if flow.steps.is_empty() {
        return Err(whole(
            "it has no node that does something after a trigger".to_owned(),
        ));
    }
    let mut notes = flow.notes;
    if document.has_error_workflow {
        notes.push("not kept: the error workflow".to_owned());
    }
    let calls = flow.steps.iter().filter_map(|step| step.kind.tool_call());
    let tools = calls.map(|(tool, _)| tool.to_owned()).collect();
    let id = match slug(title) {
        empty if empty.is_empty() => "n8n-workflow".to_owned(),
        id => id,
    };
    let steps = Workflow {
        steps: flow.steps,
        ..Workflow::default()
    };
    let mut skill = workflow_skill(&id, format!("The workflow `{title}` of n8n"), steps);
    skill.open.metadata = Object::from_iter([("n8n".to_owned(), Value::from(title))]);
    let disabled = flow.schedule.is_some();
    if let Some(schedule) = &flow.schedule {
        skill.timing = Some(timing(schedule, document.zone));
        skill.policy = Arc::new(Policy {
            enabled: false,
            ..Policy::default()
        });
    }
    let content = workflow::file(&skill, moment).map_err(whole)?;
    Ok(ConvertedWorkflow {
        id,
        content,
        notes,
        disabled,
        tools,
    })
}

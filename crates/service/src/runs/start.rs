//! Prepares runs: the steps of a skill, its inputs, and the admission of a run.
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use deft_config::env;
use deft_engine::{Error, Fire};
use deft_model::{Cause, InputType, Object, RunOrigin, TraceContext};
use deft_wire::dry_run::DryRun;
use deft_wire::run::{RunView, StepStatus};
use deft_wire::{Done, Failure};
use deft_workflow::Plan;
use serde_json::Value;

use super::{find_row, view};
use crate::app::{self, App};

/// Maximum size of a file with inputs.
const MAX_INPUTS: u64 = 64 * 1024 * 1024;

/// A request to start a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartRun {
    /// The skill, by id.
    pub skill: String,
    /// The inputs.
    pub inputs: Object,
    /// The recorded cause.
    pub cause: Cause,
    /// The key of the run; a key never runs twice.
    pub key: Option<String>,
    /// The request that asks for the run.
    pub origin: RunOrigin,
}

/// Returns the trace context of the parent process, from the variables `TRACEPARENT` and `TRACESTATE`.
pub fn caller_origin() -> RunOrigin {
    let parent = env::text(env::TRACEPARENT).ok();
    let state = env::text(env::TRACESTATE).ok();
    let trace = parent.and_then(|parent| TraceContext::parse(&parent, state.as_deref()).ok());
    RunOrigin {
        request_id: None,
        trace: trace.map(Arc::new),
    }
}

impl From<StartRun> for Fire {
    fn from(start: StartRun) -> Self {
        Self {
            skill: start.skill,
            inputs: start.inputs,
            cause: start.cause,
            key: start.key,
            origin: start.origin,
            ..Self::default()
        }
    }
}

/// A skill that is ready to run.
pub struct PreparedSkill(Arc<Plan>);

/// An input of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputName<'a> {
    /// The name.
    pub name: &'a str,
    /// Whether the input is required and has no default.
    pub needed: bool,
    /// Whether the input is boolean, so that its name alone sets it to true.
    pub is_switch: bool,
}

/// A step of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// The id.
    pub id: String,
    /// A short description: the tool, `compute`, …
    pub what: String,
    /// Its status in a run that is resumed.
    pub status: StepStatus,
    /// How long it took, if it has ended.
    pub took: Option<Duration>,
}

/// Why a skill cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrepareError {
    /// The failure.
    pub failure: Failure,
    /// The skill file with the error, if that is the reason.
    pub broken_file: Option<PathBuf>,
}

/// Prepares a skill to be run.
pub fn prepare(app: &App, skill: &str) -> Result<PreparedSkill, PrepareError> {
    let plan = app.block_on(app.engine.plan(skill));
    plan.map(PreparedSkill).map_err(|error| PrepareError {
        failure: app::failure(&error),
        broken_file: if let Error::BrokenSkill { path, .. } = error {
            Some(path.into())
        } else {
            None
        },
    })
}

impl PreparedSkill {
    /// Returns the declared inputs of the skill.
    pub fn inputs(&self) -> impl Iterator<Item = InputName<'_>> {
        self.0.inputs().iter().map(|input| InputName {
            name: &input.name,
            needed: input.required && input.default.is_none(),
            is_switch: input.kind == InputType::Boolean,
        })
    }

    /// Parses a value from the command line for an input.
    pub fn read_input(&self, name: &str, text: &str) -> Value {
        deft_workflow::read_input(self.0.inputs(), name, text)
    }

    /// Returns the steps of the skill.
    pub fn steps(&self) -> Vec<PlannedStep> {
        steps(&self.0)
    }
}

/// Returns the current steps of the skill of a run; empty if the skill no longer exists.
pub fn planned_steps(app: &App, id: &str) -> Done<Vec<PlannedStep>> {
    let row = find_row(app, id)?;
    let plan = app.block_on(app.engine.plan(&row.skill));
    Ok(plan.map_or_else(|_| Vec::new(), |plan| steps(&plan)))
}

/// Like [`planned_steps`], with the status of the steps that are over: a resumed run continues after them. A
/// failed step is tried again.
pub fn remaining_steps(app: &App, id: &str) -> Done<Vec<PlannedStep>> {
    let detail = super::detail(app, id)?;
    let mut steps = planned_steps(app, id)?;
    for step in &mut steps {
        let known = detail.steps.iter().find(|known| known.id == step.id);
        let Some(known) = known.filter(|known| known.status != StepStatus::Error) else {
            continue;
        };
        if known.status.has_ended() {
            step.status = known.status;
            step.took = known.duration_ms.map(Duration::from_millis);
        }
    }
    Ok(steps)
}

fn steps(plan: &Plan) -> Vec<PlannedStep> {
    let steps = plan.steps();
    let steps = steps.map(|step| PlannedStep {
        id: step.id.clone(),
        what: step.kind.label(),
        status: StepStatus::Pending,
        took: None,
    });
    steps.collect()
}

/// Returns the steps that a run would take. Nothing is called.
pub fn dry_run(app: &App, skill: &str, inputs: &Object) -> Done<DryRun> {
    app.block_on(app.engine.dry_run(skill, inputs))
        .map_err(|error| app::failure(&error))
}

/// Stores a run for a daemon to drive.
pub fn queue(app: &App, start: StartRun) -> Done<RunView> {
    let cause = Cause::Detached;
    admit(app, StartRun { cause, ..start })
}

/// Stores a run that this process or another one drives later.
pub fn admit(app: &App, start: StartRun) -> Done<RunView> {
    let admitted = app.block_on(app.engine.admit(start.into()));
    view(admitted.map_err(|error| app::failure(&error))?.run())
}

/// Reads a file with inputs. Only regular files are read, up to a limit.
pub fn read_input_file(path: &Path) -> io::Result<String> {
    deft_registry::read_text(path, MAX_INPUTS)
}

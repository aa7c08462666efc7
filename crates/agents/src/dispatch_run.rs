//! The inputs of a run that is an agent with a mission. Not here: what fires it.

use deft_base::{Error, run_inputs};
use deft_library::DISPATCH_SKILL;
use deft_store::RunRow;
use serde::{Deserialize, Serialize};

/// The inputs of a run that is an agent with a mission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DispatchInputs {
    /// The task of the agent.
    pub mission: String,
    /// Facts that the agent should know.
    pub context: String,
    /// Ids of the skills that it may use.
    pub skills: Vec<String>,
}

/// Returns the skills that the agent of such a run may use; `None` for any other run.
pub(crate) fn dispatched_skills(run: &RunRow) -> Result<Option<Vec<String>>, Error> {
    if run.skill != DISPATCH_SKILL {
        return Ok(None);
    }
    let inputs: DispatchInputs = run_inputs(run)?;
    Ok(Some(inputs.skills))
}

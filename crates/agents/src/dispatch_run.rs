//! What the inputs of a run say that is an agent with a mission. Not here: what fires it.

use deft_base::{Error, run_inputs};
use deft_library::DISPATCH_SKILL;
use deft_store::RunRow;
use serde::{Deserialize, Serialize};

/// The inputs of such a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DispatchInputs {
    /// What the agent is to do.
    pub mission: String,
    /// What it should know.
    pub context: String,
    /// Ids of the skills that it may use.
    pub skills: Vec<String>,
}

/// The skills that the agent of such a run may use; none for every other run.
pub(crate) fn dispatched_skills(run: &RunRow) -> Result<Option<Vec<String>>, Error> {
    if run.skill != DISPATCH_SKILL {
        return Ok(None);
    }
    let inputs: DispatchInputs = run_inputs(run)?;
    Ok(Some(inputs.skills))
}

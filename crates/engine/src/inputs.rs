//! Arguments of a skill when a run is admitted: inputs of a workflow, flags of a command.
use deft_library::{PinnedSkill, handler_tool};
use deft_model::{Body, Object};
use deft_workflow::check_inputs;

use crate::Error;
use crate::engine::Inner;

impl Inner {
    /// Checks the inputs of a run, and returns them as they are recorded.
    pub(crate) async fn inputs(
        &self,
        pinned: &PinnedSkill,
        given: &Object,
    ) -> Result<Object, Error> {
        if handler_tool(&pinned.skill).is_some() {
            self.learn_tools(pinned).await;
        }
        self.inputs_as_known(pinned, given)
    }

    /// Like [`Self::inputs`], with the stored tools only. Starts no server.
    pub(crate) fn inputs_as_known(
        &self,
        pinned: &PinnedSkill,
        given: &Object,
    ) -> Result<Object, Error> {
        if !matches!(pinned.skill.body, Body::Manual { .. }) {
            return check_inputs(pinned.plan.inputs(), given).map_err(Error::Inputs);
        }
        let snapshot = self.library.snapshot();
        let commands = self.library.commands(&*snapshot);
        let checked = commands.check_arguments(&pinned.skill, given.clone());
        checked.map_err(Error::Flags)
    }
}

//! Preparation of the agents of a run; `deft-agents` builds their setups.

use deft_agent::{Address, Dispatch, Setup};
use deft_agents::Brief;
use deft_model::{Failure, FailureClass};

use crate::agent_result::AgentResult;
use crate::perform::Performer;

impl Performer {
    /// Builds the setup of the agent of a step. If the check before the run failed (`unchecked`), tries it
    /// again first.
    pub(crate) async fn ready(self, brief: Brief, unchecked: bool) -> AgentResult {
        let checked = if unchecked {
            self.engine.check_again(&brief).await
        } else {
            Ok(None)
        };
        let result = match checked {
            Ok(Some(why)) => return AgentResult::Idle(why),
            Ok(None) => self.engine.agents.setup(&brief).await,
            Err(failure) => Err(failure),
        };
        AgentResult::Prepared {
            agent: Address::root(),
            result,
        }
    }

    /// Builds the setup of an agent that another agent dispatches.
    pub(crate) fn prepare_child(
        &self,
        agent: &Address,
        dispatch: &Dispatch,
        parent: Option<&Setup>,
    ) -> Result<Box<Setup>, Failure> {
        let parent = parent
            .ok_or_else(|| Failure::new(FailureClass::Other, "the parent agent has no setup"))?;
        let setup = self.engine.agents.child_setup(agent, dispatch, parent);
        setup.map(Box::new)
    }
}

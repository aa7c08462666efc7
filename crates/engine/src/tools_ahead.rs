//! Information about the tools of a skill before it runs.

use deft_agent::{Address, Machine as Agent};
use deft_library::PinnedSkill;
use deft_model::{Failure, FailureClass, OnError, Outage, is_template};
use deft_tools::ToolLookup;
use deft_workflow::Path;

use crate::engine::Inner;

impl Inner {
    /// Lists the servers of a skill's tools if any tool is unknown, before a step depends on it.
    pub(crate) async fn learn_tools(&self, pinned: &PinnedSkill) {
        self.learn(pinned.plan.tools()).await;
    }

    /// Like [`Self::learn_tools`], for resumed agents: another process has offered them their tools.
    pub(crate) async fn learn_offers(&self, agents: &[(Path, Agent)]) {
        let setups = agents
            .iter()
            .filter_map(|(_, it)| it.setup(&Address::root()));
        let offers = setups.flat_map(|setup| &setup.tools);
        self.learn(offers.map(|offer| offer.tool.as_str())).await;
    }

    async fn learn(&self, tools: impl IntoIterator<Item = &str>) {
        let router = &self.parts.router;
        let unknown = |tool: &str| {
            !router.has_tool(tool) && matches!(router.find(tool), ToolLookup::Unknown { .. })
        };
        if tools.into_iter().any(unknown) {
            // A server that cannot be started is reported when its tool is called.
            drop(router.list_servers().await);
        }
    }

    /// Returns the failure for a tool that the run is certain to call and that is missing: it is better
    /// reported before the first step has done anything. A tool of a server that could not be listed is
    /// unknown, not missing: the call itself reports what is wrong with the server.
    pub(crate) fn missing_tool(&self, pinned: &PinnedSkill) -> Option<Failure> {
        let sure = pinned
            .plan
            .steps()
            .filter(|step| step.condition.is_none() && step.on_error != OnError::Continue);
        sure.filter_map(|step| {
            let (tool, _) = step.kind.tool_call()?;
            (!is_template(tool)).then_some((&step.id, tool))
        })
        .filter(|(_, tool)| !self.parts.router.has_tool(tool))
        .find_map(|(step, tool)| match self.parts.router.find(tool) {
            ToolLookup::Missing { nearest } => {
                Some(match self.parts.router.failure_if_disabled(tool) {
                    Some(off) => disabled_tool_failure(step, tool, off),
                    None => absent(step, tool, &nearest),
                })
            }
            ToolLookup::Tool(_) | ToolLookup::Ambiguous(_) | ToolLookup::Unknown { .. } => None,
        })
    }
}

/// Returns the failure that the call of a disabled tool would have, for the time before the first step.
fn disabled_tool_failure(step: &str, tool: &str, off: Failure) -> Failure {
    let message = format!("step `{step}` cannot run: {}", off.message);
    Failure { message, ..off }.outage(Outage::Tool(tool.to_owned()))
}

fn absent(step: &str, tool: &str, nearest: &[String]) -> Failure {
    let message = format!("step `{step}` needs the tool `{tool}`, which no server offers");
    let hint = match nearest.first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft tools list` shows all tools".to_owned(),
    };
    Failure::new(FailureClass::NotFound, message)
        .hint(hint)
        .mark_blocked()
        .outage(Outage::Tool(tool.to_owned()))
}

//! What can be known of the tools of a skill before it runs.

use deft_agent::{Address, Machine as Agent};
use deft_library::PinnedSkill;
use deft_model::{Failure, FailureClass, OnError, Outage};
use deft_tools::ToolLookup;
use deft_workflow::Path;

use crate::engine::Inner;

impl Inner {
    /// Learns what the tools of a skill are like, before a step is begun that depends on it.
    pub(crate) async fn learn_tools(&self, pinned: &PinnedSkill) {
        self.learn(pinned.plan.tools()).await;
    }

    /// The same for agents that are taken up again: they were offered their tools by another
    /// process.
    pub(crate) async fn learn_offers(&self, agents: &[(Path, Agent)]) {
        let setups = agents
            .iter()
            .filter_map(|(_, it)| it.setup(&Address::root()));
        let offers = setups.flat_map(|setup| &setup.tools);
        self.learn(offers.map(|offer| offer.tool.as_str())).await;
    }

    async fn learn(&self, tools: impl IntoIterator<Item = &str>) {
        let router = &self.parts.router;
        let unknown = |tool: &str| matches!(router.find(tool), ToolLookup::Unknown { .. });
        if tools.into_iter().any(unknown) {
            // A server that cannot be started is told of when its tool is called.
            drop(router.listed().await);
        }
    }

    /// A tool that the run is sure to call and that is not there: better said before the first
    /// step has done anything. A tool of a server that could not be asked is unknown, not missing:
    /// its call says what is wrong with the server.
    pub(crate) fn missing_tool(&self, pinned: &PinnedSkill) -> Option<Failure> {
        let sure = pinned
            .plan
            .steps()
            .filter(|step| step.condition.is_none() && step.on_error != OnError::Continue);
        sure.filter_map(|step| {
            let (tool, _) = step.kind.tool_call()?;
            (!tool.contains("{{")).then_some((&step.id, tool))
        })
        .find_map(|(step, tool)| match self.parts.router.find(tool) {
            ToolLookup::Missing { nearest } => Some(match self.parts.router.switched_off(tool) {
                Some(off) => switched_off(step, tool, off),
                None => absent(step, tool, &nearest),
            }),
            ToolLookup::Tool(_) | ToolLookup::Ambiguous(_) | ToolLookup::Unknown { .. } => None,
        })
    }
}

/// The same failure as of its call, before the first step.
fn switched_off(step: &str, tool: &str, off: Failure) -> Failure {
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
        .blocked()
        .outage(Outage::Tool(tool.to_owned()))
}

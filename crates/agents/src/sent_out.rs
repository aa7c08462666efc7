//! The setup of a dispatched agent, which gets nothing that the dispatching agent may not use.

use std::sync::Arc;

use deft_agent::prompt::{Caps, DispatchInput, assemble_dispatched, line};
use deft_agent::{Address, Dispatch, Limits, Mode, Offer, Setup, ShelfTool};
use deft_model::{Agent, AgentMode, Authority, Failure, FailureClass};
use deft_tools::ToolLookup;

use crate::tool_names::{DISPATCH_AGENT, FOR_COMMANDS};
use crate::{Agents, offers};

impl Agents {
    /// Returns the setup of a dispatched agent, which gets nothing that the dispatching agent may not use.
    pub fn child_setup(
        &self,
        address: &Address,
        dispatch: &Dispatch,
        parent: &Setup,
    ) -> Result<Setup, Failure> {
        let defined = self.agent_definition(&dispatch.agent_id);
        let own = defined
            .as_ref()
            .map(|agent| agent.prompt.read().into_owned());
        let (model, mode) = match &defined {
            Some(agent) if agent.model.is_some() || agent.mode != AgentMode::Auto => {
                let chosen = self.choose_model(&agent.id)?;
                (chosen.model, chosen.mode)
            }
            _ => (parent.model.clone(), parent.mode),
        };
        let snapshot = self.library.snapshot();
        let mut tools: Vec<Offer> = Vec::new();
        let mut skills = Vec::new();
        let mut entries = Vec::new();
        for name in &dispatch.skills {
            let offered = |offer: &&Offer| offer.tool == *name || offer.spec.name == *name;
            let offer = parent.tools.iter().find(offered).cloned();
            if let Some(offer) = offer.or_else(|| self.off_the_shelf(parent, name)) {
                if let Some(agent) = &defined
                    && agent.may_use_tool(&offer.tool) == Some(false)
                {
                    return Err(not_for(name, &agent.id));
                }
                entries.push(line(&offer.spec.name, &offer.spec.description));
                tools.push(self.asked_first(&offer, defined.as_ref()));
                continue;
            }
            let in_scope = |id: &str| match &parent.skills {
                Some(scope) => scope.iter().any(|allowed| allowed == id),
                None => true,
            };
            match snapshot.find(name) {
                Some(loaded) if in_scope(loaded.skill.id.as_str()) => {
                    let skill = &loaded.skill;
                    let (id, domain) = (skill.id.as_str(), skill.domain.as_deref());
                    if let Some(agent) = &defined
                        && agent.skills.is_some()
                        && !agent.may_use_skill(id, domain)
                    {
                        return Err(not_for(name, &agent.id));
                    }
                    entries.push(line(id, &skill.description));
                    skills.push(id.to_owned());
                }
                _ => return Err(not_permitted(name)),
            }
        }
        if !skills.is_empty() && mode == Mode::Tools {
            for name in FOR_COMMANDS {
                let known = parent.tools.iter().find(|offer| offer.tool == name);
                let approve = self.options.approve.as_slice();
                let offer = match known {
                    Some(offer) => vec![offer.clone()],
                    None => offers::exactly(&self.router, &[name.to_owned()], approve)?,
                };
                tools.extend(offer);
            }
        }
        // At the maximum depth, an agent may not dispatch others.
        if address.depth() >= usize::try_from(parent.limits.max_depth).unwrap_or(usize::MAX) {
            tools.retain(|offer| offer.tool != DISPATCH_AGENT);
        }
        let prompt = assemble_dispatched(
            &DispatchInput {
                own: own.as_deref().unwrap_or_default(),
                mode,
                skills: &entries,
                context: &dispatch.context,
                now: &self.time_in_words(),
            },
            &Caps::default(),
        );
        let max_steps = defined.as_ref().and_then(|agent| agent.max_steps);
        let authority = child_authority(dispatch, parent, &tools, &skills, defined.as_ref());
        let context = self.context_of(&model);
        Ok(Setup {
            agent: dispatch.agent_id.clone(),
            model,
            mode,
            system: prompt.parts.into(),
            conversation: None,
            history: Arc::default(),
            task: dispatch.mission.clone(),
            tools,
            shelf: Vec::new(),
            skills: Some(skills),
            must_call: Vec::new(),
            limits: Limits {
                max_steps: max_steps.unwrap_or(parent.limits.max_steps),
                context,
                ..parent.limits
            },
            authority,
        })
    }

    /// Returns a tool that the dispatching agent may use but was not offered yet.
    fn off_the_shelf(&self, parent: &Setup, name: &str) -> Option<Offer> {
        let called = |it: &&ShelfTool| it.tool == name || it.name == name;
        let shelved = parent.shelf.iter().find(called)?;
        Some(Offer {
            spec: offers::describe_tool(&self.router, shelved)?,
            tool: shelved.tool.clone(),
            approve: shelved.approve,
        })
    }

    /// Returns a tool for the dispatched agent. It needs an approval if either agent requires one.
    fn asked_first(&self, offer: &Offer, agent: Option<&Agent>) -> Offer {
        let asks = agent.is_some_and(|agent| match self.router.find(&offer.tool) {
            ToolLookup::Tool(info) => offers::needs_approval(&info, &agent.approve),
            ToolLookup::Ambiguous(_) | ToolLookup::Missing { .. } | ToolLookup::Unknown { .. } => {
                false
            }
        });
        Offer {
            approve: offer.approve || asks,
            ..offer.clone()
        }
    }
}

/// Returns the rights of a dispatched agent: those of the dispatching agent, for the skills and tools passed
/// on.
fn child_authority(
    dispatch: &Dispatch,
    parent: &Setup,
    tools: &[Offer],
    skills: &[String],
    defined: Option<&Agent>,
) -> Authority {
    let own = Authority {
        agent: dispatch.agent_id.clone(),
        tools: vec![tools.iter().map(|offer| offer.tool.clone()).collect()],
        approve: defined
            .map(|agent| agent.approve.clone())
            .unwrap_or_default(),
        skills: Some(skills.to_vec()),
        ..parent.authority.not_agreed()
    };
    own.and(&parent.authority)
}

fn not_permitted(name: &str) -> Failure {
    Failure::new(
        FailureClass::NotFound,
        format!("`{name}` cannot be passed on: you do not have it yourself"),
    )
}

fn not_for(name: &str, agent: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("`{name}` cannot be passed on: the AGENT.md of `{agent}` leaves it out"),
    )
}

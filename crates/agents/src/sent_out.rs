//! The setup of a dispatched agent, which gets nothing that the dispatching agent may not use.

use std::sync::Arc;

use deft_agent::prompt::{Caps, DispatchInput, assemble_dispatched, line};
use deft_agent::{Address, Dispatch, Limits, Mode, Offer, Setup, ShelfTool};
use deft_model::{Agent, AgentMode, Authority, Failure, FailureClass, PromptEntry};
use deft_tools::ToolLookup;

use crate::tool_names::{DISPATCH_AGENT, FOR_COMMANDS};
use crate::{Agents, offers};

/// What a dispatching agent passes on.
#[derive(Default)]
struct PassedOn {
    tools: Vec<Offer>,
    /// The ids of skills.
    skills: Vec<String>,
    /// A line for the prompt about each tool and skill.
    entries: Vec<PromptEntry>,
}

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
        let PassedOn {
            mut tools,
            skills,
            entries,
        } = self.passed_on(dispatch, parent, defined.as_ref())?;
        if !skills.is_empty() && mode == Mode::Tools {
            tools.extend(self.command_tools(parent)?);
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

    /// Returns the tools and skills that a dispatch names. The error is about the first one that the
    /// dispatching agent or the dispatched one may not use.
    fn passed_on(
        &self,
        dispatch: &Dispatch,
        parent: &Setup,
        defined: Option<&Agent>,
    ) -> Result<PassedOn, Failure> {
        let snapshot = self.library.snapshot();
        let mut passed = PassedOn::default();
        for name in &dispatch.skills {
            let offered = |offer: &&Offer| offer.tool == *name || offer.spec.name == *name;
            let offer = parent.tools.iter().find(offered).cloned();
            if let Some(offer) = offer.or_else(|| self.off_the_shelf(parent, name)) {
                if let Some(agent) = defined
                    && agent.may_use_tool(&offer.tool) == Some(false)
                {
                    return Err(not_for(name, &agent.id));
                }
                let entry = line(&offer.spec.name, &offer.spec.description);
                passed.entries.push(entry);
                passed.tools.push(self.asked_first(&offer, defined));
                continue;
            }
            let in_scope = |id: &str| match &parent.skills {
                Some(scope) => scope.iter().any(|allowed| allowed == id),
                None => true,
            };
            let found = snapshot.find(name).map(|loaded| &loaded.skill);
            let Some(skill) = found.filter(|skill| in_scope(skill.id.as_str())) else {
                return Err(not_permitted(name));
            };
            let (id, domain) = (skill.id.as_str(), skill.domain.as_deref());
            if let Some(agent) = defined
                && agent.skills.is_some()
                && !agent.may_use_skill(id, domain)
            {
                return Err(not_for(name, &agent.id));
            }
            passed.entries.push(line(id, &skill.description));
            passed.skills.push(id.to_owned());
        }
        Ok(passed)
    }

    /// Returns the tools that call commands, as the dispatching agent has them.
    fn command_tools(&self, parent: &Setup) -> Result<Vec<Offer>, Failure> {
        let mut tools = Vec::new();
        for name in FOR_COMMANDS {
            match parent.tools.iter().find(|offer| offer.tool == name) {
                Some(offer) => tools.push(offer.clone()),
                None => {
                    let approve = self.options.approve.as_slice();
                    tools.extend(offers::exactly(&self.router, &[name.to_owned()], approve)?);
                }
            }
        }
        Ok(tools)
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

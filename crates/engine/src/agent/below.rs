//! What an agent begins with that another one sends out (S2.59, S2.60): nothing that the sender could
//! not use itself, and nothing that its own AGENT.md leaves out.

use std::sync::Arc;

use deft_agent::prompt::{Caps, SentOut, line, sent_out};
use deft_agent::{Address, Dispatch, Limits, Mode, Offer, Setup};
use deft_model::{Agent, AgentMode, Failure, FailureClass, PromptEntry};
use deft_registry::Snapshot;
use deft_store::RunRow;
use deft_tools::Found;

use super::offers;
use super::prepare::FOR_COMMANDS;
use super::tools::DISPATCH_AGENT;
use crate::engine::Inner;
use crate::perform::Performer;

/// What the agent may use.
#[derive(Default)]
struct Passed {
    tools: Vec<Offer>,
    skills: Vec<String>,
    entries: Vec<PromptEntry>,
}

impl Performer {
    /// What an agent begins with that another one sends out.
    pub(crate) fn prepare_child(
        &self,
        run: &RunRow,
        agent: &Address,
        dispatch: &Dispatch,
        parent: Option<&Setup>,
    ) -> Result<Box<Setup>, Failure> {
        let parent = parent.ok_or_else(|| {
            Failure::new(FailureClass::Other, "the agent that sends it out is gone")
        })?;
        let setup = self.engine.child_setup(run, agent, dispatch, parent);
        setup.map(Box::new)
    }
}

impl Inner {
    fn child_setup(
        &self,
        _run: &RunRow,
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
                let voice = self.voice(&agent.id)?;
                (voice.model, voice.mode)
            }
            _ => (parent.model.clone(), parent.mode),
        };
        let mut passed = self.passed_on(dispatch, parent, defined.as_ref())?;
        if !passed.skills.is_empty() && mode == Mode::Tools {
            passed.tools.extend(self.for_commands(parent)?);
        }
        // Beyond the depth that is allowed nobody is sent out.
        if address.depth() >= usize::try_from(parent.limits.max_depth).unwrap_or(usize::MAX) {
            passed.tools.retain(|offer| offer.tool != DISPATCH_AGENT);
        }
        let prompt = sent_out(
            &SentOut {
                own: own.as_deref().unwrap_or_default(),
                mode,
                skills: &passed.entries,
                context: &dispatch.context,
                now: &self.time_in_words(),
            },
            &Caps::default(),
        );
        let max_steps = defined.as_ref().and_then(|agent| agent.max_steps);
        Ok(Setup {
            agent: dispatch.agent_id.clone(),
            model,
            mode,
            system: prompt.parts.into(),
            conversation: None,
            history: Arc::default(),
            task: dispatch.mission.clone(),
            tools: passed.tools,
            skills: Some(passed.skills),
            must_call: Vec::new(),
            limits: Limits {
                max_steps: max_steps.unwrap_or(parent.limits.max_steps),
                ..parent.limits
            },
        })
    }

    /// The tools and skills that a dispatch names.
    fn passed_on(
        &self,
        dispatch: &Dispatch,
        parent: &Setup,
        defined: Option<&Agent>,
    ) -> Result<Passed, Failure> {
        let snapshot = self.parts.skills.snapshot();
        let mut passed = Passed::default();
        for name in &dispatch.skills {
            let offered = |offer: &&Offer| offer.tool == *name || offer.spec.name == *name;
            let Some(offer) = parent.tools.iter().find(offered) else {
                let (id, entry) = skill(&snapshot, name, parent, defined)?;
                passed.entries.push(entry);
                passed.skills.push(id);
                continue;
            };
            if let Some(agent) = defined
                && agent.may_use_tool(&offer.tool) == Some(false)
            {
                return Err(not_for(name, &agent.id));
            }
            let entry = line(&offer.spec.name, &offer.spec.description);
            passed.entries.push(entry);
            passed.tools.push(self.asked_first(offer, defined));
        }
        Ok(passed)
    }

    /// The tools with which commands are called.
    fn for_commands(&self, parent: &Setup) -> Result<Vec<Offer>, Failure> {
        let mut offers = Vec::new();
        for name in FOR_COMMANDS {
            match parent.tools.iter().find(|offer| offer.tool == name) {
                Some(offer) => offers.push(offer.clone()),
                None => {
                    let approve = self.options.agent.approve.as_slice();
                    let names = [name.to_owned()];
                    offers.extend(offers::exactly(&self.parts.router, &names, approve)?);
                }
            }
        }
        Ok(offers)
    }

    /// A tool that is passed on; what the one who gets it is asked about counts too.
    fn asked_first(&self, offer: &Offer, agent: Option<&Agent>) -> Offer {
        let asks = agent.is_some_and(|agent| match self.parts.router.find(&offer.tool) {
            Found::Tool(info) => offers::needs_approval(&info, &agent.approve),
            _ => false,
        });
        Offer {
            approve: offer.approve || asks,
            ..offer.clone()
        }
    }
}

/// A skill that is passed on, with its line in the prompt.
fn skill(
    snapshot: &Snapshot,
    name: &str,
    parent: &Setup,
    defined: Option<&Agent>,
) -> Result<(String, PromptEntry), Failure> {
    let in_scope = |id: &str| match &parent.skills {
        Some(scope) => scope.iter().any(|allowed| allowed == id),
        None => true,
    };
    let found = snapshot.find(name).map(|loaded| &loaded.skill);
    let Some(skill) = found.filter(|skill| in_scope(skill.id.as_str())) else {
        return Err(out_of_reach(name));
    };
    let (id, domain) = (skill.id.as_str(), skill.domain.as_deref());
    match defined {
        Some(agent) if agent.skills.is_some() && !agent.may_use_skill(id, domain) => {
            Err(not_for(name, &agent.id))
        }
        _ => Ok((id.to_owned(), line(id, &skill.description))),
    }
}

fn out_of_reach(name: &str) -> Failure {
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

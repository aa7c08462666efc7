//! `dispatch_agent` for people and programs: a run of one agent with a mission and exactly the named skills
//! and tools. Not here: agents that agents dispatch, which are part of the sender's run.

use std::sync::Arc;

use deft_agent::Dispatch;
use deft_agents::{AgentSkill, DispatchInputs, agent_input, agent_skill};
use deft_model::{Cause, Failure, FailureClass, InputType, Object, Skill};
use deft_tools::{Context, ToolLookup};
use serde_json::Value;

use super::tools::origin;
use crate::{DISPATCH_SKILL, Engine, Fire};

/// The task: the mission, then the context.
const TASK: &str = "{{ inputs.mission }}\n\n{{ inputs.context }}";

impl Engine {
    /// Runs an agent and returns its summary.
    pub(super) async fn dispatch_agent(
        &self,
        args: Object,
        context: &Context,
    ) -> Result<Value, Failure> {
        let dispatch = parse(args)?;
        let (skills, tools) = self.split_names(&dispatch.skills).await?;
        let skill = self.dispatch_skill(&dispatch.agent_id, tools);
        let inputs = DispatchInputs {
            mission: dispatch.mission,
            context: dispatch.context,
            skills,
        };
        let inputs = serde_json::to_value(inputs).ok();
        let inputs = inputs.and_then(|inputs| inputs.as_object().cloned());
        let fire = Fire {
            skill: DISPATCH_SKILL.to_owned(),
            content: Some(Arc::new(skill)),
            inputs: inputs.unwrap_or_default(),
            cause: Cause::Api,
            key: (!context.key.is_empty()).then(|| context.key.clone()),
            origin: origin(context),
            ..Fire::default()
        };
        let row = self.run_below(fire, context).await?;
        super::tools::outcome(&row)
    }

    fn dispatch_skill(&self, agent: &str, tools: Vec<String>) -> Skill {
        let defined = self.inner.agents.agent_definition(agent);
        let max_steps = defined.and_then(|agent| agent.max_steps);
        agent_skill(AgentSkill {
            id: DISPATCH_SKILL,
            description: "An agent with a mission",
            agent,
            inputs: vec![
                agent_input("mission", InputType::String, true),
                agent_input("context", InputType::String, false),
                agent_input("skills", InputType::Array, false),
            ],
            instructions: TASK,
            tools,
            max_steps: max_steps.unwrap_or(self.inner.options.agent.max_steps),
        })
    }

    /// Splits names into the ids of skills and the names of tools; a skill takes precedence.
    async fn split_names(&self, names: &[String]) -> Result<(Vec<String>, Vec<String>), Failure> {
        let known = self.library().all_skills().await;
        let (mut skills, mut tools) = (Vec::new(), Vec::new());
        for name in names {
            match (known.all.find(name), self.router().find(name)) {
                (Some(loaded), _) => skills.push(loaded.skill.id.to_string()),
                (None, ToolLookup::Tool(_) | ToolLookup::Ambiguous(_)) => tools.push(name.clone()),
                (None, ToolLookup::Missing { .. } | ToolLookup::Unknown { .. }) => {
                    let why = format!("`{name}` is neither a skill nor a tool");
                    let failure = Failure::new(FailureClass::NotFound, why);
                    return Err(failure
                        .hint("`get_skill` and `get_tool_catalog` list all skills and tools"));
                }
            }
        }
        Ok((skills, tools))
    }
}

fn parse(args: Object) -> Result<Dispatch, Failure> {
    let invalid = |why: String| Failure::new(FailureClass::Invalid, why);
    let dispatch: Dispatch = serde_json::from_value(Value::Object(args))
        .map_err(|error| invalid(format!("bad arguments: {error}")))?;
    if dispatch.mission.trim().is_empty() {
        return Err(invalid("the mission is empty".to_owned()));
    }
    Ok(dispatch)
}

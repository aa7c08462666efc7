//! Skills with one agent step that exist only for a single run: a chat, and an agent that a person or a
//! program dispatches. Not here: what fires them.

use std::sync::Arc;

use deft_model::{
    Body, Details, Dialect, Input, InputType, Object, OpenSpec, Policy, Skill, SkillId, Step,
    StepKind, Trigger, Workflow,
};
use serde_json::json;

/// The properties in which such skills differ.
pub struct AgentSkill<'a> {
    /// Id and name of the skill.
    pub id: &'a str,
    /// Description of the skill, in one line.
    pub description: &'a str,
    /// The agent that does the work.
    pub agent: &'a str,
    /// The parameters of the skill.
    pub inputs: Vec<Input>,
    /// The template of the task.
    pub instructions: &'a str,
    /// The tools that the agent may call; a chat has those of its agent instead.
    pub tools: Vec<String>,
    /// Maximum number of turns.
    pub max_steps: u32,
}

/// Returns the skill. Its only output is the text of the answer.
pub fn agent_skill(given: AgentSkill<'_>) -> Skill {
    let step = Step::new(
        "agent",
        StepKind::Agent {
            instructions: given.instructions.to_owned(),
            tools: given.tools,
            max_steps: Some(given.max_steps),
        },
    );
    Skill {
        id: SkillId::new(given.id),
        name: given.id.to_owned(),
        description: given.description.to_owned(),
        domain: None,
        dialect: Dialect::Workflow,
        trigger: Trigger::Manual,
        timing: None,
        keywords: Vec::new(),
        priority: 0,
        details: Details::default(),
        required_tools: Vec::new(),
        body: Body::Steps(Box::new(Workflow {
            inputs: given.inputs,
            steps: vec![step],
            outputs: Object::from_iter([("text".to_owned(), json!("{{ agent }}"))]),
            confirmations: Vec::new(),
        })),
        policy: Arc::new(Policy {
            agent_id: given.agent.to_owned(),
            notify_on_completion: false,
            max_steps: given.max_steps,
            ..Policy::default()
        }),
        open: OpenSpec::default(),
        extra: Object::new(),
    }
}

/// Returns a parameter without a default.
pub fn agent_input(name: &str, kind: InputType, required: bool) -> Input {
    Input {
        name: name.to_owned(),
        kind,
        required,
        default: None,
        description: None,
        pattern: None,
        choices: Vec::new(),
        max_length: None,
    }
}

//! Plans: skills prepared for running, with templates compiled and the order of steps known.
//!
//! Every body is lowered to steps: one tool call to one tool step, instructions to one agent step. A plan is
//! a pure function of the skill, so the same revision gives the same plan everywhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use deft_model::{
    Authority, Body, Dialect, Effects, Handler, Input, Object, OnError, Skill, Step, StepKind,
    Workflow,
};
use deft_template::{SyntaxError, Template};
use serde_json::Value;

use crate::expect::Expectation;
use crate::order::{self, Prerequisites};
use crate::planned::{PlannedStep, Remedy, compile_heals};
use crate::sources::{self, Sources};
use crate::tree::Tree;

/// A skill prepared for running.
#[derive(Debug)]
pub struct Plan {
    pub(crate) skill: String,
    pub(crate) revision: String,
    pub(crate) inputs: Vec<Input>,
    pub(crate) steps: Vec<PlannedStep>,
    /// The sources of the values of the steps.
    pub(crate) sources: Vec<Sources>,
    pub(crate) outputs: Option<Vec<(String, Tree)>>,
    /// The steps that give a name its value, in order.
    pub(crate) providers: HashMap<String, Vec<usize>>,
    /// Steps by id.
    pub(crate) ids: HashMap<String, usize>,
    /// The steps that may begin once this many leading steps have ended, by that number.
    pub(crate) barriers: Vec<Vec<usize>>,
    /// The steps that name a step in `depends_on`, by that step.
    pub(crate) dependents: Vec<Vec<usize>>,
    pub(crate) effects: Option<Effects>,
    pub(crate) heals: Vec<Remedy>,
    pub(crate) max_heals: u32,
    /// Timeout of the skill when another skill runs it.
    pub(crate) timeout: Option<Duration>,
    pub(crate) secrets: Vec<String>,
    pub(crate) expect: Expectation,
    /// Time zone of instants without an offset; `None` for that of the host.
    pub(crate) timezone: Option<String>,
    /// Whether it is a record: a model wrote its arguments, and it names no outputs.
    pub(crate) of_record: bool,
    /// The rights of the agent that stored the skill.
    pub(crate) authority: Option<Arc<Authority>>,
}

/// A call that a plan makes when it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedCall<'a> {
    /// The step; `None` for a heal rule.
    pub step: Option<&'a str>,
    /// The tool; `None` if a template names it.
    pub tool: Option<&'a str>,
    /// The arguments as written; `None` if they differ from item to item.
    pub args: Option<&'a Value>,
}

impl Plan {
    /// Compiles a skill.
    pub fn compile(skill: &Skill, revision: &str) -> Result<Self, SyntaxError> {
        let workflow = lower(skill);
        let waits = order::waits(&workflow.steps);
        let visible = order::visible(&waits);
        let plain = !matches!(skill.body, Body::Steps(_));
        let mut steps = Vec::with_capacity(workflow.steps.len());
        for ((step, waits), visible) in workflow.steps.iter().zip(waits).zip(visible) {
            steps.push(PlannedStep::compile(
                step, waits, visible, &workflow, plain,
            )?);
        }
        let has_outputs = matches!(skill.body, Body::Steps(_)) && !workflow.outputs.is_empty();
        let outputs = has_outputs.then(|| compile_outputs(&workflow.outputs));
        let outputs = outputs.transpose()?;
        Ok(Self {
            skill: skill.id.as_str().to_owned(),
            revision: revision.to_owned(),
            inputs: workflow.inputs.clone(),
            providers: providers(&workflow.steps),
            ids: ids(&workflow.steps),
            barriers: barriers(&steps),
            dependents: dependents(&steps),
            sources: sources::sources(&steps, &workflow.inputs),
            steps,
            outputs,
            effects: skill.policy.effects,
            heals: compile_heals(&skill.policy.heal)?,
            max_heals: skill.policy.max_heals,
            timeout: skill.policy.timeout,
            secrets: skill.policy.secrets.clone(),
            expect: Expectation::compile(skill.policy.expect.as_ref())?,
            timezone: skill.policy.timezone.clone(),
            of_record: skill.dialect == Dialect::Record,
            authority: skill.policy.authority.clone(),
        })
    }

    /// Returns the id of the skill.
    pub fn skill(&self) -> &str {
        &self.skill
    }

    /// Returns the revision of the skill.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Returns the parameters of the skill.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns the steps as they were written.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.steps.iter().map(|planned| &planned.step)
    }

    /// Returns a step by its id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.ids.get(id).map(|at| &self.steps[*at].step)
    }

    /// Whether a step runs Python, so that warming up a worker pays off.
    pub fn has_compute(&self) -> bool {
        let mut expects = self.steps.iter().map(|planned| &planned.expect);
        self.steps
            .iter()
            .any(|planned| planned.work.source().is_some())
            || self.expect.has_unsupported()
            || expects.any(Expectation::has_unsupported)
    }

    /// Whether the skill consists only of its agent, so that the agent's answer is its output.
    pub(crate) fn is_agent_alone(&self) -> bool {
        let alone = self.steps.first().filter(|_| self.steps.len() == 1);
        alone.is_some_and(|only| only.is_agent() && only.list.is_none()) && self.outputs.is_none()
    }

    /// Whether the post-condition of the skill is checked against the answer of its agent, which can be asked
    /// again. It is checked against the outputs if it reads steps, which are visible only after they have
    /// ended, or if the step tolerates failures, because the skill does not.
    pub(crate) fn is_kept_by_agent(&self) -> bool {
        let Some(planned) = self.steps.first().filter(|_| self.is_agent_alone()) else {
            return false;
        };
        let step = &planned.step;
        let unseen = step.output.is_some() && self.expect.mentions(&step.id);
        !(unseen || self.expect.mentions("steps") || step.on_error == OnError::Continue)
    }

    /// Returns the names of secrets that the skill may pass to its tools.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Returns the calls of its own steps and heal rules, as far as their tools are known before it runs.
    /// Calls by agents are not included.
    pub fn calls(&self) -> Vec<PlannedCall<'_>> {
        let steps = self.steps.iter().filter_map(|planned| {
            let (step, tool) = (&planned.step, planned.work.tool()?);
            let (_, args) = step.kind.tool_call()?;
            Some(PlannedCall {
                step: Some(&step.id),
                tool: tool.is_literal().then(|| tool.source()),
                args: step.repeat.is_none().then_some(args),
            })
        });
        let heals = self.steps.iter().flat_map(|planned| &planned.heals);
        let heals = heals.chain(&self.heals).map(|heal| PlannedCall {
            step: None,
            tool: Some(&heal.tool),
            args: None,
        });
        steps.chain(heals).collect()
    }

    /// Returns the skills that its steps run; `None` stands for a skill that a template names.
    pub fn skills(&self) -> impl Iterator<Item = Option<&str>> {
        let skills = self.steps.iter().filter_map(|planned| planned.work.skill());
        skills.map(|skill| skill.is_literal().then(|| skill.source()))
    }

    /// Returns the tools that are called by name or offered to agents, including those of heal rules, each
    /// once.
    pub fn tools(&self) -> Vec<&str> {
        let called = self.steps.iter().filter_map(|planned| planned.work.tool());
        let called = called.filter(|tool| tool.is_literal());
        let called = called.map(Template::source);
        let offered = self.steps().filter_map(|step| step.kind.offered_tools());
        let offered = offered.flatten().map(String::as_str);
        let mending = self
            .steps
            .iter()
            .flat_map(|planned| &planned.heals)
            .chain(&self.heals)
            .map(|heal| heal.tool.as_str());
        let mut tools: Vec<&str> = Vec::new();
        for tool in called.chain(offered).chain(mending) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        tools
    }
}

/// Lowers a body to steps. The flags of a command arrive as inputs and are passed to its tool as arguments.
fn lower(skill: &Skill) -> std::borrow::Cow<'_, Workflow> {
    use std::borrow::Cow;
    let only = |step: Step| {
        Cow::Owned(Workflow {
            steps: vec![step],
            ..Workflow::default()
        })
    };
    let single = |id: &str, kind: StepKind| only(Step::new(id, kind));
    match &skill.body {
        Body::Steps(workflow) => Cow::Borrowed(workflow),
        Body::Call {
            step,
            kind,
            on_error,
            timeout,
            ..
        } => only(Step {
            on_error: *on_error,
            timeout: *timeout,
            ..Step::new(step, kind.clone())
        }),
        Body::Manual {
            handler: Some(handler),
            ..
        } => single("run", command(handler)),
        Body::Instructions(text) | Body::Manual { text, .. } => single(
            "agent",
            StepKind::Agent {
                instructions: text.read().into_owned(),
                tools: skill.required_tools.clone(),
                max_steps: Some(skill.policy.max_steps),
            },
        ),
    }
}

fn command(handler: &str) -> StepKind {
    let args = Value::String("{{ inputs }}".to_owned());
    match Handler::from_text(handler) {
        Handler::Skill(skill) => StepKind::Skill { skill, args },
        Handler::Tool(tool) | Handler::BuiltIn(tool) => StepKind::Tool { tool, args },
    }
}

fn compile_outputs(outputs: &Object) -> Result<Vec<(String, Tree)>, SyntaxError> {
    outputs
        .iter()
        .map(|(name, value)| Ok((name.clone(), Tree::compile(value)?)))
        .collect()
}

fn ids(steps: &[Step]) -> HashMap<String, usize> {
    let ids = steps.iter().enumerate();
    ids.map(|(at, step)| (step.id.clone(), at)).collect()
}

fn providers(steps: &[Step]) -> HashMap<String, Vec<usize>> {
    let mut providers: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let mut add = |name: &String| providers.entry(name.clone()).or_default().push(at);
        add(&step.id);
        if let Some(output) = &step.output
            && *output != step.id
        {
            add(output);
        }
    }
    providers
}

fn barriers(steps: &[PlannedStep]) -> Vec<Vec<usize>> {
    let mut barriers = vec![Vec::new(); steps.len() + 1];
    for (at, planned) in steps.iter().enumerate() {
        if let Prerequisites::Leading(count) = planned.waits {
            barriers[count].push(at);
        }
    }
    barriers
}

fn dependents(steps: &[PlannedStep]) -> Vec<Vec<usize>> {
    let mut dependents = vec![Vec::new(); steps.len()];
    for (at, planned) in steps.iter().enumerate() {
        if let Prerequisites::For(others) = &planned.waits {
            for other in others {
                dependents[*other].push(at);
            }
        }
    }
    dependents
}

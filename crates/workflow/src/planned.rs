//! Compiled steps and heal rules.

use deft_model::{Effects, FailureClass, Object, Step, Workflow};
use deft_template::{Condition, SyntaxError, Template};

use crate::expect::Expectation;
use crate::facts::Facts;
use crate::kinds::{CompiledStep, OwnEffects};
use crate::order::{Prerequisites, VisibleSteps};
use crate::tree::Tree;

/// A compiled step.
#[derive(Debug)]
pub(crate) struct PlannedStep {
    pub(crate) step: Step,
    pub(crate) waits: Prerequisites,
    pub(crate) visible: VisibleSteps,
    pub(crate) condition: Option<Condition>,
    /// Whether the condition reads the loop item, so that it is evaluated for each item.
    pub(crate) condition_per_item: bool,
    pub(crate) work: CompiledStep,
    pub(crate) list: Option<Tree>,
    pub(crate) question: Option<(Template, bool)>,
    pub(crate) heals: Vec<Remedy>,
    /// The post-condition of its value.
    pub(crate) expect: Expectation,
}

/// A compiled heal rule.
#[derive(Clone, Debug)]
pub struct Remedy {
    pub(crate) when: Vec<FailureClass>,
    pub(crate) tool: String,
    pub(crate) args: Tree,
}

impl Remedy {
    /// Compiles a heal rule, for example one from the configuration.
    pub fn compile(heal: &deft_model::Heal) -> Result<Self, SyntaxError> {
        Ok(Self {
            when: heal.when.clone(),
            tool: heal.tool.clone(),
            args: Tree::compile(&heal.args)?,
        })
    }
}

impl PlannedStep {
    pub(crate) fn compile(
        step: &Step,
        waits: Prerequisites,
        visible: VisibleSteps,
        workflow: &Workflow,
        plain: bool,
    ) -> Result<Self, SyntaxError> {
        let condition = step
            .condition
            .as_deref()
            .map(Condition::parse)
            .transpose()?;
        let condition_per_item = match (&condition, &step.repeat) {
            (Some(condition), Some(repeat)) => {
                condition.names().iter().any(|used| used.name == repeat.var)
            }
            _ => false,
        };
        let question = workflow
            .confirmations
            .iter()
            .find(|confirmation| confirmation.step == step.id)
            .map(|asked| Ok((Template::parse(&asked.message)?, asked.default)))
            .transpose()?;
        Ok(Self {
            expect: Expectation::compile(step.expect.as_ref())?,
            work: CompiledStep::compile(&step.kind, plain)?,
            list: step
                .repeat
                .as_ref()
                .map(|repeat| Tree::compile(&repeat.over))
                .transpose()?,
            heals: compile_heals(&step.heal)?,
            step: step.clone(),
            waits,
            visible,
            condition,
            condition_per_item,
            question,
        })
    }

    /// Returns what repeating the step would do, as declared by the step, the skill or the tool, in this
    /// order. A step without a declaration must not be repeated.
    pub(crate) fn effects(
        &self,
        of_skill: Option<Effects>,
        tool: Option<(&str, &Object)>,
        facts: &dyn Facts,
    ) -> Effects {
        let declared = self.step.effects.or(of_skill);
        match self.work.own_effects() {
            OwnEffects::None => Effects::None,
            OwnEffects::AsTool => declared.unwrap_or_else(|| {
                let known = tool.and_then(|(tool, args)| facts.effects(tool, args));
                known.unwrap_or(Effects::Once)
            }),
            OwnEffects::Unknown => declared.unwrap_or(Effects::Once),
        }
    }

    pub(crate) fn is_agent(&self) -> bool {
        matches!(self.work, CompiledStep::Agent { .. })
    }

    pub(crate) fn loop_var(&self) -> Option<&str> {
        self.step.repeat.as_ref().map(|repeat| repeat.var.as_str())
    }
}

pub(crate) fn compile_heals(heals: &[deft_model::Heal]) -> Result<Vec<Remedy>, SyntaxError> {
    heals.iter().map(Remedy::compile).collect()
}

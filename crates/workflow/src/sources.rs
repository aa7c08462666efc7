//! Which values of a skill are untrusted: results of tools, models and other skills. They are framed
//! where a template writes them into the text of an `agent` step. Text of the skill's author and inputs
//! of its caller are not framed.
//!
//! Decided from the skill alone. A step that computes with untrusted values gives an untrusted value,
//! and so does one that computes with an input that its caller rendered from such values.
//! Not here: the frame itself (`deft_agent::prompt`), values.

use std::collections::BTreeSet;

use deft_model::{Input, Step};

use crate::kinds::{CompiledStep, ValueSource, value_source};
use crate::plan::{Plan, PlannedStep};
use crate::scope::{NameScope, mentions};
use crate::state::Frame;
use crate::tree::Tree;

/// What has a part in a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// A tool, a model or another skill.
    outside: bool,
    /// Inputs of the skill.
    inputs: BTreeSet<String>,
}

impl Sources {
    fn outside() -> Self {
        Self {
            outside: true,
            inputs: BTreeSet::new(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.outside |= other.outside;
        self.inputs.extend(other.inputs.iter().cloned());
    }
}

/// The sources of the values of all steps, in their order.
pub(crate) fn sources(steps: &[PlannedStep], inputs: &[Input]) -> Vec<Sources> {
    let mut known: Vec<Sources> = steps.iter().map(|_| Sources::default()).collect();
    // A step may read the result of a later one that it depends on; sources only ever grow.
    loop {
        let before = known.clone();
        for (at, planned) in steps.iter().enumerate() {
            known[at] = sources_of_step(planned, steps, inputs, &known);
        }
        if known == before {
            return known;
        }
    }
}

fn sources_of_step(
    planned: &PlannedStep,
    steps: &[PlannedStep],
    inputs: &[Input],
    known: &[Sources],
) -> Sources {
    match value_source(&planned.step.kind) {
        ValueSource::Outside => Sources::outside(),
        ValueSource::Machine => Sources::default(),
        ValueSource::Names(text) => {
            let mut all = Sources::default();
            let reads = |name: &str| mentions(text, name);
            gather(&reads, steps, inputs, known, &mut all);
            if let Some(list) = &planned.list {
                gather(&|name| list.mentions(name), steps, inputs, known, &mut all);
            }
            all
        }
    }
}

/// Adds the sources of all names that something reads.
fn gather(
    reads: &dyn Fn(&str) -> bool,
    steps: &[PlannedStep],
    inputs: &[Input],
    known: &[Sources],
    all: &mut Sources,
) {
    let every = reads("steps") || reads("outputs");
    for (planned, sources) in steps.iter().zip(known) {
        if every || names_of(&planned.step).any(reads) {
            all.add(sources);
        }
    }
    for input in inputs {
        if reads("inputs") || reads(&input.name) {
            all.inputs.insert(input.name.clone());
        }
    }
}

fn names_of(step: &Step) -> impl Iterator<Item = &str> {
    std::iter::once(step.id.as_str()).chain(step.output.as_deref())
}

impl Frame {
    /// Whether a value with these sources is untrusted here.
    fn is_untrusted(&self, sources: &Sources) -> bool {
        sources.outside || !sources.inputs.is_disjoint(&self.untrusted_inputs)
    }

    /// Whether what a template of a step renders is untrusted.
    fn renders_untrusted(&self, tree: &Tree, planned: Option<&PlannedStep>) -> bool {
        let plan = &self.plan;
        let mut all = Sources::default();
        let reads = |name: &str| tree.mentions(name);
        gather(&reads, &plan.steps, &plan.inputs, &plan.sources, &mut all);
        let var = planned.and_then(PlannedStep::loop_var);
        let list = planned.and_then(|planned| planned.list.as_ref());
        let of_item = match (var, list) {
            (Some(var), Some(list)) if reads(var) => self.renders_untrusted(list, None),
            _ => false,
        };
        of_item || self.is_untrusted(&all)
    }

    /// The inputs of a skill that a step here runs, as far as they are untrusted.
    pub(crate) fn untrusted_args(&self, step: usize, inputs: &Plan) -> BTreeSet<String> {
        let planned = &self.plan.steps[step];
        let CompiledStep::Skill { args, .. } = &planned.work else {
            return BTreeSet::new();
        };
        let untrusted = |tree: &Tree| self.renders_untrusted(tree, Some(planned));
        match args {
            Tree::Map(entries) => {
                let entries = entries.iter().filter(|(_, tree)| untrusted(tree));
                entries.map(|(name, _)| name.clone()).collect()
            }
            whole @ (Tree::Template(_) | Tree::List(_)) if untrusted(whole) => {
                inputs.inputs.iter().map(|it| it.name.clone()).collect()
            }
            Tree::Literal(_) | Tree::Template(_) | Tree::List(_) => BTreeSet::new(),
        }
    }
}

impl NameScope<'_> {
    /// Whether the value of a name, or of a member of it, was written by others.
    pub(crate) fn reads_untrusted(&self, name: &str, member: Option<&str>) -> bool {
        let planned = self.at.map(|at| &self.frame.plan.steps[at.step]);
        if planned.and_then(PlannedStep::loop_var) == Some(name) {
            let list = planned.and_then(|planned| planned.list.as_ref());
            return list.is_some_and(|list| self.frame.renders_untrusted(list, None));
        }
        match (name, member) {
            ("inputs", Some(input)) => self.frame.untrusted_inputs.contains(input),
            ("inputs", None) => !self.frame.untrusted_inputs.is_empty(),
            ("steps" | "outputs", Some(member)) => self.gives_untrusted(Some(member)),
            ("steps" | "outputs", None) => self.gives_untrusted(None),
            _ if self.is_result(name) => self.gives_untrusted(Some(name)),
            _ => self.frame.untrusted_inputs.contains(name),
        }
    }

    /// Whether a step that gives a name its value gives an untrusted one; without a name, any step.
    fn gives_untrusted(&self, name: Option<&str>) -> bool {
        let plan = &self.frame.plan;
        let mut steps = plan.steps.iter().zip(&plan.sources);
        steps.any(|(planned, sources)| {
            let gives = name.is_none_or(|name| names_of(&planned.step).any(|own| own == name));
            gives && self.frame.is_untrusted(sources)
        })
    }
}

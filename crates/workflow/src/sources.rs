//! The sources of the values of steps: results of tools, models and other skills, or inputs.
//!
//! Determined from the skill alone. The value of a step that computes with other values has their sources.
//! Not here: which values a run does not trust (`untrusted.rs`).

use std::collections::BTreeSet;

use deft_model::{Input, Step};

use crate::code::mentions;
use crate::kinds::{ValueSource, value_source};
use crate::planned::PlannedStep;

/// The sources of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// Whether a tool, a model or another skill contributes to it.
    pub(crate) outside: bool,
    /// Inputs of the skill that contribute to it.
    pub(crate) inputs: BTreeSet<String>,
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

/// Returns the sources of the values of all steps, in order.
pub(crate) fn sources(steps: &[PlannedStep], inputs: &[Input]) -> Vec<Sources> {
    let mut known: Vec<Sources> = steps.iter().map(|_| Sources::default()).collect();
    // A step may read the result of a later one that it depends on, so this repeats until nothing changes.
    // Sources only grow.
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

/// Adds the sources of all names for which `reads` is true.
pub(crate) fn gather(
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

pub(crate) fn names_of(step: &Step) -> impl Iterator<Item = &str> {
    std::iter::once(step.id.as_str()).chain(step.output.as_deref())
}

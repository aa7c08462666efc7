//! The untrusted values of a run: results of tools, models and other skills. They are framed where a template
//! writes them into the text of an `agent` step. Text of the skill's author and inputs of its caller are not
//! framed, unless the caller rendered an input from such values.
//!
//! Not here: the frame itself (`deft_agent::prompt`). Values are not examined, only their sources.

use std::collections::BTreeSet;

use crate::kinds::CompiledStep;
use crate::plan::Plan;
use crate::planned::PlannedStep;
use crate::sources::{Sources, gather};
use crate::state::Frame;
use crate::tree::Tree;

impl Frame {
    /// Whether a value with these sources is untrusted in this frame.
    pub(crate) fn is_untrusted(&self, sources: &Sources) -> bool {
        sources.outside || !sources.inputs.is_disjoint(&self.untrusted_inputs)
    }

    /// Whether the value that a template of a step renders is untrusted.
    pub(crate) fn renders_untrusted(&self, tree: &Tree, planned: Option<&PlannedStep>) -> bool {
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

    /// Returns the untrusted inputs of a skill that a step of this frame runs.
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

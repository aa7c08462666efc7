//! Checks for values that may be missing when a step needs them: names in compute blocks, members of skipped
//! steps, text that would contain `None`, and inputs without a value.
//!
//! Not here: resolving names in templates and conditions (`scope.rs`).

use deft_model::Input;
use deft_template::{Condition, NameUse, Template};

use super::scope::{Help, Scope, constant};
use super::steps::BUILT_IN;
use crate::diagnostic::Sink;
use crate::python_members;
use crate::python_names::{self, Names};
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::yaml::{Kind, Node, Places};

impl Scope<'_> {
    /// Checks the names in a compute block, and whether it sets `result`.
    pub(super) fn check_compute(&self, node: &Node, at: usize, var: Option<&str>, sink: &mut Sink) {
        let text = node.as_scalar().map(|scalar| scalar.text.as_str());
        let Some(names) = text.and_then(python_names::find) else {
            return;
        };
        if !names.binds("result") {
            let message = "the block never sets `result`, so its value is None";
            sink.report(Rule::ComputeResult, node.span, message)
                .help("end it with `result = …`");
        }
        let places = Places::new(self.file, node);
        for (name, span) in names.free() {
            let used = NameUse {
                name: name.to_owned(),
                span: span.clone(),
                guarded: false,
                printed: false,
                attribute: None,
            };
            let known = name != "secrets" && BUILT_IN.contains(&name);
            let Some(problem) = self.judge(&used, Some(at), var).filter(|_| !known) else {
                continue;
            };
            let help = problem.help.filter(|help| match help {
                Help::Near(_) | Help::Define(_) => true,
                Help::Fallback(_) => false,
            });
            let help = constant(name).or(help.map(Help::into_text));
            let place = places.span(span);
            sink.report_as(Severity::Warning, problem.rule, place, problem.message)
                .maybe_help(help);
        }
        self.check_members(node, at, &names, sink);
    }

    /// Checks member access. Compute blocks are plain Python: reading a member of None fails, whereas
    /// templates and conditions evaluate it to None.
    fn check_members(&self, node: &Node, at: usize, names: &Names, sink: &mut Sink) {
        let skippable =
            |name: &&str| self.may_be_skipped(name) && !self.is_tested_by_condition(Some(at), name);
        let mut names = names
            .free()
            .map(|(name, _)| name)
            .filter(skippable)
            .peekable();
        let text = node.as_scalar().filter(|_| names.peek().is_some());
        let Some(members) = text.and_then(|scalar| python_members::find(&scalar.text)) else {
            return;
        };
        let places = Places::new(self.file, node);
        for name in names {
            let Some(span) = members.first_unguarded(name) else {
                continue;
            };
            let message = format!(
                "`{name}` is None when its step is skipped, and reading from it would fail"
            );
            sink.report(Rule::MayReadNone, places.span(span), message)
                .help(format!(
                    "test it first, such as `if {name}:`, or write `({name} or {{}}).get('key')`"
                ));
        }
    }

    /// Whether a name is None if the conditions of its steps are false. A loop whose condition uses the loop
    /// variable always has a list.
    fn may_be_skipped(&self, name: &str) -> bool {
        let conditional = |step: &usize| {
            let step = &self.drafts[*step].step;
            let var = step.repeat.as_ref().map(|repeat| repeat.var.as_str());
            let condition = step.condition.as_deref();
            condition.is_some_and(|condition| !var.is_some_and(|var| reads(condition, var)))
        };
        let providers = self.providers.get(name);
        providers.is_some_and(|steps| steps.iter().all(conditional))
    }

    /// Reports text that would contain `None` if a step is skipped or an input is not given.
    pub(super) fn check_printed(&self, node: &Node, at: Option<usize>, sink: &mut Sink) {
        match &node.kind {
            Kind::Sequence { items, .. } => {
                let items = items.iter();
                items.for_each(|item| self.check_printed(item, at, sink));
            }
            Kind::Mapping(mapping) => {
                let entries = mapping.entries.iter();
                entries.for_each(|entry| self.check_printed(&entry.value, at, sink));
            }
            Kind::Scalar(scalar) => {
                let Ok(template) = Template::parse(&scalar.text) else {
                    return;
                };
                // A single expression keeps its type: it is null, not a text.
                if template.is_expression() || template.is_literal() {
                    return;
                }
                let printed = template.names().iter();
                for used in printed.filter(|used| used.printed && !used.guarded) {
                    self.report_printed(node, used, at, sink);
                }
            }
        }
    }

    fn report_printed(&self, node: &Node, used: &NameUse, at: Option<usize>, sink: &mut Sink) {
        let member = used.attribute.as_ref().map(|(member, _)| member.as_str());
        let (name, input) = match (used.name.as_str(), member) {
            ("inputs", Some(member)) => (member, true),
            ("outputs", Some(member)) => (member, false),
            (name, _) => (name, !self.is_step(name)),
        };
        let why = if input {
            let declared = self.inputs.iter().find(|input| input.name == name);
            let optional = |input: &Input| !input.required && input.default.is_none();
            declared
                .filter(|input| optional(input))
                .map(|_| "it was not given")
        } else {
            self.may_be_skipped(name).then_some("its step was skipped")
        };
        let Some(why) = why.filter(|_| !self.is_tested_by_condition(at, name)) else {
            return;
        };
        let span = Places::new(self.file, node).span(&used.span);
        let message = format!("`{name}` is None when {why}; the text would contain `None`");
        sink.report(Rule::MayPrintNone, span, message)
            .help("give a fallback: `| default('…')`");
    }

    /// Whether the condition of a step mentions a name, so that the step may not run without its value.
    fn is_tested_by_condition(&self, at: Option<usize>, name: &str) -> bool {
        let condition = at.and_then(|at| self.drafts[at].step.condition.as_deref());
        condition.is_some_and(|condition| reads(condition, name))
    }

    /// Reports required inputs of a skill with a trigger, which passes no inputs.
    pub(super) fn check_schedule(&self, fields: &Fields<'_>, sink: &mut Sink) {
        let mut timed = ["schedule", "trigger_config"].into_iter();
        let Some(entry) = timed.find_map(|key| fields.map.entry(key)) else {
            return;
        };
        let needed = |input: &&Input| input.required && input.default.is_none();
        let needed: Vec<String> = self
            .inputs
            .iter()
            .filter(needed)
            .map(|input| format!("`{}`", input.name))
            .collect();
        if needed.is_empty() {
            return;
        }
        let message = format!(
            "{} has no value when a trigger fires the skill",
            needed.join(", ")
        );
        sink.report(Rule::ScheduledInput, entry.key_span, message)
            .help("add a `default`, or drop `required: true`");
    }
}

/// Whether a condition reads a name, directly or as an input.
fn reads(condition: &str, name: &str) -> bool {
    let Ok(condition) = Condition::parse(condition) else {
        return false;
    };
    let mut names = condition.names().iter();
    names.any(|used| {
        let member = used.attribute.as_ref().map(|(member, _)| member.as_str());
        used.name == name || used.name == "inputs" && member == Some(name)
    })
}

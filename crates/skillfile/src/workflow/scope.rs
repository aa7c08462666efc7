//! Resolution of the names in templates and conditions.

use std::collections::HashMap;

use deft_model::{Input, Policy, nearest};
use deft_template::{Condition, NameUse};

use super::graph::Graph;
use super::steps::{self, BUILT_IN, Draft};
use crate::diagnostic::Sink;
use crate::expressions::{self, each_template};
use crate::fields::{Content, keys_with};
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::yaml::{Mapping, Node, Places};

/// Checks every template and condition of a workflow.
pub(crate) fn check(
    fields: &Fields<'_>,
    inputs: &[Input],
    drafts: &[Draft<'_>],
    graph: &Graph,
    policy: &Policy,
    sink: &mut Sink,
) {
    let scope = Scope {
        file: fields.file,
        inputs,
        drafts,
        graph,
        policy,
        providers: providers(drafts),
    };
    for (at, draft) in drafts.iter().enumerate() {
        scope.check_step(at, draft, sink);
    }
    if let Some(outputs) = fields.node("outputs") {
        scope.check_node(outputs, None, None, sink);
        scope.check_printed(outputs, None, sink);
    }
    // The outputs are names too; without them, the value of a single step may have any keys.
    let outputs = fields.node("outputs").and_then(Node::as_mapping);
    if outputs.is_some() || drafts.len() > 1 {
        let own = outputs.into_iter().flat_map(|outputs| &outputs.entries);
        let own: Vec<&str> = own.map(|entry| entry.key.as_str()).collect();
        scope.check_that(fields.map, (None, None), &own, sink);
    }
    scope.check_schedule(fields, sink);
    scope.check_heals(fields.map, None, sink);
    scope.check_confirmations(fields, sink);
}

fn providers<'a>(drafts: &'a [Draft<'a>]) -> HashMap<&'a str, Vec<usize>> {
    let mut providers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        for name in draft.names() {
            providers.entry(name).or_default().push(at);
        }
    }
    providers
}

pub(super) struct Scope<'a> {
    pub(super) file: &'a str,
    pub(super) inputs: &'a [Input],
    pub(super) drafts: &'a [Draft<'a>],
    graph: &'a Graph,
    policy: &'a Policy,
    /// The steps that provide each name, in order.
    pub(super) providers: HashMap<&'a str, Vec<usize>>,
}

impl Scope<'_> {
    fn check_step(&self, at: usize, draft: &Draft<'_>, sink: &mut Sink) {
        let var = draft.step.repeat.as_ref().map(|repeat| repeat.var.as_str());
        let nodes = |content| {
            let keys = keys_with(content).into_iter();
            keys.filter_map(|key| draft.map.get(key))
        };
        for node in nodes(Content::Templates) {
            self.check_node(node, Some(at), var, sink);
            self.check_printed(node, Some(at), sink);
        }
        if let Some(node) = draft.map.get("loop") {
            self.check_node(node, Some(at), None, sink);
        }
        if let Some(node) = draft.map.get("condition")
            && steps::check_step_condition(node, self.file, sink).is_some()
        {
            self.check_names(node, (Some(at), var), &[], sink);
        }
        for node in nodes(Content::Condition) {
            if expressions::check_condition(node, self.file, sink).is_some() {
                self.check_names(node, (Some(at), var), &[], sink);
            }
        }
        for node in nodes(Content::Python) {
            self.check_compute(node, at, var, sink);
        }
        let mut own = vec!["result"];
        own.extend(draft.names());
        self.check_that(draft.map, (Some(at), var), &own, sink);
        self.check_heals(draft.map, Some(at), sink);
    }

    /// Checks the names in `expect.that`; `own` are additional names for the value that is checked.
    fn check_that(
        &self,
        map: &Mapping,
        place: (Option<usize>, Option<&str>),
        own: &[&str],
        sink: &mut Sink,
    ) {
        let expect = map.get("expect").and_then(Node::as_mapping);
        if let Some(node) = expect.and_then(|expect| expect.get("that")) {
            // Invalid expressions have been reported by the parser.
            self.check_names(node, place, own, sink);
        }
    }

    /// Checks the heal rules of a step, which see the same names as the step.
    fn check_heals(&self, map: &Mapping, at: Option<usize>, sink: &mut Sink) {
        let heals = map.get("heal").and_then(Node::as_sequence);
        for heal in heals.unwrap_or_default() {
            if let Some(args) = heal.as_mapping().and_then(|heal| heal.get("args")) {
                self.check_node(args, at, None, sink);
            }
        }
    }

    /// Checks the confirmations. A confirmation is asked right before its step, so it sees the same names as
    /// the step.
    fn check_confirmations(&self, fields: &Fields<'_>, sink: &mut Sink) {
        for map in crate::policy::mappings(fields, "confirmations", sink) {
            let step = map
                .get("step")
                .and_then(Node::as_scalar)
                .map(|scalar| scalar.text.as_str());
            let at = self
                .drafts
                .iter()
                .position(|draft| Some(draft.step.id.as_str()) == step);
            if let Some(message) = map.get("message") {
                self.check_node(message, at, None, sink);
                self.check_printed(message, at, sink);
            }
        }
    }

    /// Checks that templates only use available names. `at` is the step that contains them; `None` means that
    /// all steps have ended.
    fn check_node(&self, node: &Node, at: Option<usize>, var: Option<&str>, sink: &mut Sink) {
        let mut uses: Vec<(Span, Use)> = Vec::new();
        let mut walked: Option<(&Node, Places)> = None;
        each_template(node, self.file, sink, &mut |scalar, name| {
            if let Some(problem) = self.judge(name, at, var) {
                let range = problem.range.clone().unwrap_or(name.span.clone());
                let places = match walked.take() {
                    Some((node, places)) if std::ptr::eq(node, scalar) => places,
                    _ => Places::new(self.file, scalar),
                };
                uses.push((places.span(&range), problem));
                walked = Some((scalar, places));
            }
        });
        for (span, problem) in uses {
            sink.report_as(problem.severity, problem.rule, span, problem.message)
                .maybe_help(problem.help.map(Help::into_text));
        }
    }

    /// Checks the names in a condition; `own` are additional names. A missing name counts as None, so an
    /// unknown one is no error; but a name that is never defined is most likely misspelt.
    fn check_names(
        &self,
        node: &Node,
        (at, var): (Option<usize>, Option<&str>),
        own: &[&str],
        sink: &mut Sink,
    ) {
        let text = node.as_scalar().map(|scalar| scalar.text.as_str());
        let Some(condition) = text.and_then(|text| Condition::parse(text).ok()) else {
            return;
        };
        let places = Places::new(self.file, node);
        let names = condition.names().iter();
        for name in names.filter(|name| !own.contains(&name.name.as_str())) {
            // A guard does not help: an undefined name is always None.
            let bare = NameUse {
                guarded: false,
                ..name.clone()
            };
            let Some(problem) = self.judge(&bare, at, var) else {
                continue;
            };
            let range = problem.range.unwrap_or(name.span.clone());
            let span = places.span(&range);
            let message = if problem.rule == Rule::LaterName {
                problem.message
            } else {
                format!("{}, so it is always None here", problem.message)
            };
            let near = problem.help.filter(|help| match help {
                Help::Near(_) => true,
                Help::Define(_) | Help::Fallback(_) => problem.rule == Rule::LaterName,
            });
            let near = constant(&name.name).or(near.map(Help::into_text));
            sink.report_as(Severity::Warning, problem.rule, span, message)
                .maybe_help(near);
        }
    }

    pub(super) fn judge(
        &self,
        used: &NameUse,
        at: Option<usize>,
        var: Option<&str>,
    ) -> Option<Use> {
        let name = used.name.as_str();
        if Some(name) == var || (name == "loop" && var.is_some() && !self.is_step(name)) {
            return None;
        }
        if used.guarded && !self.is_step(name) && !BUILT_IN.contains(&name) {
            return None;
        }
        if BUILT_IN.contains(&name) {
            return self.judge_attribute(used, at);
        }
        if self.is_step(name) {
            return self.judge_step(used, name, at, None);
        }
        let known = self.inputs.iter().any(|input| input.name == name);
        (!known).then(|| {
            Use::undefined_name(
                format!("nothing defines `{name}`"),
                self.suggest(name),
                None,
            )
        })
    }

    /// Checks the names in `inputs.x`, `steps.x` and `secrets.x`.
    fn judge_attribute(&self, used: &NameUse, at: Option<usize>) -> Option<Use> {
        let (attribute, range) = used.attribute.as_ref()?;
        let (known, what): (Vec<&str>, &str) = match used.name.as_str() {
            "inputs" => (
                self.inputs
                    .iter()
                    .map(|input| input.name.as_str())
                    .collect(),
                "input",
            ),
            "steps" if self.is_step_id(attribute) => {
                return self.judge_step(used, attribute, at, Some(range.clone()));
            }
            "steps" => (
                self.drafts.iter().map(|d| d.step.id.as_str()).collect(),
                "step",
            ),
            "secrets" => (
                self.policy.secrets.iter().map(String::as_str).collect(),
                "secret",
            ),
            _ => return None,
        };
        // Methods such as `inputs.get(…)` are not inputs.
        if known.contains(&attribute.as_str()) || used.guarded || is_method(attribute) {
            return None;
        }
        let near =
            nearest(attribute, known).map(|near| Help::Near(format!("{}.{near}", used.name)));
        let help = near.unwrap_or_else(|| match what {
            "secret" => Help::Define(format!("add `{attribute}` to `secrets`")),
            "input" => Help::Fallback(format!("add an input named `{attribute}`")),
            _ => Help::Define("add the step".to_owned()),
        });
        Some(Use::undefined_name(
            format!("unknown {what} `{attribute}`"),
            Some(help),
            Some(range.clone()),
        ))
    }

    fn judge_step(
        &self,
        used: &NameUse,
        name: &str,
        at: Option<usize>,
        range: Option<std::ops::Range<usize>>,
    ) -> Option<Use> {
        let at = at?;
        let providers = self.providers.get(name)?;
        if providers
            .iter()
            .any(|other| self.graph.is_before(*other, at))
        {
            return None;
        }
        let here = &self.drafts[at].step.id;
        let first = *providers.first()?;
        let provider = &self.drafts[first].step.id;
        let later = first >= at;
        if used.guarded && later {
            return None;
        }
        Some(Use {
            rule: Rule::LaterName,
            severity: if later {
                Severity::Error
            } else {
                Severity::Warning
            },
            message: match (later, first == at) {
                (_, true) => format!("`{name}` is the value of this step itself"),
                (true, false) if name == provider => format!("the step `{name}` comes later"),
                (true, false) => {
                    format!("`{name}` is the value of step `{provider}`, which comes later")
                }
                (false, _) => format!(
                    "step `{here}` does not wait for `{provider}`, so `{name}` may be missing"
                ),
            },
            help: match (later, first == at) {
                (_, true) => None,
                (true, false) => Some(Help::Define(format!("move the step `{provider}` up"))),
                (false, _) => Some(Help::Define(format!("add `{provider}` to `depends_on`"))),
            },
            range,
        })
    }

    fn is_step_id(&self, name: &str) -> bool {
        let steps = self.providers.get(name).into_iter().flatten();
        steps.into_iter().any(|at| self.drafts[*at].step.id == name)
    }

    pub(super) fn is_step(&self, name: &str) -> bool {
        self.providers.contains_key(name)
    }

    fn suggest(&self, name: &str) -> Option<Help> {
        let steps = self.drafts.iter().flat_map(Draft::names);
        let bare = steps.chain(BUILT_IN.iter().copied());
        if let Some(near) = nearest(name, bare) {
            return Some(Help::Near(near.to_owned()));
        }
        let near = nearest(name, self.inputs.iter().map(|input| input.name.as_str()))?;
        Some(Help::Near(format!("inputs.{near}")))
    }
}

/// A problem with the use of a name.
pub(super) struct Use {
    pub(super) rule: Rule,
    severity: Severity,
    pub(super) message: String,
    pub(super) help: Option<Help>,
    /// A narrower range than the name itself.
    range: Option<std::ops::Range<usize>>,
}

/// The remedy for a name that does not stand for anything.
pub(super) enum Help {
    /// Another name is similar.
    Near(String),
    /// Define the name: a sentence that says how.
    Define(String),
    /// Define the name, in a sentence that says how, or give a fallback where it is used. Only templates have
    /// fallbacks.
    Fallback(String),
}

impl Help {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Near(name) => format!("did you mean `{name}`?"),
            Self::Define(remedy) => remedy,
            Self::Fallback(remedy) => format!("{remedy}, or guard it: `| default('…')`"),
        }
    }
}

impl Use {
    fn undefined_name(
        message: String,
        help: Option<Help>,
        range: Option<std::ops::Range<usize>>,
    ) -> Self {
        let help = help.unwrap_or_else(|| {
            Help::Fallback("define it as an input or an earlier step".to_owned())
        });
        Self {
            rule: Rule::UndefinedName,
            severity: Severity::Error,
            message,
            help: Some(help),
            range,
        }
    }
}

/// Returns the Python spelling of a constant written as in JSON or YAML.
pub(super) fn constant(name: &str) -> Option<String> {
    let python = match name {
        "true" | "TRUE" => "True",
        "false" | "FALSE" => "False",
        "null" | "none" | "nil" | "NULL" => "None",
        _ => return None,
    };
    Some(format!("did you mean `{python}`?"))
}

fn is_method(name: &str) -> bool {
    matches!(name, "get" | "items" | "keys" | "values")
}

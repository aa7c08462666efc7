//! Checks of templates and conditions in values, with the span of the error in the file.

use deft_template::{Condition, NameUse, SyntaxError, Template};

use crate::diagnostic::Sink;
use crate::rules::Rule;
use crate::yaml::{Kind, Node, locate};

/// Compiles every template in a tree of arguments.
pub(crate) fn check_templates(node: &Node, file: &str, sink: &mut Sink) {
    each_template(node, file, sink, &mut |_, _| {});
}

/// Compiles every template in a tree and passes the names it reads to `visit`, with the scalar that contains
/// them.
pub(crate) fn each_template<'n>(
    node: &'n Node,
    file: &str,
    sink: &mut Sink,
    visit: &mut dyn FnMut(&'n Node, &NameUse),
) {
    match &node.kind {
        Kind::Scalar(scalar) => match Template::parse(&scalar.text) {
            Ok(template) => template.names().iter().for_each(|name| visit(node, name)),
            Err(problem) => report(Rule::InvalidTemplate, node, file, problem, sink),
        },
        Kind::Sequence { items, .. } => {
            items
                .iter()
                .for_each(|item| each_template(item, file, sink, visit));
        }
        Kind::Mapping(mapping) => mapping
            .entries
            .iter()
            .for_each(|entry| each_template(&entry.value, file, sink, visit)),
    }
}

/// Compiles a condition; reports an invalid one and returns `None`.
pub(crate) fn check_condition(node: &Node, file: &str, sink: &mut Sink) -> Option<Condition> {
    let scalar = node.as_scalar()?;
    if is_template(&scalar.text) {
        let message = "a condition is a Python expression, not a template";
        sink.report(Rule::InvalidCondition, node.span, message)
            .help("leave out the `{{` and `}}`");
        return None;
    }
    match Condition::parse(&scalar.text) {
        Ok(condition) => Some(condition),
        Err(problem) => {
            report(Rule::InvalidCondition, node, file, problem, sink);
            None
        }
    }
}

/// Whether a condition is written as a template, which Python would parse as a set of sets.
fn is_template(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("{{") && text.ends_with("}}")
}

fn report(rule: Rule, node: &Node, file: &str, problem: SyntaxError, sink: &mut Sink) {
    let span = locate(file, node, problem.span);
    sink.report(rule, span, problem.message)
        .maybe_help(problem.hint);
}

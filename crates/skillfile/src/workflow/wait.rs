//! Parsing of `wait:` of a step: a duration, or `until:` an instant.
//!
//! Templates are rendered when the step runs; only their syntax is checked here.

use deft_model::Wait;
use deft_schedule::parse_length;
use deft_template::has_markup;
use jiff::tz::TimeZone;

use crate::diagnostic::Sink;
use crate::fields::WAIT;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::yaml::{Node, Scalar};

/// Parses `wait`.
pub(super) fn read(fields: &Fields<'_>, sink: &mut Sink) -> Option<Wait> {
    let node = fields.node("wait")?;
    if let Some(map) = node.as_mapping() {
        let inner = Fields { map, ..*fields };
        inner.check_keys(&[WAIT], Severity::Error, sink);
        let Some(until) = inner.filled_text("until", sink) else {
            sink.report(Rule::InvalidValue, node.span, "`wait` has no `until`")
                .help("write `wait: 2h`, or `wait: {until: \"…\"}`");
            return None;
        };
        check_instant(&until, inner.node("until"), sink);
        return Some(Wait::Until(until));
    }
    let Some(scalar) = node.as_scalar() else {
        return fields.wrong("wait", node, "a duration, or `until: …`", sink);
    };
    check_length(fields, scalar, node, sink);
    Some(Wait::For(scalar.text.clone()))
}

fn check_length(fields: &Fields<'_>, scalar: &Scalar, node: &Node, sink: &mut Sink) {
    if has_markup(&scalar.text) {
        return;
    }
    if let Err(problem) = parse_length(&scalar.text) {
        fields.no_length("wait", node, &scalar.text, problem, sink);
    }
}

fn check_instant(text: &str, node: Option<&Node>, sink: &mut Sink) {
    let Some(node) = node.filter(|_| !has_markup(text)) else {
        return;
    };
    // The zone does not affect whether the text is a valid instant.
    if let Err(problem) = deft_schedule::parse_at(text, &TimeZone::UTC) {
        sink.report(
            Rule::InvalidInstant,
            node.span,
            format!("`until`: {}", problem.message),
        )
        .maybe_help(problem.hint);
    }
}

//! Parsing of the inputs of a workflow (S3.2).

use std::collections::HashSet;

use deft_model::{Choice, Input, InputType};
use deft_schedule::is_date;
use serde_json::Value;

use crate::diagnostic::Sink;
use crate::fields::INPUT;
use crate::names::{is_identifier, is_keyword};
use crate::policy::mappings;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::yaml::{Node, locate};

/// Parses `inputs`.
pub(crate) fn read(fields: &Fields<'_>, sink: &mut Sink) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    let mut names = HashSet::new();
    for map in mappings(fields, "inputs", sink) {
        let fields = Fields { map, ..*fields };
        let Some(input) = input(&fields, sink) else {
            continue;
        };
        if !names.insert(input.name.clone()) {
            let message = format!("the input `{}` is defined twice", input.name);
            sink.report(Rule::DuplicateStepId, fields.span("name"), message)
                .help("rename one of them");
        }
        inputs.push(input);
    }
    inputs
}

fn input(fields: &Fields<'_>, sink: &mut Sink) -> Option<Input> {
    fields.check_keys(&[INPUT], Severity::Error, sink);
    let place = fields
        .map
        .entries
        .first()
        .map_or(Span::NONE, |entry| entry.key_span);
    let Some(name) = fields.filled_text("name", sink) else {
        sink.report(Rule::MissingName, place, "an input has no `name`")
            .help("add `name: …`");
        return None;
    };
    if !is_identifier(&name) || is_keyword(&name) {
        let message = format!("the input `{name}` cannot be used in templates");
        sink.report(Rule::InvalidName, fields.span("name"), message)
            .help("use letters, digits and `_`, such as `issue_key`");
    }
    let kind = kind(fields, sink);
    let input = Input {
        name,
        kind,
        required: fields.truth("required", sink).unwrap_or_default(),
        default: fields.node("default").map(Node::to_value),
        description: fields.text("description", sink),
        pattern: fields.filled_text("pattern", sink),
        choices: choices(fields, kind, sink),
        max_length: fields.count("max_length", sink),
    };
    check_default(&input, fields, sink);
    check_text_only(kind, fields, sink);
    Some(input)
}

/// Reports limits that only apply to text.
fn check_text_only(kind: InputType, fields: &Fields<'_>, sink: &mut Sink) {
    if matches!(kind, InputType::String | InputType::Date | InputType::Any) {
        return;
    }
    let useless = ["pattern", "max_length"].into_iter();
    for entry in useless.filter_map(|key| fields.map.entry(key)) {
        let message = format!("`{}` has no effect on an input of type `{kind}`", entry.key);
        sink.report_as(
            Severity::Warning,
            Rule::InvalidValue,
            entry.key_span,
            message,
        )
        .help("it is for `string`; leave it out");
    }
}

/// Parses the type; accepts Python's names for types too.
fn kind(fields: &Fields<'_>, sink: &mut Sink) -> InputType {
    let word = fields
        .node("type")
        .and_then(Node::as_scalar)
        .map(|scalar| scalar.text.as_str());
    match word {
        Some("str" | "text") => InputType::String,
        Some("int") => InputType::Integer,
        Some("float") => InputType::Number,
        Some("bool") => InputType::Boolean,
        Some("list") => InputType::Array,
        Some("dict" | "map") => InputType::Object,
        _ => fields.choice("type", sink).unwrap_or(InputType::String),
    }
}

fn choices(fields: &Fields<'_>, kind: InputType, sink: &mut Sink) -> Vec<Value> {
    let Some(node) = fields.node("enum") else {
        return Vec::new();
    };
    match node.as_sequence() {
        Some([]) => {
            sink.report(Rule::InvalidValue, node.span, "`enum` is empty")
                .help("list the values that are allowed, or leave it out");
            Vec::new()
        }
        Some(items) => {
            check_choices(items, kind, sink);
            items.iter().map(Node::to_value).collect()
        }
        None => fields
            .wrong("enum", node, "a list of values", sink)
            .unwrap_or_default(),
    }
}

fn check_choices(items: &[Node], kind: InputType, sink: &mut Sink) {
    for item in items {
        let value = item.to_value();
        if !kind.fits(&value, is_date) {
            let message = format!("`{value}` is not of type `{kind}`");
            sink.report(Rule::InvalidValue, item.span, message)
                .maybe_help(quote_help(&value, kind));
        }
    }
}

/// Returns what to do about a value of the wrong type.
fn quote_help(value: &Value, kind: InputType) -> Option<String> {
    if kind == InputType::Date {
        return Some("write a day as `\"2026-03-01\"`, in quotes".to_owned());
    }
    let scalar = !value.is_array() && !value.is_object();
    (kind == InputType::String && scalar)
        .then(|| "put it in quotes, or give the input another `type`".to_owned())
}

/// Checks that the default is a value that a caller could pass.
fn check_default(input: &Input, fields: &Fields<'_>, sink: &mut Sink) {
    let pattern = pattern(input, fields, sink);
    let Some(default) = &input.default else {
        return;
    };
    let span = fields.span("default");
    if !input.kind.fits(default, is_date) {
        let message = format!(
            "the default of `{}` is not of type `{}`",
            input.name,
            input.kind.word()
        );
        sink.report(Rule::InvalidDefault, span, message)
            .maybe_help(quote_help(default, input.kind));
        return;
    }
    if !input.choices.is_empty() && !input.choices.contains(default) {
        let message = format!("the default of `{}` is not among its `enum`", input.name);
        sink.report(Rule::InvalidDefault, span, message)
            .help("add it, or choose one that is");
    }
    let Some(text) = default.as_str() else {
        return;
    };
    if pattern.is_some_and(|pattern| !pattern.is_match(text)) {
        let message = format!(
            "the default of `{}` does not match its `pattern`",
            input.name
        );
        sink.report(Rule::InvalidDefault, span, message);
    }
    if input
        .max_length
        .is_some_and(|most| text.chars().count() as u64 > most)
    {
        let message = format!(
            "the default of `{}` is longer than its `max_length`",
            input.name
        );
        sink.report(Rule::InvalidDefault, span, message);
    }
}

/// Checks the pattern. It is compiled only if there is a default to match: its syntax can be checked without,
/// and most inputs have no default.
fn pattern(input: &Input, fields: &Fields<'_>, sink: &mut Sink) -> Option<regex::Regex> {
    let (text, node) = input.pattern.as_ref().zip(fields.node("pattern"))?;
    let Err(problem) = regex_syntax::Parser::new().parse(text) else {
        let default = input.default.as_ref();
        return default.and_then(|_| regex::Regex::new(text).ok());
    };
    let (reason, range) = explain(&problem);
    let range = range.unwrap_or(0..text.len());
    let help = ["look-", "backreference"]
        .iter()
        .any(|word| reason.contains(word))
        .then(|| "write the pattern without it".to_owned());
    let message = format!("the pattern is not a regular expression: {reason}");
    let span = locate(fields.file, node, range);
    sink.report(Rule::InvalidPattern, span, message)
        .maybe_help(help);
    None
}

/// Returns the problem of a pattern, and its range.
fn explain(problem: &regex_syntax::Error) -> (String, Option<std::ops::Range<usize>>) {
    let range = |span: &regex_syntax::ast::Span| span.start.offset..span.end.offset;
    match problem {
        regex_syntax::Error::Parse(problem) => {
            (problem.kind().to_string(), Some(range(problem.span())))
        }
        regex_syntax::Error::Translate(problem) => {
            (problem.kind().to_string(), Some(range(problem.span())))
        }
        other => (other.to_string(), None),
    }
}

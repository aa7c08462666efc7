//! Snapshot tests. Every line of a case file is an input; `⏎` stands for a line end.

use std::fmt::Write as _;
use std::path::Path;

use deft_template::{Condition, EvalError, NameUse, SyntaxError, Template};
use serde_json::Value;

use crate::world::{World, context};

/// Returns the inputs in a case file; lines that begin with `##` are comments.
pub(crate) fn inputs(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("##"));
    lines.map(|line| line.replace('⏎', "\n")).collect()
}

fn show_names(out: &mut String, input: &str, names: &[NameUse]) {
    for name in names {
        assert_eq!(input[name.span.clone()], name.name);
        let guarded = if name.guarded { " guarded" } else { "" };
        write!(out, "  {} {:?}{guarded}", name.name, name.span).unwrap();
        if let Some((attribute, span)) = &name.attribute {
            write!(out, " .{attribute} {span:?}").unwrap();
            assert!(input.get(span.clone()).is_some());
        }
        out.push('\n');
    }
}

fn show_error(out: &mut String, input: &str, error: &SyntaxError) {
    let at = &input[error.span.clone()];
    writeln!(out, "  error {:?} {at:?}: {}", error.span, error.message).unwrap();
    if let Some(hint) = &error.hint {
        writeln!(out, "  hint: {hint}").unwrap();
    }
}

fn show_template(input: &str) -> String {
    let mut out = format!("{input}\n");
    match Template::parse(input) {
        Ok(template) => {
            let kind = match (template.is_literal(), template.is_expression()) {
                (true, _) => "literal",
                (_, true) => "expression",
                _ => "text",
            };
            writeln!(out, "  {kind}").unwrap();
            show_names(&mut out, input, template.names());
        }
        Err(error) => show_error(&mut out, input, &error),
    }
    out
}

fn show_condition(input: &str) -> String {
    let mut out = format!("{input}\n");
    match Condition::parse(input) {
        Ok(condition) => show_names(&mut out, input, condition.names()),
        Err(error) => show_error(&mut out, input, &error),
    }
    out
}

fn show_outcome(input: &str, outcome: Result<Value, EvalError>) -> String {
    match outcome {
        Ok(value) => format!("{input}\n  {value}\n"),
        Err(error) => {
            let at = &input[error.span.clone()];
            let mut out = format!("{input}\n  {:?} at {at:?}: {}\n", error.kind, error.message);
            if let Some(hint) = &error.hint {
                writeln!(out, "  hint: {hint}").unwrap();
            }
            out
        }
    }
}

fn show_rendered(input: &str) -> String {
    let template = Template::parse(input).unwrap();
    show_outcome(input, template.render(&World(context())))
}

fn show_evaluated(input: &str) -> String {
    let condition = Condition::parse(input).unwrap();
    show_outcome(input, condition.evaluate(&World(context())))
}

fn show_all(path: &Path, show: fn(&str) -> String) -> String {
    let shown: Vec<_> = inputs(path).iter().map(|input| show(input)).collect();
    shown.join("\n")
}

#[test]
fn templates() {
    insta::glob!("../cases/template", "*.txt", |path| {
        insta::assert_snapshot!(show_all(path, show_template));
    });
}

#[test]
fn conditions() {
    insta::glob!("../cases/condition", "*.txt", |path| {
        insta::assert_snapshot!(show_all(path, show_condition));
    });
}

/// Cases without a reference engine: secrets, missing values, limits, and the wording of errors.
#[test]
fn rendered() {
    insta::glob!("../cases/rendered", "*.txt", |path| {
        insta::assert_snapshot!(show_all(path, show_rendered));
    });
}

#[test]
fn evaluated() {
    insta::glob!("../cases/evaluated", "*.txt", |path| {
        insta::assert_snapshot!(show_all(path, show_evaluated));
    });
}

#[test]
fn blank_conditions_are_errors() {
    for blank in ["", " ", "\n\t", "{{ }}", "{{}}", " {{- -}} "] {
        let error = Condition::parse(blank).unwrap_err();
        assert_eq!(error.message, "empty condition");
        assert_eq!(error.span, 0..blank.len());
    }
}

#[test]
fn markup_is_detected() {
    let with = ["{{ a }}", "x {% if a %}", "{# c #}", "{ {{", "{{{"];
    let without = ["", "a", "{ { a } }", "}}", "{", "%}", "a {"];
    assert!(with.iter().all(|text| deft_template::has_markup(text)));
    assert!(!without.iter().any(|text| deft_template::has_markup(text)));
}

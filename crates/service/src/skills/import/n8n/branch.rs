//! Converts the conditions of `if` and `switch` nodes into Python expressions, one for each output.

use serde_json::Value;

use super::document::Node;
use super::expression::{Scope, python};

/// Returns the conditions of the outputs of a node. `None` if the node is not a branch.
pub(super) fn outputs(node: &Node<'_>, scope: &dyn Scope) -> Option<Result<Vec<String>, String>> {
    match node.kind {
        "if" => Some(
            condition(node.parameter(&["conditions"]), node, scope).map(|test| {
                let otherwise = format!("not ({test})");
                vec![test, otherwise]
            }),
        ),
        "switch" => Some(switch(node, scope)),
        _ => None,
    }
}

/// Converts a `switch`. An output is taken if its rule holds and no earlier one does.
fn switch(node: &Node<'_>, scope: &dyn Scope) -> Result<Vec<String>, String> {
    if node.text(&["mode"]) == Some("expression") {
        return Err("its output is computed by an expression".to_owned());
    }
    if node.parameter(&["options", "allMatchingOutputs"]) == true {
        return Err("it may take several outputs at once".to_owned());
    }
    let rules = node.list(&["rules", "values"]);
    if rules.is_empty() {
        return Err("it has no rules that deft can read".to_owned());
    }
    let tests = rules
        .iter()
        .map(|rule| condition(&rule["conditions"], node, scope));
    let tests = tests.collect::<Result<Vec<String>, String>>()?;
    let earlier = |at: usize| {
        tests[..at]
            .iter()
            .map(|test| format!(" and not ({test})"))
            .collect::<String>()
    };
    let mut outputs: Vec<String> = tests
        .iter()
        .enumerate()
        .map(|(at, test)| format!("({test}){}", earlier(at)))
        .collect();
    match node.parameter(&["options", "fallbackOutput"]) {
        Value::String(kind) if kind == "extra" => {
            let failed: Vec<String> = tests.iter().map(|test| format!("not ({test})")).collect();
            outputs.push(failed.join(" and "));
        }
        Value::Number(_) => return Err("its fallback is one of its rules".to_owned()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {}
    }
    Ok(outputs)
}

/// Converts a group of conditions in the current format (`conditions` is a list) or the older one (a list for
/// each type).
fn condition(group: &Value, node: &Node<'_>, scope: &dyn Scope) -> Result<String, String> {
    let (tests, any) = match group["conditions"].as_array() {
        Some(tests) => {
            let ignores_case = group["options"]["caseSensitive"] == false;
            let tests = tests.iter().map(|test| current(test, ignores_case, scope));
            (
                tests.collect::<Result<Vec<_>, String>>()?,
                group["combinator"] == "or",
            )
        }
        None => {
            let any = node.text(&["combineOperation"]) == Some("any");
            (older(group, scope)?, any)
        }
    };
    match tests.as_slice() {
        [] => Err("it has no conditions".to_owned()),
        [one] => Ok(one.clone()),
        many => {
            let many: Vec<String> = many.iter().map(|test| format!("({test})")).collect();
            Ok(many.join(if any { " or " } else { " and " }))
        }
    }
}

fn current(test: &Value, ignores_case: bool, scope: &dyn Scope) -> Result<String, String> {
    let operator = &test["operator"];
    let kind = operator["type"].as_str().unwrap_or("string");
    let operation = operator["operation"].as_str().unwrap_or("equals");
    let mut left = python(&test["leftValue"], scope, false)?;
    let mut right = python(&test["rightValue"], scope, false)?;
    if kind == "dateTime" {
        return Err("it compares dates".to_owned());
    }
    if kind == "string" && ignores_case {
        left = format!("str({left}).lower()");
        right = format!("str({right}).lower()");
    }
    compare(kind, operation, &left, &right)
}

fn older(group: &Value, scope: &dyn Scope) -> Result<Vec<String>, String> {
    let mut tests = Vec::new();
    for (kind, usual) in [
        ("string", "equal"),
        ("number", "smaller"),
        ("boolean", "equal"),
    ] {
        for test in group[kind].as_array().into_iter().flatten() {
            let left = python(&test["value1"], scope, false)?;
            let right = python(&test["value2"], scope, false)?;
            let operation = test["operation"].as_str().unwrap_or(usual);
            tests.push(compare(kind, operation, &left, &right)?);
        }
    }
    if group["dateTime"]
        .as_array()
        .is_some_and(|tests| !tests.is_empty())
    {
        return Err("it compares dates".to_owned());
    }
    Ok(tests)
}

fn compare(kind: &str, operation: &str, left: &str, right: &str) -> Result<String, String> {
    Ok(match operation {
        "equals" | "equal" => format!("{left} == {right}"),
        "notEquals" | "notEqual" => format!("{left} != {right}"),
        "gt" | "larger" => format!("{left} > {right}"),
        "lt" | "smaller" => format!("{left} < {right}"),
        "gte" | "largerEqual" => format!("{left} >= {right}"),
        "lte" | "smallerEqual" => format!("{left} <= {right}"),
        "contains" => format!("{right} in ({left} or \"\")"),
        "notContains" => format!("{right} not in ({left} or \"\")"),
        "startsWith" => format!("str({left}).startswith({right})"),
        "notStartsWith" => format!("not str({left}).startswith({right})"),
        "endsWith" => format!("str({left}).endswith({right})"),
        "notEndsWith" => format!("not str({left}).endswith({right})"),
        "true" => format!("{left} == True"),
        "false" => format!("{left} == False"),
        "exists" => format!("{left} is not None"),
        "notExists" => format!("{left} is None"),
        // Zero and false are values; only `None` and empty containers count as empty.
        "empty" | "isEmpty" => format!("{left} in (None, \"\", [], {{}})"),
        "notEmpty" | "isNotEmpty" => format!("{left} not in (None, \"\", [], {{}})"),
        operation => {
            return Err(format!(
                "deft does not know its comparison `{operation}` of a {kind}"
            ));
        }
    })
}

//! The check of given inputs against the parameters of a skill (S3.2, S3.32): one message for each problem;
//! unknown inputs are refused.

use deft_model::{Input, InputType, Object, nearest, value_text};
use deft_schedule::is_date;
use regex::Regex;
use serde_json::{Number, Value};

use crate::value_kind::describe;

/// A problem with one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputProblem {
    /// Name of the input.
    pub name: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Returns the inputs of a run: the given ones, checked, and defaults for the rest.
pub fn check_inputs(declared: &[Input], given: &Object) -> Result<Object, Vec<InputProblem>> {
    let mut problems = Vec::new();
    let mut inputs = Object::new();
    for input in declared {
        match given.get(&input.name) {
            Some(Value::Null) if !input.required && input.kind != InputType::Any => {
                fill(input, &mut inputs);
            }
            Some(value) => match check(input, value) {
                Ok(()) => {
                    inputs.insert(input.name.clone(), value.clone());
                }
                Err(problem) => problems.push(problem),
            },
            None if input.required && input.default.is_none() => problems.push(InputProblem {
                name: input.name.clone(),
                message: format!("input `{}` is missing", input.name),
                hint: input.description.clone(),
            }),
            None => fill(input, &mut inputs),
        }
    }
    problems.extend(unknown(declared, given));
    if problems.is_empty() {
        Ok(inputs)
    } else {
        Err(problems)
    }
}

fn fill(input: &Input, inputs: &mut Object) {
    if let Some(default) = &input.default {
        inputs.insert(input.name.clone(), default.clone());
    }
}

fn unknown<'a>(
    declared: &'a [Input],
    given: &'a Object,
) -> impl Iterator<Item = InputProblem> + 'a {
    let names = || declared.iter().map(|input| input.name.as_str());
    let extra = given
        .keys()
        .filter(move |name| !names().any(|known| known == name.as_str()));
    extra.map(move |name| InputProblem {
        name: name.clone(),
        message: format!("unknown input `{name}`"),
        hint: Some(match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if declared.is_empty() => "this skill takes no inputs".to_owned(),
            None => format!("inputs are {}", list(names())),
        }),
    })
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn check(input: &Input, value: &Value) -> Result<(), InputProblem> {
    let name = &input.name;
    let problem = |message: String, hint: Option<String>| InputProblem {
        name: name.clone(),
        message,
        hint,
    };
    if !input.kind.fits(value, is_date) {
        // "a whole number, not a number" would not help.
        let given = match value {
            Value::Number(number) => format!("`{number}`"),
            Value::String(text) if input.kind == InputType::Date => format!("`{}`", clip(text)),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => describe(other).to_owned(),
        };
        let message = format!("input `{name}` must be {}, not {given}", noun(input.kind));
        let hint = (input.kind == InputType::Date).then(|| "write it as `2026-03-01`".to_owned());
        return Err(problem(message, hint));
    }
    if !input.choices.is_empty() && !input.choices.contains(value) {
        let choices: Vec<String> = input.choices.iter().map(value_text).collect();
        let shown = value_text(value);
        let near = nearest(&shown, choices.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {}", list(choices.iter().map(String::as_str))),
        };
        let message = format!("input `{name}` cannot be `{}`", clip(&shown));
        return Err(problem(message, Some(hint)));
    }
    let Value::String(text) = value else {
        return Ok(());
    };
    if let Some(most) = input.max_length {
        let length = text.chars().count() as u64;
        if length > most {
            let message = format!("input `{name}` has {length} characters, more than {most}");
            return Err(problem(message, None));
        }
    }
    match &input.pattern {
        Some(pattern) if !matches(pattern, text) => {
            let message = format!("input `{name}` does not match `{pattern}`");
            Err(problem(message, input.description.clone()))
        }
        _ => Ok(()),
    }
}

/// Whether `text` matches `pattern`. An invalid pattern matches nothing; the loader has refused such a file.
fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
}

/// Returns the part of a text that fits into a message.
fn clip(text: &str) -> String {
    deft_model::clip(text, 60)
}

fn noun(kind: InputType) -> &'static str {
    match kind {
        InputType::String => "text",
        InputType::Date => "a date",
        InputType::Integer => "a whole number",
        InputType::Number => "a number",
        InputType::Boolean => "true or false",
        InputType::Array => "a list",
        InputType::Object => "a mapping",
        InputType::Any => "anything",
    }
}

/// Converts a text from a command line to the type of an input. A text that does not fit stays text, so that
/// the check can report it.
pub fn read_input(declared: &[Input], name: &str, text: &str) -> Value {
    let kind = declared
        .iter()
        .find(|input| input.name == name)
        .map_or(InputType::String, |input| input.kind);
    let parsed = match kind {
        InputType::String | InputType::Date => None,
        InputType::Integer => text.parse::<i64>().ok().map(Value::from),
        InputType::Number => number(text),
        InputType::Boolean => match text.to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(Value::Bool(true)),
            "false" | "no" | "off" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        InputType::Array => json(text)
            .filter(Value::is_array)
            .or_else(|| split_list(text)),
        InputType::Object => json(text).filter(Value::is_object),
        InputType::Any => json(text),
    };
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Splits `a, b` into a list. Text that begins like JSON but is invalid is left to the check, which reports
/// it.
fn split_list(text: &str) -> Option<Value> {
    if text.trim_start().starts_with('[') {
        return None;
    }
    let items = text.split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty()).map(Value::from);
    Some(Value::Array(items.collect()))
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}

//! `deft run --dry-run`: prints the plan of a run for people.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::failure::Done;
use crate::output::Output;
use deft_wire::dry_run::{DryLoop, DryRun, DryStep, DryVerdict};
use deft_wire::model::{Choice, value_text};

pub(crate) fn print(shown: &DryRun, output: &Output) -> Done {
    if output.json {
        output.document(&json!(shown))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("dry run of {}; nothing is called\n", shown.skill);
    let mut wave = 0;
    for step in &shown.steps {
        text.push_str(&describe(step, step.wave == wave));
        wave = step.wave;
    }
    // Not folded: arguments are shown as they are written.
    output.data(text)?;
    for found in &shown.diagnostics {
        output.prose(format!("{}: {}", found.severity, found.message))?;
        if let Some(help) = &found.help {
            output.prose(format!("  hint: {help}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Describes a step, with its notes below. `together` means that it runs in parallel with the step before it.
fn describe(step: &DryStep, together: bool) -> String {
    let number = if together {
        "   &  ".to_owned()
    } else {
        format!("{:>4}. ", step.wave)
    };
    let name = step.name.as_ref();
    let name = name.map_or(String::new(), |name| format!(" {name}"));
    let mut text = format!("{number}{}  {}{name}\n", step.id, step.kind);
    for note in notes(step) {
        text.push_str(&format!("        {note}\n"));
    }
    text
}

fn notes(step: &DryStep) -> Vec<String> {
    let mut notes = Vec::new();
    match (step.verdict, step.condition.as_deref()) {
        (DryVerdict::Skip, condition) => {
            let condition = condition.unwrap_or_default();
            notes.push(format!("skipped: {condition} is false"));
        }
        (DryVerdict::Depends, Some(condition)) => notes.push(format!("if {condition}")),
        (DryVerdict::Depends, None) | (DryVerdict::Run, _) => {}
    }
    if let Some(question) = &step.confirm {
        notes.push(format!("asks first: {question}"));
    }
    notes.extend(step.repeat.as_ref().map(repeats));
    for (key, value) in step.args.iter().filter_map(Value::as_object).flatten() {
        notes.push(format!("{key}: {}", value_text(value)));
    }
    if let Some(until) = step.until {
        notes.push(format!(
            "waits until {until}, if the steps before it take no time"
        ));
    }
    if !step.unknown.is_empty() {
        let places = step.unknown.join(", ");
        notes.push(format!("known only when it runs: {places}"));
    }
    if step.kind.is_tool_call() {
        let (effects, on_error) = (step.effects.word(), &step.on_error);
        notes.push(format!("effects: {effects}, on error: {on_error}"));
    }
    for heal in &step.heals {
        let when: Vec<&str> = heal.when.iter().map(|class| class.word()).collect();
        notes.push(format!("heals {} with {}", when.join(", "), heal.tool));
    }
    for problem in &step.problems {
        notes.push(format!("problem: {problem}"));
    }
    notes
}

fn repeats(repeat: &DryLoop) -> String {
    let items = match &repeat.items {
        Some(items) => format!("{} items", items.len()),
        None => "items known later".to_owned(),
    };
    format!("for each `{}`: {items}", repeat.var)
}

//! Rendering of man pages: as a file, and as the help for skills without a page.

use deft_model::{Body, Input, Object, Skill, Step, Workflow, value_text};

use super::emit;
use super::keys::{entries, put, put_given, timing};

/// Renders a skill as a man page, `domain/action.md`. The name must be dotted.
pub fn manpage(skill: &Skill) -> String {
    let mut head = Object::new();
    put(&mut head, "name", skill.id.as_str());
    put(&mut head, "description", skill.description.clone());
    if let Body::Manual { handler, .. } = &skill.body {
        put(&mut head, "handler", handler.clone());
    }
    timing(skill, &mut head);
    put(&mut head, "keywords", skill.keywords.clone());
    put(&mut head, "required_tools", skill.required_tools.clone());
    put(&mut head, "license", skill.open.license.clone());
    head.extend(entries(skill.details.entries()));
    head.extend(entries(skill.policy.entries()));
    for (key, value) in &skill.extra {
        put_given(&mut head, key, Some(value.clone()));
    }
    let mut out = String::from("---\n");
    emit::mapping(&head, 0, &mut out);
    out.push_str("---\n\n");
    out.push_str(&manual(skill));
    out.push('\n');
    out
}

/// Returns the page that `get_skill` and `--help` show: the skill's own text, or one generated from its
/// inputs and steps.
pub fn manual(skill: &Skill) -> String {
    match (&skill.body, skill.text()) {
        (Body::Steps(workflow), _) => page(skill, workflow).trim_end().to_owned(),
        (_, Some(text)) => text.read().into_owned(),
        (_, None) => skill.description.clone(),
    }
}

fn page(skill: &Skill, workflow: &Workflow) -> String {
    let mut out = format!(
        "# {}\n\n{}\n\n## Usage\n\n{}",
        skill.id, skill.description, skill.id
    );
    for input in &workflow.inputs {
        let flag = format!("--{} <{}>", input.name, input.kind);
        let flag = if input.required {
            flag
        } else {
            format!("[{flag}]")
        };
        out.push(' ');
        out.push_str(&flag);
    }
    out.push('\n');
    if !workflow.inputs.is_empty() {
        out.push_str("\n## Flags\n\n");
        let width = workflow
            .inputs
            .iter()
            .map(|input| input.name.len())
            .max()
            .unwrap_or_default();
        workflow
            .inputs
            .iter()
            .for_each(|input| flag(input, width, &mut out));
    }
    out.push_str("\n## Steps\n\n");
    for (at, step) in workflow.steps.iter().enumerate() {
        out.push_str(&format!("{}. {}\n", at + 1, summary(step)));
    }
    out
}

fn flag(input: &Input, width: usize, out: &mut String) {
    let mut prose = input
        .description
        .clone()
        .unwrap_or_else(|| format!("takes {}", input.kind));
    if !input.choices.is_empty() {
        let words: Vec<String> = input.choices.iter().map(value_text).collect();
        prose = format!(
            "{}. One of: {}",
            prose.trim_end_matches('.'),
            words.join(", ")
        );
    }
    if input.required {
        prose.push_str(" (required)");
    }
    if let Some(default) = &input.default {
        prose.push_str(&format!(" (default: {})", value_text(default)));
    }
    out.push_str(&format!("--{:width$}  {prose}\n", input.name));
}

fn summary(step: &Step) -> String {
    let mut line = format!("{}: {}", step.id, step.kind.summary());
    if let Some(description) = &step.description {
        line.push_str(&format!(", {description}"));
    }
    if step.repeat.is_some() {
        line.push_str(", for each item");
    }
    if let Some(condition) = &step.condition {
        line.push_str(&format!(", if `{condition}`"));
    }
    line
}

//! Exports skills for other hosts: folders with a `SKILL.md` that passes the validator of the open format.
//! Fields that only deft reads are below `metadata`; a workflow is described in words, with its file beside.

use std::path::PathBuf;
use std::sync::Arc;

use deft_model::{
    Body, Confirmation, Dialect, Input, OnError, Skill, SkillId, Step, Text, Workflow, value_text,
};
use deft_registry::LoadedSkill;
use deft_skillfile::{render, slug};
use serde_json::Value;

use super::files::{FileRefusal, PlannedFile, copy_siblings};

/// Limits of the open format, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// The file beside the `SKILL.md` of a workflow.
const WORKFLOW_FILE: &str = "workflow.yaml";

/// Returns the files of a skill for another host, in a separate folder.
pub(super) fn files(loaded: &LoadedSkill) -> (Vec<PlannedFile>, Vec<FileRefusal>) {
    let name = exported_name(loaded.skill.id.as_str());
    let folder = PathBuf::from(&name);
    let text = render::agentskills(&open(&loaded.skill, &name));
    let mut files = vec![PlannedFile::new(folder.join("SKILL.md"), text)];
    let mut refused = Vec::new();
    match loaded.skill.dialect {
        Dialect::AgentSkills => {
            let (siblings, left_out) = copy_siblings(loaded, &folder);
            files.extend(siblings);
            refused = left_out;
        }
        Dialect::Workflow => match PlannedFile::copy(&loaded.path, folder.join(WORKFLOW_FILE)) {
            Ok(file) => files.push(file),
            Err(problem) => {
                let reason = format!("cannot be read: {problem}");
                refused.push(FileRefusal::new(&loaded.path, reason));
            }
        },
        Dialect::ManPage | Dialect::Record => {}
    }
    (files, refused)
}

/// Converts an id to a name of the open format: letters from `a` to `z`, digits and single hyphens.
pub(crate) fn exported_name(id: &str) -> String {
    let ascii: String = id
        .chars()
        .map(|c| if c.is_ascii() { c } else { '-' })
        .collect();
    let name: String = slug(&ascii).chars().take(MAX_NAME).collect();
    match name.trim_end_matches('-') {
        "" => "skill".to_owned(),
        name => name.to_owned(),
    }
}

fn open(skill: &Skill, name: &str) -> Skill {
    let mut open = skill.clone();
    open.id = SkillId::new(name);
    open.description = match skill.description.trim() {
        "" => name.to_owned(),
        text => cut(text, MAX_DESCRIPTION),
    };
    let compatibility = open.open.compatibility.as_deref();
    open.open.compatibility = compatibility.map(|text| cut(text, MAX_COMPATIBILITY));
    // If deft reads the folder of the other host, the copy must not fire in addition to the original.
    if skill.timing.is_some() && name != skill.id.as_str() {
        Arc::make_mut(&mut open.policy).enabled = false;
    }
    match &skill.body {
        Body::Steps(workflow) => {
            open.body = Body::Instructions(Text::from(words(skill, workflow).as_str()));
        }
        Body::Manual { handler, .. } => {
            if let Some(handler) = handler {
                let handler = Value::from(handler.as_str());
                open.open.metadata.insert("handler".to_owned(), handler);
            }
        }
        Body::Call { .. } | Body::Instructions(_) => {}
    }
    open
}

/// Cuts a text to the limit of a host, which counts the mark of the cut.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    deft_model::clip(text, most - 1)
}

/// Describes the workflow as instructions for a model.
fn words(skill: &Skill, workflow: &Workflow) -> String {
    let mut text = format!("# {}\n\n{}\n", skill.name, skill.description);
    if !workflow.inputs.is_empty() {
        text.push_str("\n## Inputs\n\n");
        workflow
            .inputs
            .iter()
            .for_each(|input| text.push_str(&input_words(input)));
    }
    text.push_str("\n## Steps\n\n");
    for (at, step) in workflow.steps.iter().enumerate() {
        let question = workflow
            .confirmations
            .iter()
            .find(|asked| asked.step == step.id);
        text.push_str(&format!("{}. {}\n", at + 1, step_words(step, question)));
        if let Some(code) = step.kind.code() {
            let lines = code.trim_end().lines().map(|line| format!("   {line}\n"));
            let code: String = lines.collect();
            text.push_str(&format!("\n   ```python\n{code}   ```\n\n"));
        }
    }
    if !workflow.outputs.is_empty() {
        text.push_str("\n## Result\n\n");
        for (name, value) in &workflow.outputs {
            text.push_str(&format!("- `{name}`: `{}`\n", value_text(value)));
        }
    }
    let id = &skill.id;
    text.push_str(&format!(
        "\n`{{{{ … }}}}` stands for the value of an input or of an earlier step. The exact definition is in \
         [{WORKFLOW_FILE}]({WORKFLOW_FILE}); where deft is installed, `deft run {id}` runs it.\n"
    ));
    text
}

fn input_words(input: &Input) -> String {
    let mut about = input.kind.to_string();
    if input.required {
        about.push_str(", required");
    }
    if let Some(default) = &input.default {
        about.push_str(&format!(", default `{}`", value_text(default)));
    }
    if !input.choices.is_empty() {
        let choices: Vec<String> = input.choices.iter().map(value_text).collect();
        about.push_str(&format!(", one of `{}`", choices.join("`, `")));
    }
    let description = input.description.as_deref();
    let description = description.map_or(String::new(), |text| format!(": {text}"));
    format!("- `{}` ({about}){description}\n", input.name)
}

fn step_words(step: &Step, question: Option<&Confirmation>) -> String {
    let mut sentences = vec![format!("**{}**: {}", step.id, step.kind.instruction())];
    if let Some(description) = &step.description {
        sentences.insert(1, description.clone());
    }
    if let Some(asked) = question {
        sentences.push(format!("First ask the user: \"{}\"", asked.message));
    }
    if let Some(condition) = &step.condition {
        sentences.push(format!("Only if `{condition}`"));
    }
    if let Some(repeat) = &step.repeat {
        let over = value_text(&repeat.over);
        sentences.push(format!(
            "Do this for each item of `{over}`, called `{}`",
            repeat.var
        ));
    }
    match step.on_error {
        OnError::Fail => {}
        OnError::Continue => sentences.push("Continue if it fails".to_owned()),
        OnError::Retry(times) => {
            sentences.push(format!("If it fails, try again up to {times} times"));
        }
    }
    if let Some(output) = &step.output {
        sentences.push(format!("Call the result `{output}`"));
    }
    let sentences = sentences
        .iter()
        .map(|text| text.trim_end_matches('.').trim_end());
    sentences.collect::<Vec<_>>().join(". ") + "."
}

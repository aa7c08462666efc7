//! Converts an agent of Claude Code into an `AGENT.md`.

use std::path::Path;

use deft_config::Config;
use deft_model::{Agent, Text};
use deft_skillfile::{FileLocation, Moment, Profile, has_errors, parse, render, slug};
use serde_json::Value;

use super::page::Page;
use super::tools::KnownTools;
use super::{ConvertedForm, ConvertedPage, keys_note};
use crate::skills::import::gather::first_error;

/// The keys that are read.
const KEYS: &[&str] = &["tools", "disallowedTools", "model", "skills", "maxTurns"];

pub(in crate::skills::import) fn agent(
    path: &Path,
    config: &Config,
    moment: &Moment,
) -> Result<ConvertedPage, String> {
    let page = Page::read(path, moment)?;
    let mut agent = Agent::new(slug(&page.skill.name));
    agent.name.clone_from(&page.skill.name);
    agent.description = Some(page.skill.description.clone());
    agent.prompt = Text::from(page.text.as_str());
    // Claude Code asks before changes, so the agent must do the same here.
    agent.approve = vec![Agent::DESTRUCTIVE.to_owned()];
    agent.max_steps = turns(&page);
    let mut notes = Vec::new();
    agent.tools = tools(&page, &mut notes);
    agent.model = model(&page, config, &mut notes);
    if let Some(skills) = page.key("skills") {
        agent.allow_skills = true;
        agent.skills = Some(texts(skills));
    }
    notes.extend(keys_note(&page.other_keys(KEYS)));
    let content = render::agent(&agent);
    check(&agent.id, &content, moment)?;
    Ok(ConvertedPage {
        id: agent.id,
        form: ConvertedForm::Agent,
        content,
        notes,
    })
}

fn turns(page: &Page) -> Option<u32> {
    let turns = page.key("maxTurns")?.as_u64()?;
    u32::try_from(turns).ok().filter(|turns| *turns > 0)
}

/// Returns the tools that the agent may use. deft has no list of forbidden tools, so an agent with only such
/// a list gets no tools until the user chooses them.
fn tools(page: &Page, notes: &mut Vec<String>) -> Option<Vec<String>> {
    let given = page.key("tools").map(KnownTools::from_value);
    let forbidden = page.key("disallowedTools").map(KnownTools::from_value);
    notes.extend(given.iter().flat_map(KnownTools::notes));
    match (given, forbidden) {
        (None, None) => None,
        (Some(given), None) => Some(given.tools),
        (Some(given), Some(forbidden)) => {
            let allowed = given.tools.into_iter();
            Some(
                allowed
                    .filter(|tool| !forbidden.tools.contains(tool))
                    .collect(),
            )
        }
        (None, Some(_)) => {
            let note =
                "`disallowedTools` without `tools`: the agent has no tools until you list some";
            notes.push(note.to_owned());
            Some(Vec::new())
        }
    }
}

/// Returns the model, if it is configured under that name. With an unknown model, the agent could not run.
fn model(page: &Page, config: &Config, notes: &mut Vec<String>) -> Option<String> {
    let model = page.text_key("model").filter(|model| *model != "inherit")?;
    let mut known = config.models.iter();
    if known.any(|one| one.name == model || one.model().as_deref() == Some(model)) {
        return Some(model.to_owned());
    }
    notes.push(format!(
        "not kept: the model `{model}`, which is not configured"
    ));
    None
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            let names = text
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        }
        Value::Array(items) => {
            let names = items.iter().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// Fails if the written file would not load.
fn check(id: &str, content: &str, moment: &Moment) -> Result<(), String> {
    let location = FileLocation {
        file: "AGENT.md",
        folder: id,
        domain: None,
    };
    let parsed = parse(content.as_bytes(), &location, Profile::Deft, moment);
    if has_errors(&parsed.diagnostics) {
        return Err(first_error(&parsed.diagnostics));
    }
    Ok(())
}

//! Entries of the prompt for the skills and commands that an agent may use. The prompt decides how many of
//! them fit.

use std::collections::BTreeMap;

use deft_model::{Agent, Body, Dialect, PromptEntry, Skill};
use deft_skillfile::sections;

use super::help::Unavailable;
use super::listing::{escape, list_skill, xml};
use super::{is_hidden, offered_skills, one_line};
use crate::snapshot::Snapshot;

/// Number of commands per domain in the quick reference, besides commands that were used.
const FIRST_OF_DOMAIN: usize = 2;

/// Returns whether an agent may use a skill.
pub fn may_use(agent: &Agent, skill: &Skill) -> bool {
    agent.may_use_skill(skill.id.as_str(), skill.domain.as_deref())
}

/// Returns the entries of `<available_skills>`. Skills with keywords are not listed, because messages select
/// them (S0.18).
pub fn skill_entries(snapshot: &Snapshot, agent: &Agent) -> Vec<PromptEntry> {
    let fits = |skill: &Skill| skill.keywords.is_empty() && may_use(agent, skill);
    offered_skills(snapshot)
        .filter(|loaded| fits(&loaded.skill))
        .map(|loaded| PromptEntry {
            name: loaded.skill.id.as_str().into(),
            about: loaded.skill.description.as_str().into(),
            text: xml(&list_skill(loaded)).into(),
            priority: loaded.skill.priority,
        })
        .collect()
}

/// Returns one line for each workflow that the agent may run. Each line mentions that the workflow is run,
/// because it is listed among skills that are loaded. The path of the file is omitted.
pub fn workflow_entries(snapshot: &Snapshot, agent: &Agent) -> Vec<PromptEntry> {
    let fits = |skill: &Skill| {
        skill.dialect == Dialect::Workflow && !is_hidden(skill) && may_use(agent, skill)
    };
    snapshot
        .skills()
        .filter(|loaded| fits(&loaded.skill))
        .map(|loaded| {
            let skill = &loaded.skill;
            let about = format!("{} (a workflow: `skill_run` runs it)", skill.description);
            let (name, line) = (escape(skill.id.as_str()), escape(&one_line(&about)));
            PromptEntry {
                name: skill.id.as_str().into(),
                text: format!("<skill name=\"{name}\">{line}</skill>\n").into(),
                about: about.as_str().into(),
                priority: skill.priority,
            }
        })
        .collect()
}

/// Returns the domains with at least one skill that the agent may use, as `get_skill` shows them.
pub fn domain_entries(snapshot: &Snapshot, agent: &Agent) -> Vec<PromptEntry> {
    let usable = |id: &deft_model::SkillId| {
        let loaded = snapshot.skill(id.as_str());
        loaded.is_some_and(|loaded| may_use(agent, &loaded.skill))
    };
    snapshot
        .domains()
        .filter(|(_, domain)| domain.skills.iter().any(usable))
        .map(|(name, domain)| {
            let about = one_line(&domain.index.description);
            PromptEntry {
                name: name.into(),
                text: format!("  {name:12} {about}\n").into(),
                about: about.into(),
                priority: 0,
            }
        })
        .collect()
}

/// Returns usage lines of the most common commands that can be run (S2.32): those in `uses`, ranked by count,
/// and the first ones of each domain. This reads man pages, so callers should cache the result for the
/// lifetime of the snapshot.
pub fn command_entries(
    snapshot: &Snapshot,
    agent: &Agent,
    uses: &BTreeMap<String, u64>,
    unavailable: Unavailable<'_>,
) -> Vec<PromptEntry> {
    let mut of_domain: BTreeMap<&str, usize> = BTreeMap::new();
    let mut entries = Vec::new();
    for loaded in snapshot.skills() {
        let skill = &loaded.skill;
        let (Body::Manual { text, .. }, Some(domain)) = (&skill.body, &skill.domain) else {
            continue;
        };
        if is_hidden(skill) || !may_use(agent, skill) || unavailable(skill).is_some() {
            continue;
        }
        let place = of_domain.entry(domain).or_default();
        *place += 1;
        let count = uses.get(skill.id.as_str()).copied().unwrap_or_default();
        if count > 0 || *place <= FIRST_OF_DOMAIN {
            let line = usage(&text.read()).unwrap_or_else(|| skill.id.to_string());
            entries.push(PromptEntry {
                name: skill.id.as_str().into(),
                about: one_line(&skill.description).into(),
                text: format!("  {line}\n").into(),
                priority: i64::try_from(count).unwrap_or(i64::MAX),
            });
        }
    }
    entries
}

/// Returns the first line of the usage section, without a code fence.
fn usage(page: &str) -> Option<String> {
    let sections = sections(page);
    let section = sections
        .iter()
        .find(|section| section.title.trim().eq_ignore_ascii_case("usage"))?;
    let mut lines = page[section.body..section.end].lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with("```"))?;
    Some(one_line(line.trim_matches('`')))
}

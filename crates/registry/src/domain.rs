//! Domains: groups skills and generates missing overviews.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use deft_model::{Details, Dialect, DomainIndex, SkillId, Text};

use crate::unit::LoadedSkill;

/// A domain and its skills.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The overview.
    pub index: Arc<DomainIndex>,
    /// Whether the overview was generated because no file defines it.
    pub generated: bool,
    /// The ids of the skills, sorted.
    pub skills: Vec<SkillId>,
}

/// Groups skills by domain and adds an overview to each domain.
pub(crate) fn group<'a>(
    skills: impl Iterator<Item = &'a Arc<LoadedSkill>>,
    indexes: BTreeMap<String, (Arc<DomainIndex>, Arc<Path>)>,
) -> BTreeMap<String, Domain> {
    let mut members: BTreeMap<&str, Vec<&LoadedSkill>> = BTreeMap::new();
    for loaded in skills {
        if let Some(domain) = &loaded.skill.domain {
            members.entry(domain).or_default().push(loaded);
        }
    }
    let mut domains = BTreeMap::new();
    for (name, skills) in &members {
        let index = indexes.get(*name).map(|(index, _)| Arc::clone(index));
        domains.insert(
            (*name).to_owned(),
            Domain {
                generated: index.is_none(),
                index: index.unwrap_or_else(|| Arc::new(overview(name, skills))),
                skills: skills
                    .iter()
                    .map(|loaded| loaded.skill.id.clone())
                    .collect(),
            },
        );
    }
    for (name, (index, _)) in indexes {
        domains.entry(name).or_insert_with(|| Domain {
            index,
            generated: false,
            skills: Vec::new(),
        });
    }
    domains
}

/// Generates an overview in the form of handwritten ones (S2.7).
fn overview(domain: &str, skills: &[&LoadedSkill]) -> DomainIndex {
    let names: Vec<&str> = skills
        .iter()
        .map(|loaded| action(&loaded.skill.id))
        .collect();
    let mut title = domain.to_owned();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let count = skills.len();
    let plural = if count == 1 { "skill" } else { "skills" };
    let description = format!("{count} {plural}: {}", names.join(", "));
    let mut page = format!("# {title}\n\n{description}.\n\n## Available Skills\n\n");
    page.push_str("| Skill | Description |\n|-------|-------------|\n");
    for loaded in skills {
        let summary = loaded
            .skill
            .description
            .replace('|', "\\|")
            .replace('\n', " ");
        page.push_str(&format!("| {} | {summary} |\n", loaded.skill.id));
    }
    if skills
        .iter()
        .any(|loaded| loaded.skill.dialect == Dialect::Workflow)
    {
        page.push_str("\nRun a workflow with `deft run NAME`.\n");
    }
    DomainIndex {
        domain: domain.to_owned(),
        description,
        details: Details::default(),
        text: Text::from(page.trim_end()),
    }
}

fn action(id: &SkillId) -> &str {
    id.as_str()
        .split_once('.')
        .map_or(id.as_str(), |(_, action)| action)
}

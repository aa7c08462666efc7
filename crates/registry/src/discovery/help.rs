//! `get_skill` with its four levels and search by tag, and `--help` (S2.24 to S2.33).

use std::sync::Arc;

use deft_model::{ProblemCode, Skill, nearest, nearest_name};
use deft_skillfile::render;

use super::search::{Query, search};
use super::{missing_handler, one_line};
use crate::snapshot::Snapshot;
use crate::unit::LoadedSkill;

/// The argument of `get_skill`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// All domains (empty argument).
    All,
    /// A domain, or a skill without a domain.
    Name(String),
    /// All skills of a domain.
    Whole(String),
    /// The skills with a tag.
    Tag(String),
}

impl Topic {
    /// Parses the text after `get_skill:`.
    pub fn parse(path: &str) -> Self {
        let path = path.trim();
        if path.is_empty() {
            return Self::All;
        }
        if let Some(tag) = path.strip_prefix("tag:").or(path.strip_prefix('#')) {
            return Self::Tag(tag.trim().to_owned());
        }
        match path.strip_suffix(".all") {
            Some(domain) if !domain.is_empty() => Self::Whole(domain.to_owned()),
            _ => Self::Name(path.to_owned()),
        }
    }
}

/// An unknown skill, domain or tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No domain has this name.
    #[error("Unknown domain: {name}")]
    Domain {
        /// The requested name.
        name: String,
        /// A similar name.
        near: Option<String>,
    },
    /// No domain has this name, or it has no skills.
    #[error("Unknown domain or no skills: {name}")]
    EmptyDomain {
        /// The requested name.
        name: String,
        /// A similar name.
        near: Option<String>,
    },
    /// No skill has this name.
    #[error("Unknown skill: {name}")]
    Skill {
        /// The requested name.
        name: String,
        /// A similar name.
        near: Option<String>,
    },
    /// No skill has this tag.
    #[error("Unknown tag: {name}")]
    Tag {
        /// The requested tag.
        name: String,
        /// A similar tag.
        near: Option<String>,
    },
}

impl Unknown {
    /// Returns the stable code of the error (S2.44).
    pub fn code(&self) -> ProblemCode {
        match self {
            Self::Domain { .. } | Self::EmptyDomain { .. } => ProblemCode::UnknownDomain,
            Self::Skill { .. } => ProblemCode::UnknownSkill,
            Self::Tag { .. } => ProblemCode::UnknownTag,
        }
    }

    /// Returns a similar name, if there is one.
    pub fn near(&self) -> Option<&str> {
        match self {
            Self::Domain { near, .. }
            | Self::EmptyDomain { near, .. }
            | Self::Skill { near, .. }
            | Self::Tag { near, .. } => near.as_deref(),
        }
    }
}

/// Returns why a command cannot be run, if known. The reason is shown on the page of the command.
pub type Unavailable<'a> = &'a dyn Fn(&Skill) -> Option<String>;

/// Answers `get_skill`, based only on skills: unavailable tools are not reported.
pub fn get_skill(snapshot: &Snapshot, topic: &Topic) -> Result<String, Unknown> {
    get_skill_with(snapshot, topic, &missing_handler)
}

/// Answers `get_skill`; `unavailable` reports commands that cannot be run.
pub fn get_skill_with(
    snapshot: &Snapshot,
    topic: &Topic,
    unavailable: Unavailable<'_>,
) -> Result<String, Unknown> {
    match topic {
        Topic::All => Ok(top(snapshot)),
        Topic::Whole(domain) => whole(snapshot, domain, unavailable),
        Topic::Tag(tag) => list_by_tag(snapshot, tag, unavailable),
        Topic::Name(name) => match snapshot.domain(name) {
            Some(domain) => {
                let skills = domain.skills.iter();
                let skills = skills.filter_map(|id| snapshot.skill(id.as_str()));
                let mut text = domain.index.text.read().into_owned();
                let why = |loaded: &Arc<LoadedSkill>| {
                    let why = unavailable(&loaded.skill)?;
                    Some(format!("\n- `{}`: {why}", loaded.skill.id))
                };
                let missing: String = skills.filter_map(why).collect();
                if !missing.is_empty() {
                    text = format!("{}\n\nNot available now:\n{missing}", text.trim_end());
                }
                Ok(text)
            }
            None => help_with(snapshot, name, unavailable),
        },
    }
}

/// Returns the page of a skill, based only on skills: unavailable tools are not reported.
pub fn help(snapshot: &Snapshot, name: &str) -> Result<String, Unknown> {
    help_with(snapshot, name, &missing_handler)
}

/// Returns the page of a skill, identical for `get_skill` and `--help` (S2.28).
fn help_with(
    snapshot: &Snapshot,
    name: &str,
    unavailable: Unavailable<'_>,
) -> Result<String, Unknown> {
    if let Some(loaded) = snapshot.find(name) {
        return Ok(page(loaded, unavailable));
    }
    let skills = snapshot.skills().map(|loaded| loaded.skill.id.as_str());
    let domains = snapshot.domains().map(|(name, _)| name);
    let name = name.to_owned();
    // A name with a dot can only be a skill.
    if name.contains('.') {
        let near = nearest_name(&name, skills).map(str::to_owned);
        return Err(Unknown::Skill { name, near });
    }
    // A word that is not a name may be a tag.
    if let Ok(list) = list_by_tag(snapshot, &name, unavailable) {
        return Ok(list);
    }
    let near = nearest_name(&name, domains.chain(skills)).map(str::to_owned);
    Err(Unknown::Domain { name, near })
}

fn page(loaded: &LoadedSkill, unavailable: Unavailable<'_>) -> String {
    let page = render::manual(&loaded.skill);
    match unavailable(&loaded.skill) {
        Some(why) => format!("{}\n\nNot available now: {why}", page.trim_end()),
        None => page,
    }
}

/// Lists the skills with a tag, one per line (S2.33).
fn list_by_tag(
    snapshot: &Snapshot,
    tag: &str,
    unavailable: Unavailable<'_>,
) -> Result<String, Unknown> {
    let query = Query {
        tag: Some(tag.to_owned()),
        ..Query::default()
    };
    let mut found = search(snapshot, &query);
    found.retain(|loaded| !super::is_hidden(&loaded.skill));
    if found.is_empty() {
        let of_skills = snapshot.skills().map(|loaded| &loaded.skill.details.tags);
        let domains = snapshot.domains();
        let of_domains = domains.map(|(_, domain)| &domain.index.details.tags);
        let tags = of_skills.chain(of_domains).flatten();
        return Err(Unknown::Tag {
            near: nearest(tag, tags.map(String::as_str)).map(str::to_owned),
            name: tag.to_owned(),
        });
    }
    let mut out = format!("Skills with the tag {}:\n\n", one_line(tag));
    for loaded in found {
        let about = one_line(&loaded.skill.description);
        let why = unavailable(&loaded.skill);
        let why = why.map_or(String::new(), |why| format!(" (not available now: {why})"));
        out.push_str(&format!("  {:12} {about}{why}\n", loaded.skill.id));
    }
    out.push_str("\nUse: get_skill: <domain>.<command> for specific skill details\n");
    Ok(out)
}

fn top(snapshot: &Snapshot) -> String {
    let mut out = String::from("Available skill domains:\n\n");
    for (name, domain) in snapshot.domains() {
        out.push_str(&format!(
            "  {name:12} {}\n",
            one_line(&domain.index.description)
        ));
    }
    let single = |loaded: &&Arc<LoadedSkill>| {
        loaded.skill.domain.is_none() && !super::is_hidden(&loaded.skill)
    };
    let mut single = snapshot.skills().filter(single).peekable();
    if single.peek().is_some() {
        out.push_str("\nSkills without a domain:\n\n");
    }
    for loaded in single {
        let summary = one_line(&loaded.skill.description);
        out.push_str(&format!("  {:12} {summary}\n", loaded.skill.id));
    }
    out.push_str("\nUse: get_skill: <domain> for domain details\n");
    out.push_str("Use: get_skill: <domain>.<command> for specific skill details\n");
    out.push_str("Use: get_skill: <domain>.all to load all skills in a domain\n");
    out
}

fn whole(snapshot: &Snapshot, name: &str, unavailable: Unavailable<'_>) -> Result<String, Unknown> {
    let skills = snapshot
        .domain(name)
        .map(|domain| domain.skills.as_slice())
        .unwrap_or_default();
    if skills.is_empty() {
        let domains = snapshot.domains().map(|(name, _)| name);
        return Err(Unknown::EmptyDomain {
            near: nearest(name, domains)
                .filter(|near| *near != name)
                .map(str::to_owned),
            name: name.to_owned(),
        });
    }
    let pages = skills.iter().filter_map(|id| snapshot.skill(id.as_str()));
    let pages: Vec<String> = pages
        .map(|loaded| format!("# {}\n\n{}", loaded.skill.id, page(loaded, unavailable)))
        .collect();
    Ok(pages.join("\n\n---\n\n"))
}

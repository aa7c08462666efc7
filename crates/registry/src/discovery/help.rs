//! `get_skill` in its four levels, and `--help` (S2.24 to S2.31).

use std::sync::Arc;

use deft_model::nearest;
use deft_skillfile::render;

use super::one_line;
use crate::snapshot::Snapshot;
use crate::unit::Loaded;

/// What `get_skill` was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Nothing: all domains.
    All,
    /// A domain, or a skill that belongs to none.
    Name(String),
    /// Every skill of a domain.
    Whole(String),
}

impl Topic {
    /// Reads what stands behind `get_skill:`.
    pub fn parse(path: &str) -> Self {
        let path = path.trim();
        if path.is_empty() {
            return Self::All;
        }
        match path.strip_suffix(".all") {
            Some(domain) if !domain.is_empty() => Self::Whole(domain.to_owned()),
            _ => Self::Name(path.to_owned()),
        }
    }
}

/// Nothing goes by that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No such domain.
    #[error("Unknown domain: {name}")]
    Domain {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        near: Option<String>,
    },
    /// No such domain, or nothing in it.
    #[error("Unknown domain or no skills: {name}")]
    EmptyDomain {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        near: Option<String>,
    },
    /// No such skill.
    #[error("Unknown skill: {name}")]
    Skill {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        near: Option<String>,
    },
}

impl Unknown {
    /// The stable code of the error (S2.44).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Domain { .. } | Self::EmptyDomain { .. } => "unknown_domain",
            Self::Skill { .. } => "unknown_skill",
        }
    }

    /// What was probably meant.
    pub fn near(&self) -> Option<&str> {
        match self {
            Self::Domain { near, .. }
            | Self::EmptyDomain { near, .. }
            | Self::Skill { near, .. } => near.as_deref(),
        }
    }
}

/// The answer to `get_skill`.
pub fn get_skill(snapshot: &Snapshot, topic: &Topic) -> Result<String, Unknown> {
    match topic {
        Topic::All => Ok(top(snapshot)),
        Topic::Whole(domain) => whole(snapshot, domain),
        Topic::Name(name) => match snapshot.domain(name) {
            Some(domain) => Ok(domain.index.text.read().into_owned()),
            None => help(snapshot, name),
        },
    }
}

/// The page of a skill, the same for `get_skill` and `--help` (S2.28).
pub fn help(snapshot: &Snapshot, name: &str) -> Result<String, Unknown> {
    if let Some(loaded) = snapshot.find(name) {
        return Ok(page(loaded));
    }
    let skills = snapshot.skills().map(|loaded| loaded.skill.id.as_str());
    let domains = snapshot.domains().map(|(name, _)| name);
    let name = name.to_owned();
    // A name with a dot can only be a skill.
    if name.contains('.') {
        let near = nearest(&name, skills).map(str::to_owned);
        return Err(Unknown::Skill { name, near });
    }
    let near = nearest(&name, domains.chain(skills)).map(str::to_owned);
    Err(Unknown::Domain { name, near })
}

fn page(loaded: &Loaded) -> String {
    render::manual(&loaded.skill)
}

fn top(snapshot: &Snapshot) -> String {
    let mut out = String::from("Available skill domains:\n\n");
    for (name, domain) in snapshot.domains() {
        out.push_str(&format!(
            "  {name:12} {}\n",
            one_line(&domain.index.description)
        ));
    }
    let single =
        |loaded: &&Arc<Loaded>| loaded.skill.domain.is_none() && !super::is_hidden(&loaded.skill);
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

fn whole(snapshot: &Snapshot, name: &str) -> Result<String, Unknown> {
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
        .map(|loaded| format!("# {}\n\n{}", loaded.skill.id, page(loaded)))
        .collect();
    Ok(pages.join("\n\n---\n\n"))
}

//! Finds skills by what is written about them (S2.33).

use deft_model::{Skill, Tier};

use crate::snapshot::Snapshot;
use crate::unit::LoadedSkill;

/// What is looked for; everything that is given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words, each of which must occur somewhere.
    pub words: Vec<String>,
    /// The domain.
    pub domain: Option<String>,
    /// A tag.
    pub tag: Option<String>,
    /// The tier.
    pub tier: Option<Tier>,
}

/// The skills that fit, the best first; without words, by id.
pub fn search<'a>(snapshot: &'a Snapshot, query: &Query) -> Vec<&'a LoadedSkill> {
    let fits = |skill: &Skill| {
        let same = |tag: &String| has_tag(snapshot, skill, tag);
        query
            .domain
            .as_ref()
            .is_none_or(|domain| skill.domain.as_ref() == Some(domain))
            && query.tag.as_ref().is_none_or(same)
            && query.tier.is_none_or(|tier| skill.tier() == tier)
    };
    let skills = snapshot
        .skills()
        .map(|loaded| &**loaded)
        .filter(|loaded| fits(&loaded.skill));
    let mut found: Vec<(u32, &LoadedSkill)> = skills
        .filter_map(|loaded| Some((score(&loaded.skill, &query.words)?, loaded)))
        .collect();
    // A stable sort keeps the order of ids among equals.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, loaded)| loaded).collect()
}

/// Whether a skill or the index of its domain has a tag, whatever the case.
pub fn has_tag(snapshot: &Snapshot, skill: &Skill, tag: &str) -> bool {
    let domain = skill.domain.as_deref();
    let domain = domain.and_then(|name| snapshot.domain(name));
    let of_domain = domain.map(|domain| &domain.index.details.tags);
    let mut tags = std::iter::once(&skill.details.tags)
        .chain(of_domain)
        .flatten();
    tags.any(|known| known.eq_ignore_ascii_case(tag))
}

/// How well a skill fits the words; `None` when one of them occurs nowhere.
fn score(skill: &Skill, words: &[String]) -> Option<u32> {
    words
        .iter()
        .map(|word| word_score(skill, &word.to_lowercase()))
        .sum()
}

fn word_score(skill: &Skill, word: &str) -> Option<u32> {
    let has = |text: &str| text.to_lowercase().contains(word);
    let tagged = skill
        .details
        .tags
        .iter()
        .chain(&skill.keywords)
        .any(|tag| has(tag));
    if has(skill.id.as_str()) || has(&skill.name) {
        Some(4)
    } else if tagged {
        Some(3)
    } else if has(&skill.description) {
        Some(1)
    } else {
        None
    }
}

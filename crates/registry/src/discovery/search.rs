//! Search for skills in their descriptive fields (S2.33).

use deft_model::{Skill, Tier};

use crate::snapshot::Snapshot;
use crate::unit::LoadedSkill;

/// A search; a skill must match all given criteria.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words that must all occur in the skill.
    pub words: Vec<String>,
    /// The domain of the skill.
    pub domain: Option<String>,
    /// A tag of the skill or its domain.
    pub tag: Option<String>,
    /// The tier of the skill.
    pub tier: Option<Tier>,
}

/// Returns the matching skills, best match first; without words, ordered by id.
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
    // The stable sort keeps equal scores ordered by id.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, loaded)| loaded).collect()
}

/// Returns whether a skill or the index of its domain has a tag, ignoring case.
pub fn has_tag(snapshot: &Snapshot, skill: &Skill, tag: &str) -> bool {
    let domain = skill.domain.as_deref();
    let domain = domain.and_then(|name| snapshot.domain(name));
    let of_domain = domain.map(|domain| &domain.index.details.tags);
    let mut tags = std::iter::once(&skill.details.tags)
        .chain(of_domain)
        .flatten();
    tags.any(|known| known.eq_ignore_ascii_case(tag))
}

/// Returns how well a skill matches the words; `None` if one of them does not occur.
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

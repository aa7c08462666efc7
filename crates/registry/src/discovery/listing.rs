//! `<available_skills>`: the short list of skills in a prompt (S0.18).

use std::cmp::Reverse;
use std::path::Path;

use deft_model::SkillId;

use crate::snapshot::Snapshot;
use crate::unit::LoadedSkill;

/// Maximum length of the list of names after the list of skills.
const MAX_NAMES_CHARS: usize = 400;

/// One entry of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSkill<'a> {
    /// The name that a model passes to load the skill.
    pub name: &'a str,
    /// The purpose of the skill.
    pub description: &'a str,
    /// The file that defines it.
    pub location: &'a Path,
}

/// A list of skills of limited size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The text for the prompt.
    pub text: String,
    /// The listed skills.
    pub listed: Vec<SkillId>,
    /// The skills that did not fit, most important first.
    pub left_out: Vec<SkillId>,
}

/// Renders the list exactly like the reference implementation of the open format.
pub fn available_skills<'a>(entries: impl IntoIterator<Item = ListedSkill<'a>>) -> String {
    let mut out = String::from("<available_skills>\n");
    for entry in entries {
        out.push_str(&xml(&entry));
    }
    out.push_str("</available_skills>");
    out
}

pub(super) fn xml(entry: &ListedSkill<'_>) -> String {
    format!(
        "<skill>\n<name>\n{}\n</name>\n<description>\n{}\n</description>\n<location>\n{}\n</location>\n</skill>\n",
        escape(entry.name),
        escape(entry.description),
        entry.location.display(),
    )
}

/// Escapes text like Python's `html.escape`.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            c => out.push(c),
        }
    }
    out
}

/// Lists the skills without keywords, most important first, as many as fit into `max_chars`. A note after the
/// list reports the skills that were left out.
pub fn listing(snapshot: &Snapshot, max_chars: usize) -> Listing {
    let ranked = rank_skills(snapshot);
    let all = available_skills(ranked.iter().map(|loaded| list_skill(loaded)));
    if all.chars().count() <= max_chars {
        return Listing {
            text: all,
            listed: ranked
                .iter()
                .map(|loaded| loaded.skill.id.clone())
                .collect(),
            left_out: Vec::new(),
        };
    }
    let frame = available_skills([]).chars().count() + note(&ranked, 0).chars().count();
    let mut used = frame;
    let fits = |loaded: &&&LoadedSkill| {
        used += xml(&list_skill(loaded)).chars().count();
        used <= max_chars
    };
    let kept = ranked.iter().take_while(fits).count();
    let ids = |skills: &[&LoadedSkill]| {
        skills
            .iter()
            .map(|loaded| loaded.skill.id.clone())
            .collect()
    };
    let text = available_skills(ranked[..kept].iter().map(|loaded| list_skill(loaded)));
    let room = max_chars.saturating_sub(text.chars().count());
    Listing {
        text: text + &note(&ranked[kept..], room),
        listed: ids(&ranked[..kept]),
        left_out: ids(&ranked[kept..]),
    }
}

/// Returns the skills for the list. Skills with keywords are excluded, because messages select them.
fn rank_skills(snapshot: &Snapshot) -> Vec<&LoadedSkill> {
    let mut skills: Vec<&LoadedSkill> = super::offered_skills(snapshot)
        .filter(|loaded| loaded.skill.keywords.is_empty())
        .collect();
    skills.sort_by_key(|loaded| (Reverse(loaded.skill.priority), loaded.skill.id.clone()));
    skills
}

pub(super) fn list_skill(loaded: &LoadedSkill) -> ListedSkill<'_> {
    ListedSkill {
        name: loaded.skill.id.as_str(),
        description: &loaded.skill.description,
        location: &loaded.path,
    }
}

/// Renders the note about left-out skills: their number, and as many names as fit.
fn note(left_out: &[&LoadedSkill], room: usize) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let count = match left_out.len() {
        1 => "1 more skill is".to_owned(),
        many => format!("{many} more skills are"),
    };
    let short = format!("\n{count} not listed; use get_skill to see them");
    let names: Vec<&str> = left_out
        .iter()
        .map(|loaded| loaded.skill.id.as_str())
        .collect();
    let long = format!("{short}: {}", names.join(", "));
    if long.chars().count() <= room.min(short.chars().count() + MAX_NAMES_CHARS) {
        long
    } else {
        short
    }
}

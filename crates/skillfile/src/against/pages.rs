//! Checks of the skills named in the text of a page or an index.

use std::collections::BTreeSet;

use deft_model::nearest;

use super::Surroundings;
use crate::diagnostic::{Diagnostic, Sink};
use crate::rules::Rule;
use crate::span::Span;

/// File extensions, which look like actions of a domain.
const ENDINGS: [&str; 7] = ["csv", "json", "md", "py", "txt", "yaml", "yml"];

/// Reports words in backticks such as `email.sned`, where the domain exists and the skill does not. With
/// `domain`, the text is the index of that domain, which also names its skills in the first column of tables.
pub fn check_page(text: &str, known: &Surroundings, domain: Option<&str>) -> Vec<Diagnostic> {
    let mut sink = Sink::default();
    let Some(skills) = &known.skills else {
        return sink.finish();
    };
    let domains: BTreeSet<&str> = skills
        .keys()
        .filter_map(|id| id.split_once('.').map(|(domain, _)| domain))
        .chain(domain)
        .collect();
    let mut seen = BTreeSet::new();
    let rows = domain.map(|_| rows(text));
    for (at, quoted) in quoted_parts(text).chain(rows.into_iter().flatten()) {
        // `email.send --to x` begins with the command.
        let word = quoted.split_whitespace().next().unwrap_or_default();
        let Some((domain, action)) = word.split_once('.') else {
            continue;
        };
        let is_word =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        let is_action = !action.is_empty() && action.chars().all(is_word);
        let known_word = skills.contains_key(word) || known.tools.contains_key(word);
        if known_word || !is_action || !domains.contains(domain) || ENDINGS.contains(&action) {
            continue;
        }
        let span = Span::new(at, at + word.len());
        if !seen.insert(word) {
            continue;
        }
        let near = nearest(word, skills.keys().map(String::as_str));
        let message = format!("unknown skill `{word}`");
        sink.report(Rule::UnknownSkill, span, message)
            .maybe_help(near.map(|near| format!("did you mean `{near}`?")));
    }
    sink.finish()
}

/// Returns the first cells of table rows, with their offsets.
fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let cell = line.strip_prefix('|')?.split('|').next()?;
        let word = cell.trim_start();
        Some((start + 1 + cell.len() - word.len(), word.trim_end()))
    })
}

/// Returns the text between single backticks on one line, with its offset.
fn quoted_parts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let start = at;
        at += line.len();
        let mut found = Vec::new();
        let mut offset = 0;
        for (nth, part) in line.split('`').enumerate() {
            if nth % 2 == 1 {
                found.push((start + offset, part));
            }
            offset += part.len() + 1;
        }
        found
    })
}

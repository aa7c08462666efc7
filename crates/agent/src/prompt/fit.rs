//! Fitting texts and lists into a cap: texts end at the end of a line, lists lose whole entries, and both
//! note it.

use std::collections::{HashMap, HashSet};

use deft_model::PromptEntry;

use crate::classify::{fold, in_word};

/// Returns a text cut to `cap` characters, and the number of missing characters.
pub(super) fn body(text: &str, cap: usize) -> (String, usize) {
    let text = text.trim_end();
    let length = text.chars().count();
    if length <= cap {
        return (text.to_owned(), 0);
    }
    let note = |missing: usize| format!("\n… ({missing} more characters were cut here)");
    let room = cap.saturating_sub(note(length).chars().count());
    let end = text
        .char_indices()
        .nth(room)
        .map_or(text.len(), |(at, _)| at);
    // A line that is longer than the room is cut in the middle.
    let end = match text[..end].rfind('\n') {
        Some(line) if line > 0 => line,
        _ => end,
    };
    let kept = text[..end].trim_end();
    let missing = length - kept.chars().count();
    (format!("{kept}{}", note(missing)), missing)
}

/// The choice of entries for a list.
pub(super) struct Selection<'a> {
    /// Entries that fit, in the given order.
    pub kept: Vec<&'a PromptEntry>,
    /// Entries that do not fit, the best first.
    pub left_out: Vec<&'a PromptEntry>,
}

/// Chooses the entries that fit: recently used ones first, then by priority, then by name. They are shown in
/// the given order, so that the text stays the same as long as the choice does.
pub(super) fn choose<'a>(
    entries: &'a [PromptEntry],
    recent: &[String],
    room: usize,
) -> Selection<'a> {
    let size = |entry: &PromptEntry| entry.text.chars().count();
    let total: usize = entries.iter().map(size).sum();
    if total <= room {
        return Selection {
            kept: entries.iter().collect(),
            left_out: Vec::new(),
        };
    }
    let lately: HashMap<&str, usize> = (recent.iter().enumerate().rev())
        .map(|(place, name)| (name.as_str(), place))
        .collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&at| {
        let entry = &entries[at];
        let used = lately.get(&*entry.name).copied().unwrap_or(usize::MAX);
        (used, std::cmp::Reverse(entry.priority), &entry.name)
    });
    let mut used = 0;
    // The first entry that does not fit ends the list: a shorter one further down is not better for being
    // short.
    let fitting = order.iter().take_while(|&&at| {
        used += size(&entries[at]);
        used <= room
    });
    let count = fitting.count();
    let mut kept = order[..count].to_vec();
    kept.sort_unstable();
    Selection {
        kept: kept.into_iter().map(|at| &entries[at]).collect(),
        left_out: order[count..].iter().map(|&at| &entries[at]).collect(),
    }
}

/// Returns the entries that share words with a message, the closest first. A word counts more if fewer
/// entries have it; one that a quarter of them have counts nothing.
pub(super) fn nearest<'a>(entries: &[&'a PromptEntry], message: &str) -> Vec<&'a PromptEntry> {
    let message = fold(message);
    let asked: HashSet<&str> = words(&message).collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let shared: Vec<HashSet<&str>> = entries
        .iter()
        .map(|entry| shared_words(entry, &asked))
        .collect();
    let mut having: HashMap<&str, u64> = HashMap::new();
    for word in shared.iter().flatten() {
        *having.entry(word).or_default() += 1;
    }
    let common = (entries.len() as u64 / 4).max(3);
    let weight = |word: &&str| match having.get(word) {
        Some(&count) if count <= common => 10_000 / count,
        _ => 0,
    };
    let mut scored: Vec<(u64, &PromptEntry)> = entries
        .iter()
        .zip(&shared)
        .map(|(&entry, words)| (words.iter().map(weight).sum(), entry))
        .filter(|(score, _)| *score > 0)
        .collect();
    // A stable sort keeps the order of rank among equals.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns the names that share words with a message, the closest first. Parts of a name are words.
pub fn closest<'a>(names: impl IntoIterator<Item = &'a str>, message: &str) -> Vec<String> {
    let entries: Vec<PromptEntry> = names
        .into_iter()
        .map(|name| PromptEntry {
            name: name.into(),
            about: "".into(),
            text: "".into(),
            priority: 0,
        })
        .collect();
    let entries: Vec<&PromptEntry> = entries.iter().collect();
    let near = nearest(&entries, message).into_iter();
    near.map(|entry| entry.name.to_string()).collect()
}

fn shared_words<'w>(entry: &PromptEntry, asked: &HashSet<&'w str>) -> HashSet<&'w str> {
    let text = fold(&format!("{} {}", entry.name, entry.about));
    words(&text)
        .filter_map(|word| asked.get(word).copied())
        .collect()
}

/// Returns the words of a folded text that have at least three letters; shorter ones are useless for search.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !in_word(c) || c == '_')
        .filter(|word| word.chars().nth(2).is_some())
}

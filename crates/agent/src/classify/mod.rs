//! Classification: which playbooks match a message, by their keywords (S0.19, S1.2).
//!
//! All keywords of all playbooks form one automaton, so a message costs one pass whatever their number. It is
//! built once for a set of skills and shared.
//!
//! Not here: where playbooks come from, their texts, and classification by a model.

mod placeholders;
mod words;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use aho_corasick::AhoCorasick;
use deft_model::{Role, Skill};

use placeholders::{General, pattern};
pub(crate) use words::{fold, in_word};

/// Number of bytes of a message that are searched. A request that a person wrote is shorter; the rest of a
/// longer message was pasted.
const MAX_SEARCHED_CHARS: usize = 20_000;

/// Marks a gap in a keyword, in which a few words may stand: `send * at <time>`.
const GAP: &str = " * ";

/// Maximum length of the text in a gap, in bytes.
const MAX_GAP_LEN: usize = 120;

/// The properties of a playbook that are needed to match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playbook {
    /// Id of the skill.
    pub id: String,
    /// Keywords that select it.
    pub keywords: Vec<String>,
    /// Playbooks with a higher priority come first.
    pub priority: i64,
    /// Tools that are offered with it (S0.95).
    pub tools: Vec<String>,
    /// Length of its text in characters.
    pub chars: usize,
}

impl Playbook {
    /// Converts an enabled playbook; returns `None` for other skills.
    pub fn from_skill(skill: &Skill) -> Option<Self> {
        let is_one = skill.role() == Some(Role::Playbook) && skill.policy.enabled;
        is_one.then(|| Self {
            id: skill.id.to_string(),
            keywords: skill.keywords.clone(),
            priority: skill.priority,
            tools: skill.required_tools.clone(),
            chars: skill.text().map_or(0, |text| text.read().chars().count()),
        })
    }
}

/// Limits for the playbooks of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchLimits {
    /// Maximum number of playbooks.
    pub count: usize,
    /// Maximum length of all texts together, in characters. The first playbook is used whatever its length.
    pub chars: usize,
}

impl Default for MatchLimits {
    fn default() -> Self {
        Self {
            count: 3,
            chars: 24_000,
        }
    }
}

/// A playbook that matches a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Id of the skill.
    pub id: String,
    /// The keywords that were found, as written in the skill, in the order of the message.
    pub keywords: Vec<String>,
    /// Its priority.
    pub priority: i64,
    /// Tools that are offered with it.
    pub tools: Vec<String>,
    /// Length of its text in characters.
    pub chars: usize,
}

impl Match {
    /// Returns why it matched, in words.
    pub fn reason(&self) -> String {
        let quoted: Vec<String> = self
            .keywords
            .iter()
            .map(|keyword| format!("\"{keyword}\""))
            .collect();
        format!("matched {}", quoted.join(", "))
    }
}

/// The playbooks that match a message, the most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classification {
    /// The playbooks to use.
    pub matched: Vec<Match>,
    /// Playbooks that match too but exceed the limits.
    pub left_out: Vec<Match>,
}

impl Classification {
    /// Returns the tools of the playbooks to use, each once, in order.
    pub fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<&str> = Vec::new();
        for tool in self.matched.iter().flat_map(|found| &found.tools) {
            if !tools.contains(&tool.as_str()) {
                tools.push(tool);
            }
        }
        tools
    }
}

/// The playbooks have more keywords than can be compiled.
#[derive(Debug, thiserror::Error)]
#[error("the playbooks have too many keywords: {0}")]
pub struct TooManyKeywords(String);

/// All playbooks, compiled for matching.
pub struct Classifier {
    playbooks: Vec<Playbook>,
    automaton: AhoCorasick,
    keywords: Vec<Keyword>,
    /// For each pattern, whether it contains a placeholder.
    general: Vec<bool>,
}

/// A keyword of a playbook.
struct Keyword {
    /// Index of the playbook.
    playbook: usize,
    /// Index in the keywords of the playbook.
    place: usize,
    /// The patterns that a message must contain in this order, in one sentence.
    parts: Vec<usize>,
}

/// The byte ranges of patterns in a message, by pattern.
type Hits = HashMap<usize, Vec<(usize, usize)>>;

impl fmt::Debug for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Classifier")
            .field("playbooks", &self.playbooks.len())
            .field("keywords", &self.keywords.len())
            .finish_non_exhaustive()
    }
}

impl Classifier {
    /// Compiles playbooks. Blank keywords match nothing.
    pub fn new(playbooks: impl IntoIterator<Item = Playbook>) -> Result<Self, TooManyKeywords> {
        let playbooks: Vec<Playbook> = playbooks.into_iter().collect();
        let mut patterns: Vec<String> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut general: Vec<bool> = Vec::new();
        let mut keywords = Vec::new();
        for (index, playbook) in playbooks.iter().enumerate() {
            for (place, keyword) in playbook.keywords.iter().enumerate() {
                let folded = fold(keyword);
                let parts = folded.split(GAP).map(str::trim);
                let mut part = |text: &str| {
                    let (text, has_placeholder) = pattern(text);
                    *known.entry(text).or_insert_with_key(|text| {
                        patterns.push(text.clone());
                        general.push(has_placeholder);
                        patterns.len() - 1
                    })
                };
                let parts: Vec<usize> = parts
                    .filter(|text| !text.is_empty())
                    .map(&mut part)
                    .collect();
                if !parts.is_empty() {
                    keywords.push(Keyword {
                        playbook: index,
                        place,
                        parts,
                    });
                }
            }
        }
        // The default match kind is the only one that can report overlaps.
        let automaton =
            AhoCorasick::new(&patterns).map_err(|problem| TooManyKeywords(problem.to_string()))?;
        Ok(Self {
            playbooks,
            automaton,
            keywords,
            general,
        })
    }

    /// Returns the number of playbooks.
    pub fn len(&self) -> usize {
        self.playbooks.len()
    }

    /// Whether there are no playbooks.
    pub fn is_empty(&self) -> bool {
        self.playbooks.is_empty()
    }

    /// Returns the playbooks that match a message.
    pub fn classify(&self, message: &str, limits: &MatchLimits) -> Classification {
        let text = fold(&message[..message.floor_char_boundary(MAX_SEARCHED_CHARS)]);
        let mut found: HashMap<usize, Vec<&str>> = HashMap::new();
        for Keyword {
            playbook, place, ..
        } in self.find_keywords(&text)
        {
            let keyword = self.playbooks[*playbook].keywords[*place].trim();
            found.entry(*playbook).or_default().push(keyword);
        }
        let mut matches: Vec<Match> = found
            .into_iter()
            .map(|(playbook, keywords)| self.describe(playbook, &keywords))
            .collect();
        matches.sort_by(|a, b| rank(a).cmp(&rank(b)));
        divide(matches, limits)
    }

    /// Returns the keywords in a text, in the order in which they begin there.
    fn find_keywords(&self, text: &str) -> Vec<&Keyword> {
        let mut hits = Hits::new();
        for (pattern, start, end) in self.hits(text, false) {
            hits.entry(pattern).or_default().push((start, end));
        }
        if self.general.contains(&true) {
            let general = General::from_text(text);
            for (pattern, start, end) in self.hits(&general.text, true) {
                let place = (general.original(start), general.original(end));
                hits.entry(pattern).or_default().push(place);
            }
        }
        let placed = self.keywords.iter().filter_map(|keyword| {
            let place = keyword.find(text, &hits)?;
            Some((place, keyword.parts[0], keyword))
        });
        let mut placed: Vec<_> = placed.collect();
        placed.sort_by_key(|(place, pattern, _)| (*place, *pattern));
        placed.into_iter().map(|(.., keyword)| keyword).collect()
    }

    /// Returns where patterns match whole words of a text: those with a placeholder if `general`, else those
    /// without.
    fn hits<'a>(
        &'a self,
        text: &'a str,
        general: bool,
    ) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
        let hits = self.automaton.find_overlapping_iter(text);
        let hits = hits.map(|hit| (hit.pattern().as_usize(), hit.start(), hit.end()));
        hits.filter(move |(pattern, start, end)| {
            self.general[*pattern] == general && words::is_whole(text, *start, *end)
        })
    }

    fn describe(&self, playbook: usize, keywords: &[&str]) -> Match {
        let playbook = &self.playbooks[playbook];
        Match {
            id: playbook.id.clone(),
            keywords: keywords.iter().map(|&keyword| keyword.to_owned()).collect(),
            priority: playbook.priority,
            tools: playbook.tools.clone(),
            chars: playbook.chars,
        }
    }
}

impl Keyword {
    /// Returns the byte range of its first match in a text: all its parts follow each other closely.
    fn find(&self, text: &str, hits: &Hits) -> Option<(usize, usize)> {
        let (first, rest) = self.parts.split_first()?;
        hits.get(first)?.iter().find_map(|(start, end)| {
            let end = rest.iter().try_fold(*end, |end, part| {
                let mut next = hits.get(part)?.iter();
                let next = next.find(|(start, _)| is_gap(text, end, *start))?;
                Some(next.1)
            })?;
            Some((*start, end))
        })
    }
}

/// Whether the text between two parts of a keyword is a gap: it is short and in the same sentence.
fn is_gap(text: &str, from: usize, to: usize) -> bool {
    let Some(between) = text.get(from..to) else {
        return false;
    };
    let ends = [". ", "! ", "? ", "; "];
    between.len() <= MAX_GAP_LEN && !ends.iter().any(|end| between.contains(end))
}

/// Returns the sort key of a match: the higher priority first, then more keywords, then the id.
fn rank(found: &Match) -> (Reverse<i64>, Reverse<usize>, &str) {
    (
        Reverse(found.priority),
        Reverse(found.keywords.len()),
        &found.id,
    )
}

/// Takes matches in order while they fit. A match that is too long does not exclude shorter ones after it.
fn divide(matches: Vec<Match>, limits: &MatchLimits) -> Classification {
    let mut classified = Classification::default();
    let mut used = 0;
    for found in matches {
        let first = classified.matched.is_empty();
        let fits = classified.matched.len() < limits.count && used + found.chars <= limits.chars;
        if limits.count > 0 && (first || fits) {
            used += found.chars;
            classified.matched.push(found);
        } else {
            classified.left_out.push(found);
        }
    }
    classified
}

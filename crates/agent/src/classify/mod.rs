//! Which playbooks a message calls for, by their keywords (S0.19, S1.2).
//!
//! All keywords of all playbooks are one automaton, so that a message costs one pass however many
//! there are. It is built once for a set of skills and shared.
//!
//! Not here: where playbooks come from, their texts, a model's opinion about what is meant.

mod placeholders;
mod words;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use aho_corasick::AhoCorasick;
use deft_model::{Role, Skill};

use placeholders::{General, pattern};
pub(crate) use words::{fold, in_word};

/// The longest stretch of a message that is looked at, in bytes: what calls for a playbook is said
/// by a person, and what is longer than this was pasted.
const MAX_LOOKED_AT: usize = 20_000;

/// How a keyword says that a few words may stand between its parts: `send * at <time>`.
const GAP: &str = " * ";

/// The most text that may stand there, in bytes.
const LONGEST_GAP: usize = 120;

/// What has to be known of a playbook to match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playbook {
    /// The skill.
    pub id: String,
    /// Words that call for it.
    pub keywords: Vec<String>,
    /// Which of several comes first: the higher.
    pub priority: i64,
    /// Tools that it brings along (S0.95).
    pub tools: Vec<String>,
    /// How long its text is.
    pub chars: usize,
}

impl Playbook {
    /// The playbook that a skill is, if it is one and switched on.
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

/// How much may be matched at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchLimits {
    /// How many playbooks.
    pub count: usize,
    /// How long they may be together. The first one is taken whatever its length.
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

/// A playbook that a message calls for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The skill.
    pub id: String,
    /// The keywords that were found, in the order of the message, as they were written.
    pub keywords: Vec<String>,
    /// Its priority.
    pub priority: i64,
    /// Tools that it brings along.
    pub tools: Vec<String>,
    /// How long its text is.
    pub chars: usize,
}

impl Match {
    /// Why it matched, in words.
    pub fn reason(&self) -> String {
        let quoted: Vec<String> = self
            .keywords
            .iter()
            .map(|keyword| format!("\"{keyword}\""))
            .collect();
        format!("matched {}", quoted.join(", "))
    }
}

/// The playbooks that a message calls for, the most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classification {
    /// Those that are used.
    pub matched: Vec<Match>,
    /// Those that matched too but are beyond the limits.
    pub left_out: Vec<Match>,
}

impl Classification {
    /// The tools that the used ones bring along, each once, in order.
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

/// There are more keywords than can be looked for at once.
#[derive(Debug, thiserror::Error)]
#[error("the keywords of the playbooks are too many to be looked for: {0}")]
pub struct TooManyKeywords(String);

/// All playbooks, ready to be matched.
pub struct Classifier {
    playbooks: Vec<Playbook>,
    automaton: AhoCorasick,
    keywords: Vec<Keyword>,
    /// For each pattern, whether a placeholder stands in it.
    general: Vec<bool>,
}

/// A keyword of a playbook.
struct Keyword {
    /// Its place in the list of playbooks.
    playbook: usize,
    /// Its place in the list of the playbook.
    place: usize,
    /// The patterns that a message must have, in this order, in one sentence.
    parts: Vec<usize>,
}

/// Where patterns are in a message.
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
    /// Makes playbooks ready. Blank keywords match nothing.
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
        // The standard kind of match is the one that can report overlaps.
        let automaton =
            AhoCorasick::new(&patterns).map_err(|problem| TooManyKeywords(problem.to_string()))?;
        Ok(Self {
            playbooks,
            automaton,
            keywords,
            general,
        })
    }

    /// How many playbooks there are.
    pub fn len(&self) -> usize {
        self.playbooks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.playbooks.is_empty()
    }

    /// Which playbooks a message calls for.
    pub fn classify(&self, message: &str, limits: &MatchLimits) -> Classification {
        let text = fold(&message[..message.floor_char_boundary(MAX_LOOKED_AT)]);
        let mut found: HashMap<usize, Vec<&str>> = HashMap::new();
        for Keyword {
            playbook, place, ..
        } in self.found(&text)
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

    /// The keywords in a text, in the order in which they begin there.
    fn found(&self, text: &str) -> Vec<&Keyword> {
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

    /// Where patterns are in a text as words of their own: those with a placeholder, or those without.
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
    /// Where it stands in a text: the first place at which all its parts follow each other closely.
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

/// Whether what lies between two parts of a keyword may be anything: it is short, and part of their
/// sentence.
fn is_gap(text: &str, from: usize, to: usize) -> bool {
    let Some(between) = text.get(from..to) else {
        return false;
    };
    let ends = [". ", "! ", "? ", "; "];
    between.len() <= LONGEST_GAP && !ends.iter().any(|end| between.contains(end))
}

/// The higher priority comes first, then more keywords, then the id.
fn rank(found: &Match) -> (Reverse<i64>, Reverse<usize>, &str) {
    (
        Reverse(found.priority),
        Reverse(found.keywords.len()),
        &found.id,
    )
}

/// Takes matches in their order as long as there is room. One that is too long does not keep a
/// shorter one behind it out.
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

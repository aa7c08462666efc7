//! Word splitting and matching for searches, the same for every backend.
//!
//! No stemming and no ranking: a word of a query matches every word that begins with it. That is enough for
//! plurals and for words that are still being typed.

/// The number of characters in a snippet before and after the match.
const SNIPPET_CHARS: (usize, usize) = (40, 120);

/// Yields the words of `text` in lower case, with their byte offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = rest.find(|(_, c)| c.is_alphanumeric())?;
        let mut word: String = first.to_lowercase().collect();
        let goes_on = |c: char| c.is_alphanumeric() && !is_whole_word(c);
        if !is_whole_word(first) {
            while let Some((_, c)) = rest.next_if(|(_, c)| goes_on(*c)) {
                word.extend(c.to_lowercase());
            }
        }
        Some((start, word))
    })
}

/// Whether `c` belongs to a script without spaces between words; there, each character is a word.
fn is_whole_word(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the words of `text` joined by spaces, for an index that splits at spaces.
pub(crate) fn index(text: &str) -> String {
    let words: Vec<String> = words(text).map(|(_, word)| word).collect();
    words.join(" ")
}

/// The words of a search query.
pub struct Query(Vec<String>);

impl Query {
    /// Splits a query into words.
    pub fn new(text: &str) -> Self {
        Self(words(text).map(|(_, word)| word).collect())
    }

    /// Returns the query in the syntax of FTS5, or `None` if it has no words.
    pub(crate) fn fts(&self) -> Option<String> {
        let words: Vec<String> = self.0.iter().map(|word| format!("\"{word}\"*")).collect();
        (!words.is_empty()).then(|| words.join(" AND "))
    }

    /// Whether every word of the query is a prefix of a word of `text`.
    pub fn fits(&self, text: &str) -> bool {
        let there: Vec<String> = words(text).map(|(_, word)| word).collect();
        let begins = |request: &String| there.iter().any(|word| word.starts_with(request));
        !self.0.is_empty() && self.0.iter().all(begins)
    }

    /// Returns the part of `text` around the first matching word, on one line.
    pub fn snippet(&self, text: &str) -> String {
        let wanted = |word: &str| self.0.iter().any(|request| word.starts_with(request));
        let found = words(text).find(|(_, word)| wanted(word));
        let place = found.map_or(0, |(place, _)| place);
        let (before, after) = SNIPPET_CHARS;
        let back = text[..place].char_indices().rev().take(before).last();
        let from = back.map_or(place, |(at, _)| at);
        let mut ahead = text[place..].char_indices().skip(after);
        let to = ahead.next().map_or(text.len(), |(at, _)| place + at);
        let line: Vec<&str> = text[from..to].split_whitespace().collect();
        let (left, right) = (mark(from > 0), mark(to < text.len()));
        format!("{left}{}{right}", line.join(" "))
    }
}

fn mark(cut: bool) -> &'static str {
    if cut { "…" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::{Query, index};

    #[test]
    fn words_are_letters_and_digits_in_lower_case() {
        let cases = [
            ("Drink WATER, at 5pm!", "drink water at 5pm"),
            ("don't", "don t"),
            ("Größe ΟΔΟΣ", "größe οδοσ"),
            ("今天 rain天", "今 天 rain 天"),
            (" -- ", ""),
        ];
        for (text, wanted) in cases {
            assert_eq!(index(text), wanted);
        }
    }

    #[test]
    fn every_word_of_a_query_is_a_prefix() {
        let cases = [
            ("remin wat", true),
            ("WATER reminder", true),
            ("ater", false),
            ("water wine", false),
            ("", false),
            ("\" OR *", false),
        ];
        for (query, wanted) in cases {
            let fits = Query::new(query).fits("A reminder: drink water");
            assert_eq!(fits, wanted, "{query}");
        }
    }

    #[test]
    fn a_snippet_is_one_line_around_the_match() {
        let long = format!("{}\nthe  Needle here {}", "ä ".repeat(50), "z".repeat(500));
        let snippet = Query::new("needle").snippet(&long);
        assert!(snippet.starts_with("…ä"), "{snippet}");
        assert!(snippet.contains("ä the Needle here zzz"), "{snippet}");
        assert!(snippet.ends_with("z…"), "{snippet}");
        assert!(snippet.chars().count() <= 162, "{snippet}");
        assert_eq!(Query::new("short").snippet("a short one"), "a short one");
    }
}

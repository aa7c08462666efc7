//! The form in which messages and keywords are compared, and the boundaries of words.
//!
//! Not here: stems, synonyms, spelling. A keyword matches as it was written, or not at all.

use unicode_normalization::UnicodeNormalization;

/// Converts a text to the form in which it is compared: composed, in lower case, with straight quotes and
/// single spaces. An ASCII message costs one pass and one allocation.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.is_ascii() {
        text.chars().for_each(|c| push(&mut out, c));
    } else {
        text.nfc().for_each(|c| push(&mut out, c));
    }
    out.truncate(out.trim_end().len());
    out
}

fn push(out: &mut String, c: char) {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{02bc}' => out.push('\''),
        '\u{201c}' | '\u{201d}' => out.push('"'),
        // The author of a text does not see soft hyphens and zero-width characters.
        '\u{00ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => {}
        // The Greek sigma has a second form at the end of a word.
        'ς' => out.push('σ'),
        c if c.is_whitespace() => {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        }
        c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
        c => out.extend(c.to_lowercase()),
    }
}

/// Whether a range of a folded text begins and ends at word boundaries.
pub(crate) fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let found = &text[start..end];
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    !joins(before, found.chars().next()) && !joins(found.chars().next_back(), after)
}

/// Whether two adjacent characters belong to one word.
fn joins(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(in_word) && right.is_some_and(in_word)
}

/// Whether a character can be inside a word that has visible boundaries. Scripts that are written without
/// spaces have no such words, so a keyword in them is found anywhere.
pub(crate) fn in_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_unspaced(c)
}

fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Myanmar, Khmer.
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Kana and Han; Hangul is written with spaces.
        | '\u{3005}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn lookalike_characters_match() {
        let cases = [
            ("Remind  me\n\tNOW ", "remind me now"),
            ("why didn\u{2019}t", "why didn't"),
            ("E\u{301}cole", "école"),
            ("re\u{ad}mind", "remind"),
            ("ΟΔΟΣ οδος", "οδοσ οδοσ"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(fold(text), expected);
        }
    }
}

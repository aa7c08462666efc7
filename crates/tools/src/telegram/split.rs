//! Splits long texts into messages.

/// The maximum length of one message, in UTF-16 code units.
pub(super) const MAX_MESSAGE_UNITS: usize = 4096;

/// Splits a text into parts of at most [`MAX_MESSAGE_UNITS`] units, between lines if possible, else between words,
/// else anywhere. White space at the cuts is dropped; a blank text has no parts.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end();
    while let Some(end) = overflow(rest) {
        let cut = border(&rest[..end], rest[end..].starts_with(char::is_whitespace));
        parts.push(rest[..cut].trim_end());
        rest = rest[cut..].trim_start();
    }
    parts.push(rest);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Returns the offset at which the text exceeds one message, if it does.
fn overflow(text: &str) -> Option<usize> {
    let mut units = 0;
    let mut letters = text.char_indices();
    letters.find_map(|(at, letter)| {
        units += letter.len_utf16();
        (units > MAX_MESSAGE_UNITS).then_some(at)
    })
}

/// Returns the best offset to cut at. A border in the first half is not used: it would leave a very
/// short message.
fn border(full: &str, ends_well: bool) -> usize {
    let late = |at: &usize| *at > full.len() / 2;
    let line = full.rfind('\n').filter(late);
    let word = || ends_well.then_some(full.len());
    let blank = || full.rfind(char::is_whitespace).filter(late);
    line.or_else(word).or_else(blank).unwrap_or(full.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> usize {
        text.encode_utf16().count()
    }

    #[test]
    fn short_texts_stay_whole() {
        assert_eq!(split("hello\n  world\n"), ["hello\n  world"]);
        assert_eq!(split(&"x".repeat(MAX_MESSAGE_UNITS)).len(), 1);
        assert_eq!(split(" \n "), [""; 0]);
    }

    #[test]
    fn lines_stay_whole_and_words_if_lines_cannot() {
        let line = "a line of twenty-six chars";
        let text = vec![line; 400].join("\n");
        let parts = split(&text);
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(|part| part.lines().all(|one| one == line)));
        assert_eq!(parts.join("\n"), text);
        let text = vec!["word"; 2000].join(" ");
        let parts = split(&text);
        assert_eq!(parts.join(" "), text);
        assert!(parts.iter().all(|part| units(part) <= MAX_MESSAGE_UNITS));
        // An early line break must not cause a short message.
        let text = format!("title\n{}", vec!["word"; 2000].join(" "));
        assert!(units(split(&text)[0]) > MAX_MESSAGE_UNITS / 2);
    }

    #[test]
    fn limits_are_in_utf16_units_and_characters_are_never_cut() {
        let text = "\u{1f600}".repeat(MAX_MESSAGE_UNITS);
        let parts = split(&text);
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| units(part) == MAX_MESSAGE_UNITS));
        let text = format!("x{}", "\u{1f600}".repeat(MAX_MESSAGE_UNITS / 2));
        let parts = split(&text);
        assert_eq!(
            [units(parts[0]), units(parts[1])],
            [MAX_MESSAGE_UNITS - 1, 2]
        );
        assert_eq!(parts.concat(), text);
    }

    #[test]
    fn a_word_that_just_fits_is_not_moved() {
        let text = format!("{} {}", "x".repeat(MAX_MESSAGE_UNITS), "y");
        assert_eq!(split(&text), ["x".repeat(MAX_MESSAGE_UNITS).as_str(), "y"]);
    }
}

//! The lines of `deft setup`: a word for the section, then text that is wrapped on words below itself.

use crate::table::wrap;

/// The column that texts begin in.
const MARGIN: usize = 10;

/// No text is wrapped to less than this.
const NARROWEST: usize = 30;

/// A section with its text, for a terminal of so many columns.
pub(super) fn section(word: &str, text: &str, width: Option<usize>) -> String {
    let room = width.map_or(usize::MAX, |width| {
        width.saturating_sub(MARGIN).max(NARROWEST)
    });
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.extend(wrap(line, room));
    }
    let mut out = format!("{word:MARGIN$}");
    out.push_str(&lines.join(&format!("\n{:MARGIN$}", "")));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_on_words_below_itself() {
        let text = "one two three four five six seven eight\nnine";
        let expected =
            "found     one two three four five six\n          seven eight\n          nine";
        assert_eq!(section("found", text, Some(40)), expected);
        assert_eq!(section("x", "a b", None), "x         a b");
    }
}

//! The lines of `deft setup`: the name of a section, then its text, wrapped and aligned.

use crate::table::wrap;

/// The column in which texts begin.
const MARGIN: usize = 10;

/// The minimum width of wrapped text.
const NARROWEST: usize = 30;

/// Formats a section for a terminal with `width` columns.
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
    fn wrapped_text_is_indented() {
        let text = "one two three four five six seven eight\nnine";
        let expected =
            "found     one two three four five six\n          seven eight\n          nine";
        assert_eq!(section("found", text, Some(40)), expected);
        assert_eq!(section("x", "a b", None), "x         a b");
    }
}

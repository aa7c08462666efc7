//! The lines of `deft setup`: a word for the section, then text that is wrapped on words below itself.

use unicode_width::UnicodeWidthStr;

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

fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut();
        match last {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.width() + 1 + word.width() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
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
        let long = "https://an.address.that.is.longer.than.the.line/and/stays/whole";
        assert_eq!(section("x", long, Some(40)), format!("x         {long}"));
        assert_eq!(section("x", "a b", None), "x         a b");
    }
}

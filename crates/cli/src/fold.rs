//! Folding of prose to the width of the terminal.
//!
//! Lines break between words. A command in backticks stays on one line if it fits, to be easy to copy;
//! paths and JSON are never broken. Not here: tables, whose columns have their own widths.

use unicode_width::UnicodeWidthChar;

/// The rightmost column at which values may be aligned. Further right, too little room is left for them.
const WIDEST_MARGIN: usize = 24;

/// Folds the lines of `text` that are longer than `width`. In a line that consists of a name, two or more
/// spaces and a value, continuation lines align with the value; in other lines, with the indentation.
pub(crate) fn fold(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let lines = text.split('\n');
    let lines = lines.map(|line| fold_line(line, margin(line), width));
    lines.collect::<Vec<_>>().join("\n")
}

/// Like [`fold`], for Markdown: code and tables are unchanged, list items continue below their text, and a
/// paragraph with lines longer than `width` is refilled.
pub(crate) fn fold_markdown(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut paragraphs: Vec<(String, bool)> = Vec::new();
    let mut fenced = false;
    for line in text.split('\n') {
        let words = line.trim_start();
        let is_fence = words.starts_with("```") || words.starts_with("~~~");
        fenced ^= is_fence;
        let is_fixed = fenced || is_fence || line.starts_with("    ") || words.starts_with('|');
        match paragraphs.last_mut() {
            Some((paragraph, false))
                if !is_fixed && continues(words) && columns_of(paragraph) > width =>
            {
                paragraph.push(' ');
                paragraph.push_str(words);
            }
            _ => paragraphs.push((line.to_owned(), is_fixed)),
        }
    }
    let lines = paragraphs.into_iter().map(|(line, is_fixed)| {
        let margin = indent(&line) + list_marker(line.trim_start());
        if is_fixed {
            line
        } else {
            fold_line(&line, margin, width)
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a line of Markdown continues the paragraph above it, instead of starting a new block.
fn continues(words: &str) -> bool {
    let begins_block = words.starts_with(['#', '>', '-', '*', '+', '<']);
    !words.is_empty() && !begins_block && list_marker(words) == 0
}

/// Folds one line. Continuation lines begin at the column `margin`.
fn fold_line(line: &str, margin: usize, width: usize) -> String {
    if columns_of(line) <= width {
        return line.to_owned();
    }
    let start = indent(line);
    let margin = if margin * 2 > width { start } else { margin };
    let mut out = line[..start].to_owned();
    let (mut used, mut first) = (start, true);
    for (gap, word) in pieces(&line[start..], width.saturating_sub(margin)) {
        let length = columns_of(word);
        let fits = used + gap + length <= width;
        // A value too long for any line stays beside its name.
        let gains = used + gap > margin;
        if first || fits || !gains {
            out.push_str(&" ".repeat(gap));
            used += gap + length;
        } else {
            out.push('\n');
            out.push_str(&" ".repeat(margin));
            used = margin + length;
        }
        out.push_str(word);
        first = false;
    }
    out
}

/// Returns the width of `text` in columns, without colour codes.
fn columns_of(text: &str) -> usize {
    let mut escape = false;
    let shown = text.chars().filter(|c| {
        escape |= *c == '\x1b';
        let hidden = escape;
        escape &= *c != 'm';
        !hidden
    });
    shown.map(|c| c.width().unwrap_or_default()).sum()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the column of the value in a line such as `name    value`, or the indentation of any other line.
fn margin(line: &str) -> usize {
    let start = indent(line);
    let rest = &line[start..];
    let value = rest.find("  ").map(|at| {
        let gap = rest[at..].len() - rest[at..].trim_start_matches(' ').len();
        start + columns_of(&rest[..at]) + gap
    });
    value.filter(|at| *at <= WIDEST_MARGIN).unwrap_or(start)
}

/// Returns the width of a list marker such as `- ` or `2. `, or 0 if `words` does not begin with one.
fn list_marker(words: &str) -> usize {
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &words[digits..];
    match digits {
        0 if rest.starts_with("- ") || rest.starts_with("* ") => 2,
        1..=3 if rest.starts_with(". ") => digits + 2,
        _ => 0,
    }
}

/// Splits a line into the pieces between which it may break, each with the number of spaces before it.
fn pieces(line: &str, room: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    loop {
        let words = rest.trim_start_matches(' ');
        let gap = rest.len() - words.len();
        if words.is_empty() {
            return found;
        }
        let (piece, after) = words.split_at(piece_length(words, room));
        found.push((gap, piece));
        rest = after;
    }
}

/// Returns the length in bytes of the first word of `text`. Code and JSON in the word belong to it, with
/// their spaces.
fn piece_length(text: &str, room: usize) -> usize {
    let word = text.find(' ').unwrap_or(text.len());
    let opens = |at: &usize| {
        // A colour code contains a bracket too.
        let is_color = *at > 0 && text.as_bytes()[*at - 1] == b'\x1b';
        text[*at..].starts_with(['`', '{', '[']) && !is_color
    };
    let Some(start) = (0..word)
        .filter(|at| text.is_char_boundary(*at))
        .find(opens)
    else {
        return word;
    };
    let is_code = text[start..].starts_with('`');
    let inside = if is_code {
        text[start + 1..].find('`').map(|at| start + 1 + at + 1)
    } else {
        json_end(&text[start..]).map(|length| start + length)
    };
    let Some(end) = inside.filter(|end| *end > word) else {
        return word;
    };
    let end = text[end..].find(' ').map_or(text.len(), |at| end + at);
    // A long quotation is prose in backticks.
    if is_code && columns_of(&text[..end]) > room {
        return word;
    }
    end
}

/// Returns the end of the JSON at the beginning of `text`, or `None` if `text` does not begin with JSON.
/// Truncated JSON ends with the ellipsis.
fn json_end(text: &str) -> Option<usize> {
    let second = text.as_bytes().get(1)?;
    if !br#"{["0123456789-tfn"#.contains(second) {
        return None;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '…' => return Some(at + c.len_utf8()),
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let cases = [
            (
                "hint: schedules run once deft is up\n  an indented line stays indented",
                "hint: schedules run\nonce deft is up\n  an indented line\n  stays indented",
            ),
            (
                "id   a description of the skill",
                "id   a description\n     of the skill",
            ),
            (
                "hint: run `deft runs resume` now",
                "hint: run\n`deft runs resume`\nnow",
            ),
            (
                "in `a long quotation of words`",
                "in `a long quotation\nof words`",
            ),
            (
                "file /a/path/that/is/longer/than/this",
                "file\n/a/path/that/is/longer/than/this",
            ),
            (
                r#"said out={"text":"a b c d"} 2"#,
                "said\nout={\"text\":\"a b c d\"}\n2",
            ),
            (
                "⚙ ls \x1b[2m{\"path\":\"a b\"}\x1b[0m \x1b[31m✗\x1b[0m no route",
                "⚙ ls \x1b[2m{\"path\":\"a b\"}\x1b[0m\n\x1b[31m✗\x1b[0m no route",
            ),
            (
                "out  {\"text\":\"one two three four\"}",
                "out  {\"text\":\"one two three four\"}",
            ),
            (
                "args={\"text\":\"one two three four… attempt=1",
                "args={\"text\":\"one two three four…\nattempt=1",
            ),
            (
                "see [the manual] for more words",
                "see [the manual] for\nmore words",
            ),
        ];
        for (text, folded) in cases {
            assert_eq!(fold(text, Some(20)), folded);
            assert_eq!(fold(text, None), text);
        }
    }

    #[test]
    fn code_in_markdown_is_not_wrapped() {
        let text = "A paragraph of some words\nin two lines\n- an item of several words\n  and more\n\n\
            Short\nlines stay\n```sh\necho one two three four\n```\n    echo one two three four\n\
            | a | table | of | cells |";
        let folded = "A paragraph of some\nwords in two lines\n- an item of several\n  words and more\n\n\
            Short\nlines stay\n```sh\necho one two three four\n```\n    echo one two three four\n\
            | a | table | of | cells |";
        assert_eq!(fold_markdown(text, Some(20)), folded);
        assert_eq!(fold_markdown(text, None), text);
    }
}

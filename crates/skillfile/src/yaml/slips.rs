//! Detection of the most common YAML mistakes in text that does not parse.

use std::ops::Range;

use super::repair::key_and_value;

/// Returns the range of a tab used instead of spaces before a key or an item.
pub(crate) fn tab_indent(text: &str) -> Option<Range<usize>> {
    lines(text).find_map(|(at, line)| {
        let rest = line.trim_start();
        let indent = &line[..line.len() - rest.len()];
        let tab = indent.find('\t')?;
        let structural = key_and_value(rest).is_some() || rest.starts_with("- ");
        structural.then_some(at + tab..at + tab + 1)
    })
}

/// Returns the position of a quote that is not closed before the next key.
pub(crate) fn unclosed_quote(text: &str) -> Option<usize> {
    lines(text).find_map(|(at, line)| {
        let start = at + value_start(line)?;
        if !text[start..].starts_with(['"', '\'']) {
            return None;
        }
        let end = start + entry_length(&text[start..], indent_of(line));
        is_unclosed(&text[start..end]).then_some(start)
    })
}

/// Whether a value starts with a quote that is not closed.
pub(super) fn is_unclosed(value: &str) -> bool {
    let mut chars = value.chars();
    let Some(quote @ ('"' | '\'')) = chars.next() else {
        return false;
    };
    while let Some(c) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            // Between single quotes, a doubled quote stands for one quote.
            if quote == '"' || !chars.as_str().starts_with(quote) {
                return false;
            }
            chars.next();
        }
    }
    true
}

/// Returns where the value in a line starts, after its key or its dash.
fn value_start(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches(' ');
    let item = rest.strip_prefix("- ").map_or(rest, str::trim_start);
    let at = line.len() - item.len();
    match key_and_value(item) {
        Some((_, value)) => Some(at + value),
        None => (item.len() < rest.len()).then_some(at),
    }
}

/// Returns the maximum length of a value: up to the next line that is not indented more than its own and
/// looks like a key or an item.
fn entry_length(text: &str, indent: usize) -> usize {
    let mut at = 0;
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        let rest = line.trim_start_matches(' ');
        let structural = key_and_value(rest).is_some() || rest.starts_with("- ");
        if nth > 0 && indent_of(line) <= indent && structural {
            break;
        }
        at += line.len();
    }
    at
}

/// Returns the lines outside of block scalars, with their offsets.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let mut block: Option<usize> = None;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let deeper = |indent: usize| line.trim().is_empty() || indent_of(line) > indent;
        if block.is_some_and(deeper) {
            return None;
        }
        block = opens_block(line).then(|| indent_of(line));
        Some((start, line))
    })
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn opens_block(line: &str) -> bool {
    let head = line
        .trim_end()
        .trim_end_matches(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit());
    [": |", ": >", "- |", "- >"]
        .iter()
        .any(|mark| head.ends_with(mark))
}

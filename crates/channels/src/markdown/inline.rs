//! Inline marks: emphasis, code, links.
//!
//! A mark needs its closing half, which must follow soon. Until that arrives the text is held back; without
//! it the mark is an ordinary character.

use super::block::run;
use super::style::Style;
use super::wrap::Wrap;

/// Maximum number of bytes between the halves of a mark. A live reader waits for at most this many.
const MAX_MARK_BYTES: usize = 300;

/// Writes as much of a line as can be decided and returns how many bytes that is.
pub(super) fn write(
    text: &str,
    before: Option<char>,
    style: Style,
    complete: bool,
    out: &mut Wrap,
) -> usize {
    let mut used = 0;
    let mut before = before;
    while let Some(c) = text[used..].chars().next() {
        let rest = &text[used..];
        let found = match c {
            '`' => code(rest, complete),
            '*' | '_' => emphasis(rest, c, before, complete),
            '[' => link(rest, complete),
            '\\' => escape(rest, complete),
            _ => InlineToken::Plain(c.len_utf8()),
        };
        let length = match found {
            InlineToken::Wait => return used,
            InlineToken::Plain(length) => {
                out.words(&rest[..length], style);
                length
            }
            InlineToken::Span {
                inner,
                more,
                length,
            } => {
                // The text between two halves is complete.
                write(inner, None, style.with(more), true, out);
                length
            }
            InlineToken::Text {
                inner,
                more,
                length,
            } => {
                out.words(inner, style.with(more));
                length
            }
            InlineToken::Link {
                label,
                target,
                length,
            } => {
                write(label, None, style.with(Style::LINK), true, out);
                if label != target {
                    out.words(&format!(" ({target})"), style.with(Style::DIM));
                }
                length
            }
        };
        before = rest[..length].chars().next_back();
        used += length;
    }
    used
}

/// The token at the start of a text.
enum InlineToken<'a> {
    /// Undecided: more text is needed.
    Wait,
    /// This many bytes of plain text.
    Plain(usize),
    /// Styled text that may contain further marks.
    Span {
        inner: &'a str,
        more: Style,
        length: usize,
    },
    /// Styled text without further marks.
    Text {
        inner: &'a str,
        more: Style,
        length: usize,
    },
    Link {
        label: &'a str,
        target: &'a str,
        length: usize,
    },
}

/// Returns the prefix of `text` that must contain the closing half of a mark.
fn closing_range(text: &str) -> &str {
    let mut end = text.len().min(MAX_MARK_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the token for a mark without a closing half: plain text if the half cannot follow any more,
/// otherwise a wait for more text.
fn unclosed_mark_token(text: &str, mark: usize, complete: bool) -> InlineToken<'_> {
    if complete || text.len() >= MAX_MARK_BYTES {
        InlineToken::Plain(mark)
    } else {
        InlineToken::Wait
    }
}

fn code(rest: &str, complete: bool) -> InlineToken<'_> {
    let mark = run(rest, '`');
    if mark == rest.len() && !complete {
        return InlineToken::Wait;
    }
    let behind = &rest[mark..];
    let within = closing_range(behind);
    let mut at = 0;
    while let Some(next) = within[at..].find('`') {
        let start = at + next;
        let length = run(&behind[start..], '`');
        if start + length == behind.len() && !complete {
            return InlineToken::Wait;
        }
        if length == mark {
            return InlineToken::Text {
                inner: &behind[..start],
                more: Style::CODE,
                length: mark + start + mark,
            };
        }
        at = (start + length).min(within.len());
    }
    unclosed_mark_token(behind, mark, complete)
}

fn emphasis(rest: &str, mark: char, before: Option<char>, complete: bool) -> InlineToken<'_> {
    let length = run(rest, mark);
    let behind = &rest[length..];
    let Some(next) = behind.chars().next() else {
        return if complete {
            InlineToken::Plain(length)
        } else {
            InlineToken::Wait
        };
    };
    // `a*b` and `snake_case` are words, `2 * 3` is a sum.
    let opens = !before.is_some_and(char::is_alphanumeric) && !next.is_whitespace() && length <= 3;
    if !opens {
        return InlineToken::Plain(length);
    }
    let within = closing_range(behind);
    let mut at = 0;
    while let Some(next) = within[at..].find(mark) {
        let start = at + next;
        let marks = run(&behind[start..], mark);
        let after = behind[start + marks..].chars().next();
        if after.is_none() && !complete {
            return InlineToken::Wait;
        }
        let blank = behind[..start].ends_with(char::is_whitespace);
        if marks == length && !blank && !after.is_some_and(char::is_alphanumeric) {
            return InlineToken::Span {
                inner: &behind[..start],
                more: match length {
                    1 => Style::ITALIC,
                    2 => Style::BOLD,
                    _ => Style::BOLD.with(Style::ITALIC),
                },
                length: length + start + length,
            };
        }
        at = (start + marks).min(within.len());
    }
    unclosed_mark_token(behind, length, complete)
}

fn link(rest: &str, complete: bool) -> InlineToken<'_> {
    let behind = &rest[1..];
    let Some(close) = closing_range(behind).find(']') else {
        return unclosed_mark_token(behind, 1, complete);
    };
    let Some(next) = behind[close + 1..].chars().next() else {
        return if complete {
            InlineToken::Plain(1)
        } else {
            InlineToken::Wait
        };
    };
    if next != '(' {
        return InlineToken::Plain(1);
    }
    let target = &behind[close + 2..];
    match closing_range(target).find(')') {
        Some(end) if !target[..end].contains(' ') => InlineToken::Link {
            label: &behind[..close],
            target: &target[..end],
            length: close + end + 4,
        },
        Some(_) => InlineToken::Plain(1),
        None => unclosed_mark_token(target, 1, complete),
    }
}

fn escape(rest: &str, complete: bool) -> InlineToken<'_> {
    match rest.chars().nth(1) {
        None if !complete => InlineToken::Wait,
        Some(next) if next.is_ascii_punctuation() => InlineToken::Text {
            inner: &rest[1..2],
            more: Style::PLAIN,
            length: 2,
        },
        _ => InlineToken::Plain(1),
    }
}

//! Finds the place of a character of a scalar in its file.

use super::node::{Node, Style};
use crate::span::Span;

/// The place in `file` of the bytes `range` of the scalar's text.
///
/// A scalar's text differs from its source by indentation, folding and
/// escapes, so both are walked side by side. This runs only for problems.
pub(crate) fn locate(file: &str, node: &Node, range: std::ops::Range<usize>) -> Span {
    let Some((scalar, source)) = node.as_scalar().zip(node.span.range()) else {
        return node.span;
    };
    let Some(raw) = file.get(source.clone()) else {
        return node.span;
    };
    let walk = Walk {
        raw,
        escapes: scalar.style == Style::DoubleQuoted,
        quotes: scalar.style == Style::SingleQuoted,
    };
    let mut at = walk.content_start(scalar.style);
    let mut start = None;
    for (offset, wanted) in scalar.text.char_indices() {
        let found = walk.find(at, wanted);
        if offset >= range.start && start.is_none() {
            start = Some(found.0);
        }
        if offset >= range.end {
            let begin = start.unwrap_or(found.0);
            // An empty range still gets one character to point at.
            let end = if range.is_empty() {
                found.1
            } else {
                at.max(begin)
            };
            return Span::new(source.start + begin, source.start + end);
        }
        at = found.1;
    }
    let begin = start.unwrap_or(at);
    Span::new(source.start + begin, source.start + at.max(begin))
}

struct Walk<'a> {
    raw: &'a str,
    escapes: bool,
    quotes: bool,
}

impl Walk<'_> {
    fn content_start(&self, style: Style) -> usize {
        match style {
            Style::SingleQuoted | Style::DoubleQuoted => 1.min(self.raw.len()),
            // Behind the `|` or `>` line.
            Style::Literal | Style::Folded => {
                self.raw.find('\n').map_or(self.raw.len(), |at| at + 1)
            }
            Style::Plain | Style::Typed => 0,
        }
    }

    /// Where in the source the next `wanted` is, from `at` on, as start and end.
    fn find(&self, at: usize, wanted: char) -> (usize, usize) {
        let chars = self.raw[at..].char_indices().peekable();
        for (skip, found) in chars {
            let here = at + skip;
            if self.escapes && found == '\\' {
                let length = escape_length(&self.raw[here..]);
                return (here, here + length);
            }
            if self.quotes && found == '\'' && wanted == '\'' {
                return (here, (here + 2).min(self.raw.len()));
            }
            // A folded line break stands for a space.
            let folded = wanted == ' ' && found == '\n';
            if found == wanted || folded {
                return (here, here + found.len_utf8());
            }
            if !found.is_whitespace() {
                return (here, here + found.len_utf8());
            }
        }
        (self.raw.len(), self.raw.len())
    }
}

/// How many bytes of source an escape sequence takes.
fn escape_length(raw: &str) -> usize {
    let length = match raw.as_bytes().get(1) {
        Some(b'x') => 4,
        Some(b'u') => 6,
        Some(b'U') => 10,
        Some(_) => 1 + raw[1..].chars().next().map_or(0, char::len_utf8),
        None => 1,
    };
    let mut length = length.min(raw.len());
    while !raw.is_char_boundary(length) {
        length += 1;
    }
    length
}

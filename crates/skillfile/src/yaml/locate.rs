//! Maps positions in the text of a scalar to spans in its file.

use std::ops::Range;

use super::node::{Node, Style};
use crate::span::Span;

/// Returns the span in `file` for a byte range of the scalar's text.
pub(crate) fn locate(file: &str, node: &Node, range: Range<usize>) -> Span {
    Places::new(file, node).span(&range)
}

/// The span of each character of a scalar in its file.
///
/// A scalar's text differs from its source by indentation, folding and escapes, so both are walked in
/// parallel. This only runs for problems.
pub(crate) struct Places {
    /// For each character: its offset in the text, and its start and end in the file.
    chars: Vec<(usize, usize, usize)>,
    /// The span of the whole scalar, used if its characters cannot be located.
    whole: Span,
}

impl Places {
    /// Locates the characters of a scalar.
    pub(crate) fn new(file: &str, node: &Node) -> Self {
        Self {
            chars: walk(file, node).unwrap_or_default(),
            whole: node.span,
        }
    }

    /// Returns the span for a range of the text. For an empty range it contains one character.
    pub(crate) fn span(&self, range: &Range<usize>) -> Span {
        let from = self.chars.partition_point(|one| one.0 < range.start);
        let to = self.chars.partition_point(|one| one.0 < range.end);
        match (self.chars.get(from), self.chars.last()) {
            (Some((_, start, end)), _) if to <= from => Span::new(*start, *end),
            (Some((_, start, _)), _) => Span::new(*start, self.chars[to - 1].2),
            (None, Some((_, _, end))) => Span::new(*end, *end),
            (None, None) => self.whole,
        }
    }
}

fn walk(file: &str, node: &Node) -> Option<Vec<(usize, usize, usize)>> {
    let (scalar, source) = node.as_scalar().zip(node.span.range())?;
    let raw = file.get(source.clone())?;
    // A value turned into text by a repair has no quotes, and a text inside a text may have escaped ones. In
    // the latter case the whole text is marked.
    let style = match scalar.style {
        Style::DoubleQuoted if raw.starts_with('"') => Style::DoubleQuoted,
        Style::SingleQuoted if raw.starts_with('\'') => Style::SingleQuoted,
        Style::DoubleQuoted | Style::SingleQuoted if raw.contains('\\') => return None,
        Style::DoubleQuoted | Style::SingleQuoted => Style::Plain,
        other @ (Style::Plain | Style::Literal | Style::Folded | Style::Typed) => other,
    };
    let walk = Walk { raw, style };
    // The span of a block scalar begins with its first line, not with the `|` or `>` above.
    let quoted = matches!(style, Style::DoubleQuoted | Style::SingleQuoted);
    let mut at = usize::from(quoted);
    let mut chars = Vec::with_capacity(scalar.text.len());
    for (offset, wanted) in scalar.text.char_indices() {
        let (start, end) = walk.find(at, wanted);
        chars.push((offset, source.start + start, source.start + end));
        at = end;
    }
    Some(chars)
}

struct Walk<'a> {
    raw: &'a str,
    style: Style,
}

impl Walk<'_> {
    /// Returns the start and end of the next `wanted` in the source, from `at` on.
    fn find(&self, at: usize, wanted: char) -> (usize, usize) {
        let mut here = at;
        while let Some(found) = self.raw[here..].chars().next() {
            let rest = &self.raw[here..];
            let length = found.len_utf8();
            if self.style == Style::DoubleQuoted && found == '\\' {
                if !is_joined_line(rest) {
                    return (here, here + escape_length(rest, wanted));
                }
            } else if let Some(length) = self.matches(found, wanted) {
                return (here, (here + length).min(self.raw.len()));
            } else if !found.is_whitespace() {
                // White space in the text may have no counterpart in the source, such as the empty lines
                // before a block's first line.
                let missing = wanted.is_whitespace();
                return (here, if missing { here } else { here + length });
            }
            here += length;
        }
        (self.raw.len(), self.raw.len())
    }

    /// Returns the number of source bytes for `wanted`, if they start with `found`.
    fn matches(&self, found: char, wanted: char) -> Option<usize> {
        let doubled = self.style == Style::SingleQuoted && wanted == '\'';
        // A folded line break becomes a space.
        let folded = wanted == ' ' && found == '\n';
        (found == wanted || folded).then_some(if doubled { 2 } else { found.len_utf8() })
    }
}

/// Whether a backslash ends the line and joins it with the next one.
fn is_joined_line(raw: &str) -> bool {
    raw[1..].starts_with(['\n', '\r'])
}

/// Returns the length of an escape sequence in the source, in bytes.
fn escape_length(raw: &str, wanted: char) -> usize {
    let length = match raw.as_bytes().get(1) {
        Some(b'x') => 4,
        // JSON writes characters above U+FFFF as two escapes.
        Some(b'u') if wanted > '\u{ffff}' && raw.get(6..8) == Some("\\u") => 12,
        Some(b'u') => 6,
        Some(b'U') => 10,
        Some(_) => 1 + raw[1..].chars().next().map_or(0, char::len_utf8),
        None => 1,
    };
    raw.ceil_char_boundary(length.min(raw.len()))
}

//! Spans in a file, and their lines and columns.

use std::ops::Range;

/// A byte range in a parsed file, or [`Span::NONE`] for values that a program passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// No span.
    pub const NONE: Self = Self {
        start: u32::MAX,
        end: u32::MAX,
    };

    /// Creates the byte range from `start` to `end` (exclusive).
    ///
    /// Files are limited to far less than 4 GB before they are parsed, so clamping has no effect.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX - 1);
        Self {
            start: clamp(start),
            end: clamp(end.max(start)),
        }
    }

    /// Returns the range, or `None` for [`Span::NONE`].
    pub fn range(self) -> Option<Range<usize>> {
        (self != Self::NONE).then_some(self.start as usize..self.end as usize)
    }

    /// Returns the start, or zero.
    pub fn start(self) -> usize {
        self.range().map_or(0, |range| range.start)
    }

    /// Returns the end, or zero.
    pub fn end(self) -> usize {
        self.range().map_or(0, |range| range.end)
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// The start offsets of lines in a text, to convert byte offsets to lines and columns.
#[derive(Debug)]
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of `text`.
    pub fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        Self {
            text,
            starts: starts.collect(),
        }
    }

    /// Returns line and column of a byte offset, both from 1; columns count characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let offset = floor_boundary(self.text, offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        (line, self.text[start..offset].chars().count() + 1)
    }
}

/// Returns the nearest character boundary at or before `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

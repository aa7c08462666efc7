//! A cursor over the characters of a text, which counts lines and columns like ruamel.

use super::{ReadResult, syntax};
use crate::span::Span;

/// The end marker, as in ruamel. It cannot occur in the text, because it is not printable.
pub(super) const END: char = '\0';

/// A position between two characters.
pub(super) struct Cursor {
    /// The characters with their offsets in the file, and the end marker.
    chars: Vec<(char, usize)>,
    /// The number of characters before the cursor.
    pub index: usize,
    pub line: usize,
    /// Characters since the last line feed. Unicode's own line breaks count as characters of the line, a byte
    /// order mark does not count.
    pub column: usize,
}

impl Cursor {
    /// Creates a cursor at the first character; fails if a character is not printable.
    pub(super) fn new(text: &str, offset: usize) -> ReadResult<Self> {
        let mut chars = Vec::with_capacity(text.len() + 1);
        let mut source = text.char_indices().peekable();
        while let Some((at, c)) = source.next() {
            let place = offset + at;
            if !is_printable(c) {
                let span = Span::new(place, place + c.len_utf8());
                let message = format!("the character `U+{:04X}` is not printable", c as u32);
                return Err(syntax(span, message, "delete it"));
            }
            // The reference opens files with universal newlines.
            if c == '\r' && source.peek().is_some_and(|(_, next)| *next == '\n') {
                continue;
            }
            chars.push((if c == '\r' { '\n' } else { c }, place));
        }
        chars.push((END, offset + text.len()));
        Ok(Self {
            chars,
            index: 0,
            line: 0,
            column: 0,
        })
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> char {
        self.peek_at(0)
    }

    /// Returns the character `ahead` of the next one.
    pub(super) fn peek_at(&self, ahead: usize) -> char {
        self.chars.get(self.index + ahead).map_or(END, |at| at.0)
    }

    /// Advances by `length` characters.
    pub(super) fn forward(&mut self, length: usize) {
        for _ in 0..length {
            match self.peek() {
                END => return,
                '\n' => {
                    self.line += 1;
                    self.column = 0;
                }
                '\u{feff}' => {}
                _ => self.column += 1,
            }
            self.index += 1;
        }
    }

    /// Advances past all characters for which `is_meant` is true.
    pub(super) fn pass(&mut self, is_meant: impl Fn(char) -> bool) {
        while self.peek() != END && is_meant(self.peek()) {
            self.forward(1);
        }
    }

    /// Advances by `length` characters and appends them to `into`.
    pub(super) fn take(&mut self, length: usize, into: &mut String) {
        for _ in 0..length {
            into.push(self.peek());
            self.forward(1);
        }
    }

    /// Advances past a line break, and returns the character that it stands for.
    pub(super) fn line_break(&mut self) -> Option<char> {
        let stands_for = match self.peek() {
            '\n' | '\u{85}' => '\n',
            c @ ('\u{2028}' | '\u{2029}') => c,
            _ => return None,
        };
        self.forward(1);
        Some(stands_for)
    }

    /// Returns whether `---` or `...` follows as a word.
    pub(super) fn at_marker(&self) -> bool {
        let same = |c| (0..3).all(|ahead| self.peek_at(ahead) == c);
        (same('-') || same('.')) && is_blank(self.peek_at(3))
    }

    /// Returns the offset of the cursor in the file.
    pub(super) fn place(&self) -> usize {
        let last = self.chars.len() - 1;
        self.chars[self.index.min(last)].1
    }

    /// Returns the span from `start` to the cursor.
    pub(super) fn since(&self, start: usize) -> Span {
        Span::new(start, self.place().max(start))
    }

    /// Returns the span of the next character.
    pub(super) fn here(&self) -> Span {
        let next = self.chars.get(self.index + 1);
        Span::new(self.place(), next.map_or(self.place(), |at| at.1))
    }
}

/// Whether a character ends a line.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a line ends here.
pub(super) fn is_line_end(c: char) -> bool {
    c == END || is_break(c)
}

/// Whether a word ends here.
pub(super) fn is_blank(c: char) -> bool {
    is_line_end(c) || is_space(c)
}

/// Whether a character is white space within a line.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_printable(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}'
            | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}'
    )
}

//! Plain scalars: texts without quotes.

use super::cursor::{is_blank, is_break};
use super::scan::Scanner;
use crate::span::Span;
use crate::yaml::{Scalar, Style};

impl Scanner {
    /// Scans a plain scalar, which may continue on lines that are indented more than its key.
    pub(super) fn plain(&mut self) {
        let start = self.cursor.place();
        let mut end = start;
        let mut text = String::new();
        let mut spaces = String::new();
        while self.cursor.peek() != '#' {
            let length = self.plain_length();
            if length == 0 {
                break;
            }
            self.may_start = false;
            text.push_str(&spaces);
            self.cursor.take(length, &mut text);
            end = self.cursor.place();
            spaces = self.plain_spaces();
            if spaces.is_empty() || self.cursor.column < self.indent {
                break;
            }
        }
        let span = Span::new(start, end);
        let style = Style::Plain;
        self.push_scalar(Scalar { text, style }, span);
    }

    /// Returns the length up to a blank, or to a `:` before one.
    fn plain_length(&self) -> usize {
        let mut length = 0;
        loop {
            let next = self.cursor.peek_at(length);
            if is_blank(next) || (next == ':' && is_blank(self.cursor.peek_at(length + 1))) {
                return length;
            }
            length += 1;
        }
    }

    /// Scans the white space between two words: spaces, or folded line breaks. An empty result ends the text;
    /// so does a tab.
    fn plain_spaces(&mut self) -> String {
        let mut spaces = String::new();
        while self.cursor.peek() == ' ' {
            self.cursor.take(1, &mut spaces);
        }
        let Some(first) = self.cursor.line_break() else {
            return spaces;
        };
        self.may_start = true;
        if self.cursor.at_marker() {
            return String::new();
        }
        let mut breaks = String::new();
        while self.cursor.peek() == ' ' || is_break(self.cursor.peek()) {
            if let Some(one) = self.cursor.line_break() {
                breaks.push(one);
                if self.cursor.at_marker() {
                    return String::new();
                }
            } else {
                self.cursor.forward(1);
            }
        }
        fold(first, &breaks)
    }
}

/// Folds line breaks: a single one becomes a space, of several the first is dropped. Unicode's own line
/// breaks are kept.
pub(super) fn fold(first: char, breaks: &str) -> String {
    match first {
        '\n' if breaks.is_empty() => " ".to_owned(),
        '\n' => breaks.to_owned(),
        other => format!("{other}{breaks}"),
    }
}

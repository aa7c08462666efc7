//! Wrapping of words into lines of a given width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::Style;

/// A word wrapper with its pending output.
pub(super) struct Wrap {
    width: Option<usize>,
    out: String,
    /// The style that the terminal has after `out`.
    style: Style,
    /// Current column.
    column: usize,
    /// Indentation of continuation lines.
    hang: usize,
    /// Blanks before the next word.
    gap: usize,
    /// Style of these blanks: the blank after a link is not underlined.
    gap_style: Style,
    /// The incomplete word.
    word: Vec<(Style, char)>,
    /// Whether words longer than a line are broken here instead of by the terminal.
    breaks_words: bool,
}

impl Wrap {
    pub(super) fn new(width: Option<usize>) -> Self {
        Self {
            // Narrower columns are unreadable, because hardly any word fits: do not wrap.
            width: width.filter(|width| *width >= 20),
            out: String::new(),
            style: Style::PLAIN,
            column: 0,
            hang: 0,
            gap: 0,
            gap_style: Style::PLAIN,
            word: Vec::new(),
            breaks_words: false,
        }
    }

    /// Creates a wrapper for a table cell, which may be narrow and must not exceed `width`.
    pub(super) fn narrow(width: usize) -> Self {
        Self {
            width: Some(width.max(1)),
            breaks_words: true,
            ..Self::new(None)
        }
    }

    /// Adds lines that are already laid out.
    pub(super) fn lines(&mut self, text: &str) {
        self.end_word();
        self.switch(Style::PLAIN);
        self.out.push_str(text);
        self.column = 0;
    }

    /// Takes the output so far.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    pub(super) fn is_midline(&self) -> bool {
        self.column > 0 || !self.word.is_empty()
    }

    /// Begins a line with a mark such as a bullet; continuation lines align with its first word.
    pub(super) fn begin(&mut self, indent: usize, mark: &str) {
        self.indent(indent);
        self.out.push_str(mark);
        self.column += mark.width();
        self.hang = self.column;
    }

    /// Writes `indent` blanks.
    pub(super) fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column += indent;
    }

    /// Adds a text of several words.
    pub(super) fn words(&mut self, text: &str, style: Style) {
        text.chars().for_each(|c| self.put(c, style));
    }

    /// Adds one character.
    pub(super) fn put(&mut self, c: char, style: Style) {
        match c.width().unwrap_or_default() {
            _ if c == ' ' => {
                self.end_word();
                self.gap += 1;
                self.gap_style = style;
            }
            // Scripts without blanks, such as Chinese, break between any two characters.
            2.. => {
                self.end_word();
                self.word.push((style, c));
                self.end_word();
            }
            _ => {
                self.word.push((style, c));
                if self.breaks_words && Some(self.word.len()) == self.width {
                    self.end_word();
                }
            }
        }
    }

    /// Adds text without wrapping it.
    pub(super) fn raw(&mut self, text: &str, style: Style) {
        self.end_word();
        if !text.is_empty() {
            self.switch(style);
            self.out.push_str(text);
            self.column += text.width();
        }
    }

    fn end_word(&mut self) {
        let length = |(_, c): &(Style, char)| c.width().unwrap_or_default();
        let length: usize = self.word.iter().map(length).sum();
        if self.word.is_empty() {
            return;
        }
        let over = self
            .width
            .is_some_and(|width| self.column + self.gap + length > width);
        if over && self.column > self.hang {
            self.break_line();
            self.gap = 0;
        }
        let gap = std::mem::take(&mut self.gap);
        if gap > 0 {
            self.switch(self.gap_style);
            self.indent(gap);
        }
        for (style, c) in std::mem::take(&mut self.word) {
            self.switch(style);
            self.out.push(c);
        }
        self.column += length;
        if let Some(width) = self.width {
            // The terminal itself breaks text that is longer than a line.
            self.column = if self.column > width {
                self.column % width
            } else {
                self.column
            };
        }
    }

    fn break_line(&mut self) {
        let hang = self.hang;
        self.end();
        self.indent(hang);
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self) {
        self.end_word();
        self.end();
        (self.hang, self.gap) = (0, 0);
    }

    fn end(&mut self) {
        self.switch(Style::PLAIN);
        self.out.push('\n');
        self.column = 0;
    }

    fn switch(&mut self, style: Style) {
        if self.style != style {
            self.out.push_str(&style.sequence());
            self.style = style;
        }
    }
}

//! Quoted scalars.

use super::cursor::{END, is_blank, is_space};
use super::plain::fold;
use super::scan::Scanner;
use super::{ReadResult, syntax};
use crate::span::Span;
use crate::yaml::{Scalar, Style};

impl Scanner {
    /// Scans a quoted scalar. Its lines need no indentation, because the closing quote ends it.
    pub(super) fn scan_quoted(&mut self) -> ReadResult<()> {
        let start = self.cursor.place();
        let quote = self.cursor.peek();
        self.cursor.forward(1);
        let mut text = String::new();
        self.quoted_words(quote, &mut text)?;
        while self.cursor.peek() != quote {
            self.quoted_spaces(start, &mut text)?;
            self.quoted_words(quote, &mut text)?;
        }
        self.cursor.forward(1);
        let style = match quote {
            '"' => Style::DoubleQuoted,
            _ => Style::SingleQuoted,
        };
        self.push_scalar(Scalar { text, style }, self.cursor.since(start));
        Ok(())
    }

    fn quoted_words(&mut self, quote: char, text: &mut String) -> ReadResult<()> {
        loop {
            match self.cursor.peek() {
                c if is_blank(c) => return Ok(()),
                '\'' if quote == '\'' && self.cursor.peek_at(1) == '\'' => {
                    self.cursor.forward(1);
                    self.cursor.take(1, text);
                }
                c if c == quote => return Ok(()),
                '\\' if quote == '"' => self.escape(text)?,
                _ => self.cursor.take(1, text),
            }
        }
    }

    fn quoted_spaces(&mut self, start: usize, text: &mut String) -> ReadResult<()> {
        let mut spaces = String::new();
        while is_space(self.cursor.peek()) {
            self.cursor.take(1, &mut spaces);
        }
        if self.cursor.peek() == END {
            let first = Span::new(start, start + 1);
            return Err(syntax(
                first,
                "the quote is not closed",
                "close it, or double the quotes that belong to the text",
            ));
        }
        let Some(first) = self.cursor.line_break() else {
            text.push_str(&spaces);
            return Ok(());
        };
        let breaks = self.quoted_breaks()?;
        text.push_str(&fold(first, &breaks));
        Ok(())
    }

    /// Scans empty lines and the white space before the next word.
    fn quoted_breaks(&mut self) -> ReadResult<String> {
        let mut breaks = String::new();
        loop {
            if self.cursor.at_marker() {
                return Err(syntax(
                    self.cursor.here(),
                    "the document ends inside a quoted string",
                    "close the quote, or indent the line",
                ));
            }
            self.cursor.pass(is_space);
            match self.cursor.line_break() {
                Some(one) => breaks.push(one),
                None => return Ok(breaks),
            }
        }
    }

    /// Scans an escape sequence and appends the characters it stands for.
    fn escape(&mut self, text: &mut String) -> ReadResult<()> {
        let start = self.cursor.place();
        self.cursor.forward(1);
        let letter = self.cursor.peek();
        if self.cursor.line_break().is_some() {
            let breaks = self.quoted_breaks()?;
            text.push_str(&breaks);
            return Ok(());
        }
        self.cursor.forward(1);
        let code = match letter {
            'x' => self.code(2),
            'u' => self.code(4),
            'U' => self.code(8),
            _ => named_escape(letter).map(u32::from),
        };
        let Some(meant) = code.and_then(|code| self.character(code)) else {
            return Err(syntax(
                self.cursor.since(start),
                format!("`\\{letter}` is not an escape"),
                "write two backslashes for one, or use single quotes",
            ));
        };
        text.push(meant);
        Ok(())
    }

    /// Scans a hexadecimal number with `digits` digits.
    fn code(&mut self, digits: usize) -> Option<u32> {
        let mut code: u32 = 0;
        for ahead in 0..digits {
            let digit = self.cursor.peek_at(ahead).to_digit(16)?;
            code = code.checked_mul(16)?.checked_add(digit)?;
        }
        self.cursor.forward(digits);
        Some(code)
    }

    /// Returns the character for a code. Python stores surrogates separately and prints a pair as one JSON
    /// character; Rust strings cannot contain surrogates, so a pair is combined here, and a single one
    /// becomes the replacement character.
    fn character(&mut self, code: u32) -> Option<char> {
        let is_half = (0xd800..0xe000).contains(&code);
        if !is_half {
            return char::from_u32(code);
        }
        let second = ['\\', 'u'];
        if code < 0xdc00 && (0..2).all(|at| self.cursor.peek_at(at) == second[at]) {
            let mut digits = (2..6).map(|at| self.cursor.peek_at(at).to_digit(16));
            let low = digits.try_fold(0, |sum, digit| Some(sum * 16 + digit?));
            if let Some(low @ 0xdc00..0xe000) = low {
                self.cursor.forward(6);
                return char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            }
        }
        Some(char::REPLACEMENT_CHARACTER)
    }
}

fn named_escape(letter: char) -> Option<char> {
    Some(match letter {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        c @ (' ' | '"' | '/' | '\\') => c,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}

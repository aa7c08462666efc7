//! F-strings with the rules of Python 3.11.
//!
//! The contents are split into text and `{…}` here; the expressions go to the parser again, with
//! spans that still count from the start of the condition. The looser rules of Python 3.12
//! (backslashes, comments and the same quotes inside braces) are not taken.

use std::ops::Range;

use super::ast::{Conversion, Expr, FStringPart};
use super::parser::Parser;
use super::string;
use crate::error::SyntaxError;

/// Python 3.11 takes a value inside a format, but no value inside that one's format.
const MAX_LEVEL: usize = 2;

/// Splits the contents of an f-string and appends them to `parts`.
pub(super) fn split(
    parser: &mut Parser<'_>,
    contents: Range<usize>,
    raw: bool,
    parts: &mut Vec<FStringPart>,
) -> Result<(), SyntaxError> {
    let mut splitter = Splitter {
        pos: contents.start,
        end: contents.end,
        raw,
        parser,
    };
    splitter.parts(0, parts)
}

/// Appends text, joined with text that stands before it.
pub(super) fn push_text(parts: &mut Vec<FStringPart>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(FStringPart::Literal(last)) = parts.last_mut() {
        last.push_str(text);
    } else {
        parts.push(FStringPart::Literal(text.to_owned()));
    }
}

struct Splitter<'p, 's> {
    parser: &'p mut Parser<'s>,
    pos: usize,
    end: usize,
    raw: bool,
}

impl Splitter<'_, '_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        let at = self.pos + ahead;
        let bytes = self.parser.source.as_bytes();
        (at < self.end).then(|| bytes[at])
    }

    /// Text and values up to the end, or up to the `}` that closes a format.
    fn parts(&mut self, level: usize, parts: &mut Vec<FStringPart>) -> Result<(), SyntaxError> {
        loop {
            self.text(level, parts)?;
            match self.byte(0) {
                Some(b'{') => self.value(level, parts)?,
                Some(_) | None => return Ok(()),
            }
        }
    }

    /// Text up to a brace that means something.
    fn text(&mut self, level: usize, parts: &mut Vec<FStringPart>) -> Result<(), SyntaxError> {
        loop {
            let start = self.pos;
            self.skip_text();
            let text = &self.parser.source[start..self.pos];
            if self.raw {
                push_text(parts, text);
            } else {
                let mut decoded = String::with_capacity(text.len());
                string::unescape(text, start, &mut decoded)?;
                push_text(parts, &decoded);
            }
            match (self.byte(0), self.byte(1)) {
                (Some(b'{'), Some(b'{')) if level == 0 => push_text(parts, "{"),
                (Some(b'}'), Some(b'}')) if level == 0 => push_text(parts, "}"),
                (Some(b'}'), _) if level == 0 => {
                    let error = SyntaxError::new("single `}` in an f-string", self.here());
                    return Err(error.with_hint("write `}}` for a brace in the text"));
                }
                _ => return Ok(()),
            }
            self.pos += 2;
        }
    }

    /// Moves to the next brace; a backslash hides any character but a brace.
    fn skip_text(&mut self) {
        while let Some(byte) = self.byte(0) {
            match byte {
                b'{' | b'}' => return,
                b'\\' if !self.raw && !matches!(self.byte(1), Some(b'{' | b'}') | None) => {
                    self.pos += 2;
                }
                _ => self.pos += 1,
            }
        }
    }

    /// `{expr=!r:format}`; the position is at the opening brace.
    fn value(&mut self, level: usize, parts: &mut Vec<FStringPart>) -> Result<(), SyntaxError> {
        if level >= MAX_LEVEL {
            let message = "values in an f-string are nested too deeply";
            return Err(SyntaxError::new(message, self.here()));
        }
        let open = self.here();
        self.pos += 1;
        let expr = self.expression(&open)?;
        let shown = self.byte(0) == Some(b'=');
        if shown {
            self.pos += 1;
            while self.byte(0).is_some_and(|b| b.is_ascii_whitespace()) {
                self.pos += 1;
            }
            push_text(parts, &self.parser.source[open.end..self.pos]);
        }
        let mut conversion = self.conversion()?;
        let format = self.format(level)?;
        if self.byte(0) != Some(b'}') {
            return Err(SyntaxError::new("unclosed `{` in an f-string", open));
        }
        self.pos += 1;
        // `{x=}` shows the value as `repr` does, unless it says how to show it.
        if shown && conversion.is_none() && format.is_none() {
            conversion = Some(Conversion::Repr);
        }
        parts.push(FStringPart::Value {
            expr: Box::new(expr),
            conversion,
            format,
        });
        Ok(())
    }

    fn expression(&mut self, open: &Range<usize>) -> Result<Expr, SyntaxError> {
        let start = self.pos;
        self.skip_expression()?;
        let range = start..self.pos;
        if self.parser.source[range.clone()].trim().is_empty() {
            let span = open.start..self.pos;
            return Err(SyntaxError::new("empty expression in an f-string", span));
        }
        self.parser.nested(range)
    }

    /// Moves to the `=`, `!`, `:` or `}` that ends the expression.
    fn skip_expression(&mut self) -> Result<(), SyntaxError> {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (b'\\' | b'#', _) => {
                    let message =
                        format!("`{}` inside the braces of an f-string", char::from(byte));
                    return Err(SyntaxError::new(message, self.here()));
                }
                (b'"' | b'\'', _) => {
                    self.skip_string(byte)?;
                    continue;
                }
                (b'(' | b'[' | b'{', _) => depth += 1,
                (b'!' | b'=' | b'<' | b'>', Some(b'=')) if depth == 0 => self.pos += 1,
                (b'!' | b'=' | b':' | b'}', _) if depth == 0 => return Ok(()),
                // A bracket that closes nothing is left to the parser, which names it.
                (b')' | b']' | b'}', _) => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.pos += 1;
        }
        Ok(())
    }

    fn skip_string(&mut self, quote: u8) -> Result<(), SyntaxError> {
        let open = self.here();
        let triple = self.byte(1) == Some(quote) && self.byte(2) == Some(quote);
        let width = if triple { 3 } else { 1 };
        self.pos += width;
        while !(0..width).all(|ahead| self.byte(ahead) == Some(quote)) {
            match self.byte(0) {
                None => return Err(SyntaxError::new("unterminated string", open)),
                Some(b'\\') => {
                    let message = "`\\` inside the braces of an f-string";
                    return Err(SyntaxError::new(message, self.here()));
                }
                Some(_) => self.pos += 1,
            }
        }
        self.pos += width;
        Ok(())
    }

    fn conversion(&mut self) -> Result<Option<Conversion>, SyntaxError> {
        if self.byte(0) != Some(b'!') {
            return Ok(None);
        }
        let start = self.pos;
        let conversion = match self.byte(1) {
            Some(b's') => Conversion::Str,
            Some(b'r') => Conversion::Repr,
            Some(b'a') => Conversion::Ascii,
            Some(_) | None => {
                let message = "unknown conversion in an f-string";
                let error = SyntaxError::new(message, start..start + 1);
                return Err(error.with_hint("use `!s`, `!r` or `!a`"));
            }
        };
        self.pos += 2;
        Ok(Some(conversion))
    }

    fn format(&mut self, level: usize) -> Result<Option<Vec<FStringPart>>, SyntaxError> {
        if self.byte(0) != Some(b':') {
            return Ok(None);
        }
        self.pos += 1;
        let mut parts = Vec::new();
        self.parts(level + 1, &mut parts)?;
        Ok(Some(parts))
    }

    fn here(&self) -> Range<usize> {
        self.pos..self.pos + 1
    }
}

//! Number literals: where one ends, and what it is worth.
//!
//! It does not know signs; `-1` is a unary minus on `1`.

use super::ast::Constant;
use super::token::Tok;
use crate::error::SyntaxError;

/// `CPython` refuses longer decimal integers as well, since reading them takes quadratic time.
const MAX_DECIMAL_DIGITS: usize = 4300;

/// Keywords that may follow a number without a blank, as in `1if x else 2`.
const KEYWORDS_AFTER: [&str; 8] = ["and", "else", "for", "if", "in", "is", "not", "or"];

/// Finds the number that begins at `start`, and gives its kind and end.
pub(super) fn scan(text: &str, start: usize) -> Result<(Tok, usize), SyntaxError> {
    let mut scan = Scan {
        text,
        start,
        pos: start,
    };
    let tok = match scan.radix() {
        Some(radix) => {
            scan.pos += 2;
            if scan.byte() == Some(b'_') {
                scan.pos += 1;
            }
            scan.digits(radix)?;
            Tok::Int
        }
        None => scan.decimal()?,
    };
    scan.finish()?;
    Ok((tok, scan.pos))
}

struct Scan<'s> {
    text: &'s str,
    start: usize,
    pos: usize,
}

impl Scan<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    fn radix(&self) -> Option<u32> {
        match self.text.as_bytes().get(self.start..self.start + 2)? {
            b"0x" | b"0X" => Some(16),
            b"0o" | b"0O" => Some(8),
            b"0b" | b"0B" => Some(2),
            _ => None,
        }
    }

    /// One or more digits with single underscores between them.
    fn digits(&mut self, radix: u32) -> Result<(), SyntaxError> {
        loop {
            let from = self.pos;
            while self.byte().is_some_and(|b| char::from(b).is_digit(radix)) {
                self.pos += 1;
            }
            if self.pos == from {
                return Err(self.invalid());
            }
            if self.byte() != Some(b'_') {
                return Ok(());
            }
            self.pos += 1;
        }
    }

    fn decimal(&mut self) -> Result<Tok, SyntaxError> {
        let mut tok = Tok::Int;
        if self.byte() != Some(b'.') {
            self.digits(10)?;
        }
        let whole = self.start..self.pos;
        if self.byte() == Some(b'.') {
            tok = Tok::Float;
            self.pos += 1;
            if self.byte().is_some_and(|b| b.is_ascii_digit()) {
                self.digits(10)?;
            }
        }
        if self.exponent()? {
            tok = Tok::Float;
        }
        if matches!(self.byte(), Some(b'j' | b'J')) {
            self.pos += 1;
            return Ok(Tok::Imaginary);
        }
        if tok == Tok::Int {
            self.check_whole(&self.text[whole])?;
        }
        Ok(tok)
    }

    /// Takes `e10` or `e-10`; a bare `e` may still begin `else`.
    fn exponent(&mut self) -> Result<bool, SyntaxError> {
        let rest = &self.text.as_bytes()[self.pos..];
        let width = match rest {
            [b'e' | b'E', b'+' | b'-', digit, ..] if digit.is_ascii_digit() => 2,
            [b'e' | b'E', digit, ..] if digit.is_ascii_digit() => 1,
            _ => return Ok(false),
        };
        self.pos += width;
        self.digits(10)?;
        Ok(true)
    }

    fn check_whole(&self, digits: &str) -> Result<(), SyntaxError> {
        if digits.starts_with('0') && digits.bytes().any(|b| matches!(b, b'1'..=b'9')) {
            let error = SyntaxError::new("a decimal integer cannot begin with `0`", self.span());
            return Err(error.with_hint("use the prefix `0o` for an octal integer"));
        }
        if digits.len() > MAX_DECIMAL_DIGITS {
            return Err(SyntaxError::new("integer is too long", self.span()));
        }
        Ok(())
    }

    /// A letter right after a number is an error unless it begins a keyword.
    fn finish(&self) -> Result<(), SyntaxError> {
        let rest = &self.text[self.pos..];
        let next = rest.chars().next().unwrap_or(' ');
        if next != '_' && !next.is_alphanumeric() {
            return Ok(());
        }
        if KEYWORDS_AFTER.iter().any(|word| rest.starts_with(word)) {
            return Ok(());
        }
        Err(self.invalid())
    }

    fn span(&self) -> std::ops::Range<usize> {
        self.start..self.pos
    }

    fn invalid(&self) -> SyntaxError {
        let rest = &self.text[self.pos..];
        let tail = rest.find(|c: char| c != '_' && !c.is_alphanumeric());
        let span = self.start..self.pos + tail.unwrap_or(rest.len());
        SyntaxError::new("invalid number", span)
    }
}

/// The value of an integer literal.
pub(super) fn int(text: &str) -> Constant {
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0o" | "0O") => (&text[2..], 8),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    };
    if let Ok(value) = i64::from_str_radix(digits, radix) {
        return Constant::Int(value);
    }
    let digits = plain(digits).to_ascii_lowercase();
    match i64::from_str_radix(&digits, radix) {
        Ok(value) => Constant::Int(value),
        Err(_) => Constant::BigInt { digits, radix },
    }
}

/// The value of a float literal, or of an imaginary one without its `j`.
pub(super) fn float(text: &str) -> f64 {
    let text = text.trim_end_matches(['j', 'J']);
    // The scanner has checked the form, and Rust reads every form that it lets through.
    plain(text).parse().unwrap_or(f64::NAN)
}

fn plain(digits: &str) -> String {
    digits.replace('_', "")
}

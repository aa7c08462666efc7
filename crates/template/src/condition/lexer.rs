//! Splits a condition into tokens.
//!
//! Newlines are white space, as if the whole condition stood in parentheses. Brackets are paired
//! here, so the parser never meets an unclosed one. Names are not normalised to NFKC as `CPython`
//! does, and a letter is what `char::is_alphabetic` says.

use std::ops::Range;

use super::number;
use super::token::{StrStyle, Tok, Token, keyword};
use crate::error::SyntaxError;

/// Splits `source[range]`; spans count from the start of `source`, and the last token is `End`.
pub(super) fn tokenize(source: &str, range: Range<usize>) -> Result<Vec<Token>, SyntaxError> {
    let text = &source[..range.end];
    let lexer = Lexer {
        text,
        pos: range.start,
        tokens: Vec::with_capacity(range.len() / 3 + 2),
        open: Vec::new(),
    };
    lexer.run()
}

struct Lexer<'s> {
    text: &'s str,
    pos: usize,
    tokens: Vec<Token>,
    /// The brackets that are open, innermost last.
    open: Vec<Token>,
}

impl Lexer<'_> {
    fn run(mut self) -> Result<Vec<Token>, SyntaxError> {
        while let Some(byte) = self.skip_blank() {
            let start = self.pos;
            let tok = self.token(byte)?;
            let token = Token {
                tok,
                start,
                end: self.pos,
            };
            self.pair(token)?;
            self.tokens.push(token);
        }
        if let Some(open) = self.open.last() {
            let message = format!("unclosed `{}`", &self.text[open.span()]);
            return Err(SyntaxError::new(message, open.span()));
        }
        self.tokens.push(Token {
            tok: Tok::End,
            start: self.text.len(),
            end: self.text.len(),
        });
        Ok(self.tokens)
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.pos + ahead).copied()
    }

    /// Skips blanks, comments and joined lines, and gives the next byte.
    fn skip_blank(&mut self) -> Option<u8> {
        loop {
            match self.byte(0)? {
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => self.pos += 1,
                b'\\' if self.byte(1) == Some(b'\n') => self.pos += 2,
                b'#' => {
                    let rest = &self.text[self.pos..];
                    self.pos += rest.find('\n').unwrap_or(rest.len());
                }
                byte => return Some(byte),
            }
        }
    }

    fn token(&mut self, byte: u8) -> Result<Tok, SyntaxError> {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word(),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_some_and(|next| next.is_ascii_digit()) => self.number(),
            b'"' | b'\'' => self.string(self.pos, ""),
            _ => self.operator(byte),
        }
    }

    fn number(&mut self) -> Result<Tok, SyntaxError> {
        let (tok, end) = number::scan(self.text, self.pos)?;
        self.pos = end;
        Ok(tok)
    }

    /// A name, a keyword, or a string that has a prefix.
    fn word(&mut self) -> Result<Tok, SyntaxError> {
        let start = self.pos;
        let rest = &self.text[start..];
        let len = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        if !rest.starts_with(is_name_start) {
            return Err(self.strange_char());
        }
        self.pos += len;
        let word = &self.text[start..self.pos];
        if matches!(self.byte(0), Some(b'"' | b'\'')) && is_string_prefix(word) {
            return self.string(start, word);
        }
        Ok(keyword(word))
    }

    /// The rest of a string; the position is at its opening quote.
    fn string(&mut self, start: usize, prefix: &str) -> Result<Tok, SyntaxError> {
        let bytes = self.text.as_bytes();
        let quote = bytes[self.pos];
        let triple = self.byte(1) == Some(quote) && self.byte(2) == Some(quote);
        let width = if triple { 3 } else { 1 };
        let closing = &[quote; 3][..width];
        self.pos += width;
        loop {
            match self.byte(0) {
                None => return Err(self.unterminated(start)),
                Some(b'\n') if !triple => return Err(self.unterminated(start)),
                Some(b'\\') => self.pos += 2,
                Some(_) if bytes[self.pos..].starts_with(closing) => break,
                Some(_) => self.pos += 1,
            }
        }
        self.pos += width;
        let has = |letter: u8| prefix.bytes().any(|b| b.eq_ignore_ascii_case(&letter));
        Ok(Tok::Str(StrStyle {
            raw: has(b'r'),
            bytes: has(b'b'),
            format: has(b'f'),
            prefix: prefix.len(),
            quotes: width,
        }))
    }

    fn unterminated(&self, start: usize) -> SyntaxError {
        let end = self.pos.min(self.text.len());
        let end = self.text.ceil_char_boundary(end);
        SyntaxError::new("unterminated string", start..end)
    }

    fn operator(&mut self, first: u8) -> Result<Tok, SyntaxError> {
        let next = self.byte(1);
        let (tok, width) = match (first, next) {
            (b'&', Some(b'&')) => return Err(self.foreign(2, "use `and`")),
            (b'|', Some(b'|')) => return Err(self.foreign(2, "use `or`")),
            (b'=', Some(b'=')) if self.byte(2) == Some(b'=') => {
                return Err(self.foreign(3, "use `==`"));
            }
            (b'!', Some(b'=')) if self.byte(2) == Some(b'=') => {
                return Err(self.foreign(3, "use `!=`"));
            }
            (b'<', Some(b'>')) => return Err(self.foreign(2, "use `!=`")),
            (b'!', Some(b'=')) => (Tok::NotEqual, 2),
            (b'!', _) => return Err(self.foreign(1, "use `not`")),
            (b'?', _) => return Err(self.foreign(1, "use `a if test else b`")),
            (b'=', Some(b'=')) => (Tok::Equal, 2),
            (b'<', Some(b'=')) => (Tok::LessEqual, 2),
            (b'>', Some(b'=')) => (Tok::GreaterEqual, 2),
            (b'<', Some(b'<')) => (Tok::ShiftLeft, 2),
            (b'>', Some(b'>')) => (Tok::ShiftRight, 2),
            (b':', Some(b'=')) => (Tok::Walrus, 2),
            (b'*', Some(b'*')) => (Tok::DoubleStar, 2),
            (b'/', Some(b'/')) => (Tok::DoubleSlash, 2),
            (b'.', Some(b'.')) if self.byte(2) == Some(b'.') => (Tok::Ellipsis, 3),
            _ => (self.single(first)?, 1),
        };
        self.pos += width;
        Ok(tok)
    }

    fn single(&self, byte: u8) -> Result<Tok, SyntaxError> {
        Ok(match byte {
            b'(' => Tok::LeftParen,
            b')' => Tok::RightParen,
            b'[' => Tok::LeftBracket,
            b']' => Tok::RightBracket,
            b'{' => Tok::LeftBrace,
            b'}' => Tok::RightBrace,
            b',' => Tok::Comma,
            b':' => Tok::Colon,
            b'.' => Tok::Dot,
            b'=' => Tok::Assign,
            b'+' => Tok::Plus,
            b'-' => Tok::Minus,
            b'*' => Tok::Star,
            b'/' => Tok::Slash,
            b'%' => Tok::Percent,
            b'@' => Tok::At,
            b'~' => Tok::Tilde,
            b'|' => Tok::Pipe,
            b'^' => Tok::Caret,
            b'&' => Tok::Ampersand,
            b'<' => Tok::Less,
            b'>' => Tok::Greater,
            _ => return Err(self.strange_char()),
        })
    }

    /// An operator of another language at the position.
    fn foreign(&self, width: usize, hint: &str) -> SyntaxError {
        let span = self.pos..self.pos + width;
        let message = format!("`{}` is not Python", &self.text[span.clone()]);
        SyntaxError::new(message, span).with_hint(hint)
    }

    fn strange_char(&self) -> SyntaxError {
        let char = self.text[self.pos..].chars().next().unwrap_or(' ');
        let span = self.pos..self.pos + char.len_utf8();
        let code = u32::from(char);
        if char.is_whitespace() {
            let message = format!("unexpected white space U+{code:04X}");
            return SyntaxError::new(message, span).with_hint("replace it with a plain space");
        }
        if char.is_control() {
            return SyntaxError::new(format!("unexpected character U+{code:04X}"), span);
        }
        let error = SyntaxError::new(format!("unexpected `{char}`"), span);
        match char {
            '“' | '”' | '‘' | '’' => error.with_hint("use a straight quote"),
            _ => error,
        }
    }

    /// Keeps track of brackets and rejects one that closes nothing or the wrong one.
    fn pair(&mut self, token: Token) -> Result<(), SyntaxError> {
        let opener = match token.tok {
            Tok::LeftParen | Tok::LeftBracket | Tok::LeftBrace => {
                self.open.push(token);
                return Ok(());
            }
            Tok::RightParen => Tok::LeftParen,
            Tok::RightBracket => Tok::LeftBracket,
            Tok::RightBrace => Tok::LeftBrace,
            _ => return Ok(()),
        };
        let text = &self.text[token.span()];
        let message = match self.open.pop() {
            Some(open) if open.tok == opener => return Ok(()),
            Some(open) => format!("`{text}` does not close `{}`", &self.text[open.span()]),
            None => format!("unexpected `{text}`"),
        };
        Err(SyntaxError::new(message, token.span()))
    }
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_name_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_string_prefix(word: &str) -> bool {
    let prefixes = ["r", "b", "u", "f", "rb", "br", "rf", "fr"];
    prefixes
        .iter()
        .any(|prefix| prefix.eq_ignore_ascii_case(word))
}

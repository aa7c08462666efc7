//! Splits the characters into tokens.

use super::cursor::{Cursor, END, is_blank, is_break, is_line_end, is_space};
use super::{ReadResult, problem, syntax};
use crate::diagnostic::Diagnostic;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::Scalar;

/// Maximum length of a key without `?`, in characters.
const MAX_KEY: usize = 1024;

/// A token with its span and start column.
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Span,
    pub column: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    SequenceStart,
    MappingStart,
    /// The end of a list or a mapping, indicated by the indentation.
    BlockEnd,
    /// `-`
    Entry,
    /// A key follows; known only once its `:` is scanned.
    Key,
    /// `:`
    Value,
    Scalar(Scalar),
    /// `...`
    DocumentEnd,
    StreamEnd,
}

/// A token that becomes a key if a `:` follows on its line.
struct PossibleKey {
    token: usize,
    /// Whether only a key is allowed at its column.
    required: bool,
    index: usize,
    line: usize,
    column: usize,
    place: usize,
}

pub(super) struct Scanner {
    pub cursor: Cursor,
    pub tokens: Vec<Token>,
    /// The column of the innermost list or mapping plus one, zero outside of all of them. Its contents are
    /// indented at least that far.
    pub indent: usize,
    outer: Vec<usize>,
    /// Whether a key, a list or a mapping may start here.
    pub may_start: bool,
    possible: Option<PossibleKey>,
}

/// Returns all tokens of a text; the last one is the end.
pub(super) fn scan(cursor: Cursor) -> ReadResult<Vec<Token>> {
    let mut scanner = Scanner {
        cursor,
        tokens: Vec::new(),
        indent: 0,
        outer: Vec::new(),
        may_start: true,
        possible: None,
    };
    while !matches!(
        scanner.tokens.last().map(|token| &token.kind),
        Some(TokenKind::StreamEnd)
    ) {
        scanner.next()?;
    }
    Ok(scanner.tokens)
}

impl Scanner {
    fn next(&mut self) -> ReadResult<()> {
        self.skip();
        self.forget_stale()?;
        self.unwind(self.cursor.column + 1);
        if self.cursor.column == 0 && self.cursor.at_marker() {
            return match self.cursor.peek() {
                '-' => Err(self.misfit()),
                _ => self.end(TokenKind::DocumentEnd, 3),
            };
        }
        self.token()
    }

    fn token(&mut self) -> ReadResult<()> {
        let alone = is_blank(self.cursor.peek_at(1));
        match self.cursor.peek() {
            END => self.end(TokenKind::StreamEnd, 0),
            '-' if alone => self.entry(),
            '?' if alone => self.explicit_key(),
            ':' if alone => self.value(),
            '|' | '>' => {
                self.forget()?;
                self.may_start = true;
                self.block_scalar()
            }
            '\'' | '"' => {
                self.remember()?;
                self.scan_quoted()
            }
            '[' | ']' | '{' | '}' | ',' | '&' | '*' | '!' | '%' | '@' | '`' | '\t' => {
                Err(self.misfit())
            }
            _ => {
                self.remember()?;
                self.plain();
                Ok(())
            }
        }
    }

    /// Skips spaces, line breaks and comments.
    fn skip(&mut self) {
        if self.cursor.index == 0 && self.cursor.peek() == '\u{feff}' {
            self.cursor.forward(1);
        }
        loop {
            self.cursor.pass(|c| c == ' ');
            if self.cursor.peek() == '#' {
                self.cursor.pass(|c| !is_line_end(c));
                self.cursor.pass(is_break);
            } else if self.cursor.line_break().is_none() {
                return;
            } else if self.cursor.peek() == '\n' {
                // ruamel treats empty lines as part of a comment, where tabs are allowed.
                self.cursor.pass(|c| is_break(c) || is_space(c));
            }
            self.may_start = true;
        }
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.tokens.push(Token {
            kind,
            span,
            column: self.cursor.column,
        });
    }

    /// Adds a scalar with its span.
    pub(super) fn push_scalar(&mut self, scalar: Scalar, span: Span) {
        self.push(TokenKind::Scalar(scalar), span);
    }

    fn push_indicator(&mut self, kind: TokenKind, length: usize) {
        let start = self.cursor.place();
        let column = self.cursor.column;
        self.cursor.forward(length);
        self.tokens.push(Token {
            kind,
            span: self.cursor.since(start),
            column,
        });
    }

    /// Adds the token for the end of the text or of the document.
    fn end(&mut self, kind: TokenKind, length: usize) -> ReadResult<()> {
        self.unwind(0);
        self.forget()?;
        self.may_start = false;
        self.push_indicator(kind, length);
        Ok(())
    }

    fn entry(&mut self) -> ReadResult<()> {
        if !self.may_start {
            return Err(syntax(
                self.cursor.here(),
                "a list cannot start here",
                "start it on a line of its own, or put the text in quotes",
            ));
        }
        if self.indent_to(self.cursor.column) {
            self.push(TokenKind::SequenceStart, self.cursor.here());
        }
        self.forget()?;
        self.push_indicator(TokenKind::Entry, 1);
        Ok(())
    }

    fn explicit_key(&mut self) -> ReadResult<()> {
        if !self.may_start {
            return Err(syntax(
                self.cursor.here(),
                "a key cannot start here",
                "start it on a line of its own, or put the text in quotes",
            ));
        }
        if self.indent_to(self.cursor.column) {
            self.push(TokenKind::MappingStart, self.cursor.here());
        }
        self.forget()?;
        self.push_indicator(TokenKind::Key, 1);
        Ok(())
    }

    fn value(&mut self) -> ReadResult<()> {
        if let Some(key) = self.possible.take() {
            let span = Span::new(key.place, key.place);
            let column = key.column;
            let token = |kind| Token { kind, span, column };
            self.tokens.insert(key.token, token(TokenKind::Key));
            if self.indent_to(column) {
                self.tokens
                    .insert(key.token, token(TokenKind::MappingStart));
            }
            self.may_start = false;
        } else {
            if !self.may_start {
                return Err(syntax(
                    self.cursor.here(),
                    "a `:` cannot stand here",
                    "put the text in quotes",
                ));
            }
            if self.indent_to(self.cursor.column) {
                self.push(TokenKind::MappingStart, self.cursor.here());
            }
        }
        self.push_indicator(TokenKind::Value, 1);
        Ok(())
    }

    /// Records that the next token may be a key.
    fn remember(&mut self) -> ReadResult<()> {
        if self.may_start {
            self.forget()?;
            self.possible = Some(PossibleKey {
                token: self.tokens.len(),
                required: self.indent == self.cursor.column + 1,
                index: self.cursor.index,
                line: self.cursor.line,
                column: self.cursor.column,
                place: self.cursor.place(),
            });
        }
        self.may_start = false;
        Ok(())
    }

    /// Drops a possible key if its line has ended or it is too long.
    fn forget_stale(&mut self) -> ReadResult<()> {
        let over = |key: &PossibleKey| {
            key.line != self.cursor.line || self.cursor.index - key.index > MAX_KEY
        };
        if self.possible.as_ref().is_some_and(over) {
            self.forget()?;
        }
        Ok(())
    }

    fn forget(&mut self) -> ReadResult<()> {
        match self.possible.take() {
            Some(key) if key.required => {
                let end = self
                    .tokens
                    .get(key.token)
                    .map_or(key.place, |token| token.span.end().max(key.place));
                Err(syntax(
                    Span::new(key.place, end),
                    "missing `:` after this text",
                    "write `key: value`, or indent the line if it continues the one above",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Ends all blocks that are indented more than `indent`.
    fn unwind(&mut self, indent: usize) {
        while self.indent > indent {
            self.indent = self.outer.pop().unwrap_or_default();
            let here = self.cursor.place();
            self.push(TokenKind::BlockEnd, Span::new(here, here));
        }
    }

    /// Starts a block at `column` if that is deeper than the current one.
    fn indent_to(&mut self, column: usize) -> bool {
        let deeper = self.indent <= column;
        if deeper {
            self.outer.push(self.indent);
            self.indent = column + 1;
        }
        deeper
    }

    /// Returns the diagnostic for a character that no token starts with.
    fn misfit(&self) -> Diagnostic {
        const QUOTES: &str = "put the text in quotes";
        let span = self.cursor.here();
        match self.cursor.peek() {
            '[' | ']' | '{' | '}' | ',' => problem(
                Rule::FlowStyle,
                span,
                "lists and mappings in one line are not in the open format",
                "write one item per line, or put the text in quotes",
            ),
            '&' | '*' | '!' => problem(
                Rule::AnchorOrTag,
                span,
                "anchors, aliases and tags are not in the open format",
                "write the value out, in quotes if it is meant literally",
            ),
            '\t' => syntax(span, "a tab cannot stand here", "use spaces"),
            '-' => syntax(span, "a second document starts here", "delete the line"),
            c => syntax(
                span,
                format!("a plain string cannot start with `{c}`"),
                QUOTES,
            ),
        }
    }
}

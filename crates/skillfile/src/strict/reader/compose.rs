//! Builds the tree from tokens.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::pairs::Pairs;
use super::scan::{Token, TokenKind};
use super::{ReadResult, syntax};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::yaml::{Kind, Node, Scalar, Style};

/// Maximum nesting depth. The reference crashes at about 250, at Python's recursion limit.
const MAX_DEPTH: usize = 256;

/// Builds the tree of a document; `None` if it contains only comments.
pub(super) fn compose(tokens: Vec<Token>) -> ReadResult<Option<Node>> {
    let mut composer = Composer {
        tokens: tokens.into_iter().peekable(),
        last: 0,
        depth: 0,
    };
    if composer.is_at(&[TokenKind::StreamEnd]) {
        return Ok(None);
    }
    let root = composer.node(false)?.node;
    if composer.is_at(&[TokenKind::DocumentEnd]) {
        composer.next();
    }
    if composer.is_at(&[TokenKind::StreamEnd]) {
        return Ok(Some(root));
    }
    Err(composer.misfit())
}

struct Composer {
    tokens: Peekable<IntoIter<Token>>,
    /// The end of the last token.
    last: usize,
    depth: usize,
}

/// A node with its start column, which other nodes do not have.
pub(super) struct PlacedNode {
    pub node: Node,
    pub column: usize,
}

impl Composer {
    fn is_at(&mut self, kinds: &[TokenKind]) -> bool {
        self.tokens
            .peek()
            .is_some_and(|token| kinds.contains(&token.kind))
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.next()?;
        self.last = token.span.end();
        Some(token)
    }

    fn misfit(&mut self) -> Diagnostic {
        let end = Span::new(self.last, self.last);
        let span = self.tokens.peek().map_or(end, |token| token.span);
        syntax(
            span,
            "unexpected value here",
            "check the indentation, and put strings with special characters in quotes",
        )
    }

    /// Parses a value. After a key, a list needs no indentation.
    fn node(&mut self, behind_key: bool) -> ReadResult<PlacedNode> {
        let is_start = |token: &Token| {
            matches!(
                token.kind,
                TokenKind::MappingStart | TokenKind::SequenceStart | TokenKind::Scalar(_)
            )
        };
        let Some(token) = self.tokens.next_if(is_start) else {
            if behind_key && self.is_at(&[TokenKind::Entry]) {
                return self.deeper(|composer| composer.sequence(true));
            }
            return Err(self.misfit());
        };
        match token.kind {
            TokenKind::Scalar(scalar) => {
                self.last = token.span.end();
                Ok(placed_node(token.span, Kind::Scalar(scalar)))
            }
            TokenKind::SequenceStart => self.deeper(|composer| composer.sequence(false)),
            TokenKind::MappingStart
            | TokenKind::BlockEnd
            | TokenKind::Entry
            | TokenKind::Key
            | TokenKind::Value
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                let mut mapping = self.deeper(Self::mapping)?;
                mapping.column = token.column;
                Ok(mapping)
            }
        }
    }

    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> ReadResult<PlacedNode>,
    ) -> ReadResult<PlacedNode> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let here = Span::new(self.last, self.last);
            let message = format!("values are nested more than {MAX_DEPTH} deep");
            return Err(syntax(here, message, "nest them less"));
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Parses a value, or returns an empty scalar if the next token is in `none`.
    fn optional(&mut self, none: &[TokenKind], behind_key: bool) -> ReadResult<PlacedNode> {
        if !self.is_at(none) {
            return self.node(behind_key);
        }
        let here = Span::new(self.last, self.last);
        Ok(placed_node(here, Kind::Scalar(nothing())))
    }

    fn sequence(&mut self, unindented: bool) -> ReadResult<PlacedNode> {
        const NONE: [TokenKind; 4] = [
            TokenKind::Entry,
            TokenKind::BlockEnd,
            TokenKind::Key,
            TokenKind::Value,
        ];
        let none = if unindented { &NONE[..] } else { &NONE[..2] };
        let start = self.start();
        let mut items = Vec::new();
        while self.is_at(&[TokenKind::Entry]) {
            self.next();
            items.push(self.optional(none, false)?.node);
        }
        let span = Span::new(start, self.last);
        if !unindented {
            self.block_end()?;
        }
        let flow = false;
        Ok(placed_node(span, Kind::Sequence { items, flow }))
    }

    fn mapping(&mut self) -> ReadResult<PlacedNode> {
        const NONE: [TokenKind; 3] = [TokenKind::Key, TokenKind::Value, TokenKind::BlockEnd];
        let start = self.start();
        let mut pairs = Pairs::default();
        while self.is_at(&NONE[..2]) {
            let mut key = placed_node(self.here(), Kind::Scalar(nothing()));
            if self.is_at(&NONE[..1]) {
                self.next();
                key = self.optional(&NONE, true)?;
            }
            let mut value = placed_node(self.here(), Kind::Scalar(nothing()));
            if self.is_at(&NONE[1..2]) {
                self.next();
                value = self.optional(&NONE, true)?;
            }
            pairs.push(key.node, value)?;
        }
        let span = Span::new(start, self.last);
        self.block_end()?;
        let mapping = pairs.finish(self.depth == 1);
        Ok(placed_node(span, Kind::Mapping(mapping)))
    }

    fn block_end(&mut self) -> ReadResult<()> {
        if !self.is_at(&[TokenKind::BlockEnd]) {
            return Err(self.misfit());
        }
        // The span of this token is on the next line, where nothing ends.
        self.tokens.next();
        Ok(())
    }

    fn start(&mut self) -> usize {
        let last = self.last;
        self.tokens.peek().map_or(last, |token| token.span.start())
    }

    fn here(&mut self) -> Span {
        let start = self.start();
        Span::new(start, start)
    }
}

fn placed_node(span: Span, kind: Kind) -> PlacedNode {
    let decorated = false;
    PlacedNode {
        node: Node {
            span,
            kind,
            decorated,
        },
        column: 0,
    }
}

fn nothing() -> Scalar {
    Scalar {
        text: String::new(),
        style: Style::Plain,
    }
}

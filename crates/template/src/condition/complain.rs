//! The parser: what to say about a token that cannot stand where it does.
//!
//! Errors with a message of their own are made where they are found; this is for all others.

use super::parser::Parser;
use super::token::{Tok, Token};
use crate::error::SyntaxError;

impl Parser<'_> {
    /// The error for a token that cannot stand where it does.
    pub(super) fn unexpected(&self) -> SyntaxError {
        let token = self.current();
        let before = self.before();
        if let Some(before) = before
            && (token.tok.stops() || token.tok == Tok::Comma)
            && !before.tok.ends_operand()
            && !matches!(
                before.tok,
                Tok::LeftParen | Tok::LeftBracket | Tok::LeftBrace | Tok::Comma
            )
        {
            let message = format!("expected an expression after `{}`", self.text(before));
            return SyntaxError::new(message, before.span());
        }
        if token.tok == Tok::Assign {
            return SyntaxError::new("`=` is assignment; use `==` to compare", token.span());
        }
        if token.tok == Tok::End {
            return SyntaxError::new("unexpected end", before.unwrap_or(token).span());
        }
        let message = format!("unexpected `{}`", short(self.text(token)));
        let error = SyntaxError::new(message, token.span());
        match self.advice(token, before) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    fn advice(&self, token: Token, before: Option<Token>) -> Option<String> {
        let after_operand = before.is_some_and(|before| before.tok.ends_operand());
        let text = self.text(token);
        match token.tok {
            Tok::Float if after_operand && text.starts_with('.') => {
                Some(format!("use `[{}]`", &text[1..]))
            }
            Tok::Walrus => Some("put `:=` in parentheses".to_owned()),
            Tok::Not | Tok::Lambda if !after_operand => {
                Some(format!("put the `{text}` part in parentheses"))
            }
            Tok::Reserved => Some(format!("`{text}` is a keyword of Python")),
            tok if tok.starts_operand() && after_operand => {
                Some("put an operator such as `and` or `==` before it".to_owned())
            }
            _ => None,
        }
    }
}

/// A token's text for a message, without the rest of a long string.
fn short(text: &str) -> String {
    const MAX_CHARS: usize = 24;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! Error messages for faults that the parser reports.
//!
//! The parser names the token that it expected; these messages say what to change. `scan` finds faults that
//! are visible in the tokens alone before the text is parsed.

use std::ops::Range;

use deft_values::clamp;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{
    InterpolatedStringErrorType as InString, LexicalErrorType as Lexical, ParseError,
    ParseErrorType as Kind, UnsupportedSyntaxError, UnsupportedSyntaxErrorKind as Newer,
};
use ruff_text_size::Ranged as _;

use super::scan::{Token, ends_operand, starts_operand};
use crate::error::{SyntaxError, house_style};

/// Returns the message for the parser's first error.
pub(super) fn error(text: &str, tokens: &[Token], error: &ParseError) -> SyntaxError {
    let span = clamp(text, &error.location.into());
    let explain = Explain { text, tokens };
    match &error.error {
        Kind::Lexical(kind) => explain.lexical(kind, span),
        Kind::FStringError(kind) => explain.in_string(kind, span),
        Kind::EmptySlice => SyntaxError::new("empty subscript", explain.text_before(&span)),
        Kind::InvalidStarredExpressionUsage | Kind::IterableUnpackingInComprehension => {
            misplaced_star(span)
        }
        Kind::PositionalAfterKeywordArgument | Kind::PositionalAfterKeywordUnpacking => {
            SyntaxError::new("positional argument after a keyword argument", span)
        }
        Kind::InvalidArgumentUnpackingOrder => SyntaxError::new("`*` argument after `**`", span),
        Kind::UnparenthesizedGeneratorExpression => {
            SyntaxError::new("a generator expression must be in parentheses", span)
        }
        Kind::NonDefaultParamAfterDefaultParam => {
            let message = "parameter without a default after one with a default";
            SyntaxError::new(message, span)
        }
        Kind::ExpectedKeywordParam => {
            SyntaxError::new("expected a named parameter after `*`", span)
        }
        Kind::ExpectedToken {
            expected: TokenKind::Else,
            ..
        } => explain.without(TokenKind::If, &span),
        Kind::ExpectedToken {
            expected: TokenKind::Colon,
            ..
        } if explain.opener(TokenKind::Lambda, &span).is_some() => {
            explain.without(TokenKind::Lambda, &span)
        }
        Kind::InvalidNamedAssignmentTarget => {
            SyntaxError::new("only a name is allowed before `:=`", span)
        }
        Kind::OtherError(message) if message.starts_with("Bytes literal cannot be mixed") => {
            SyntaxError::new("cannot join a bytes literal and a string literal", span)
        }
        Kind::OtherError(message) if message.starts_with("Expected a parameter name") => {
            explain.assignment(&span)
        }
        _ => explain.unexpected_token(&span),
    }
}

/// Returns the error for syntax of a newer Python than conditions support.
pub(super) fn newer(text: &str, error: &UnsupportedSyntaxError) -> SyntaxError {
    if let Newer::UnpackingInComprehension(_) = error.kind {
        return misplaced_star(clamp(text, &error.range().into()));
    }
    SyntaxError::new(
        house_style(&error.to_string()),
        clamp(text, &error.range().into()),
    )
}

pub(super) fn misplaced_star(span: Range<usize>) -> SyntaxError {
    SyntaxError::new("`*` outside a list, tuple, set or call", span)
}

struct Explain<'t> {
    text: &'t str,
    tokens: &'t [Token],
}

impl Explain<'_> {
    fn lexical(&self, kind: &Lexical, span: Range<usize>) -> SyntaxError {
        match kind {
            Lexical::UnclosedStringError => SyntaxError::new("unterminated string", span),
            Lexical::UnrecognizedToken { tok } => self.strange_char(*tok, span),
            Lexical::FStringError(kind) => self.in_string(kind, span),
            Lexical::InvalidByteLiteral => {
                let char = self.text[span.clone()]
                    .chars()
                    .find(|char| !char.is_ascii());
                let message = format!("bytes cannot hold `{}`", char.unwrap_or_default());
                SyntaxError::new(message, span)
            }
            Lexical::OtherError(_)
                if self.text[span.start..].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                self.number(span)
            }
            Lexical::UnicodeError | Lexical::StringError => self.escape(span),
            other => SyntaxError::new(house_style(&other.to_string()), span),
        }
    }

    /// Returns the error for an incomplete escape; the parser only reports where its digits end.
    fn escape(&self, span: Range<usize>) -> SyntaxError {
        let start = self.text[..span.start].rfind('\\').unwrap_or(span.start);
        let (width, end) = match self.text.as_bytes().get(start + 1) {
            Some(b'x') => (2, start + 2),
            Some(b'u') => (4, start + 2),
            Some(b'U') => (8, start + 2),
            _ => return SyntaxError::new("unknown character name", span),
        };
        let escape = &self.text[start..end];
        SyntaxError::new(format!("`{escape}` needs {width} hex digits"), start..end)
    }

    fn number(&self, span: Range<usize>) -> SyntaxError {
        let rest = &self.text[span.start..];
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let (number, span) = (&rest[..end], span.start..span.start + end);
        if number.len() > 1 && number.bytes().all(|b| b.is_ascii_digit()) {
            let error = SyntaxError::new("a decimal integer cannot begin with `0`", span);
            return error.with_hint("use the prefix `0o` for an octal integer");
        }
        SyntaxError::new("invalid number", span)
    }

    fn in_string(&self, kind: &InString, span: Range<usize>) -> SyntaxError {
        match kind {
            InString::UnclosedLbrace if !stops(self.tokens[self.token_at(&span)].kind) => {
                self.unexpected_token(&span)
            }
            InString::UnclosedLbrace => {
                let open = self.text[..span.end].rfind('{').unwrap_or(span.start);
                SyntaxError::new("unclosed `{` in an f-string", open..open + 1)
            }
            InString::InvalidConversionFlag
            | InString::ConversionFlagNotImmediatelyAfterExclamation => {
                SyntaxError::new("unknown conversion in an f-string", span)
                    .with_hint("use `!s`, `!r` or `!a`")
            }
            InString::SingleRbrace => SyntaxError::new("single `}` in an f-string", span)
                .with_hint("write `}}` for a brace in the text"),
            InString::UnterminatedString | InString::UnterminatedTripleQuotedString => {
                SyntaxError::new("unterminated string", span)
            }
            other => SyntaxError::new(house_style(&other.to_string()), span),
        }
    }

    fn strange_char(&self, char: char, span: Range<usize>) -> SyntaxError {
        let code = u32::from(char);
        if char.is_whitespace() {
            let message = format!("unexpected white space U+{code:04X}");
            return SyntaxError::new(message, span).with_hint("replace it with a plain space");
        }
        if char.is_control() {
            return SyntaxError::new(format!("unexpected character U+{code:04X}"), span);
        }
        if char == '?' {
            let error = SyntaxError::new("`?` is not Python", span);
            return error.with_hint("use `a if test else b`");
        }
        let error = SyntaxError::new(format!("unexpected `{char}`"), span);
        match char {
            '“' | '”' | '‘' | '’' => error.with_hint("use a straight quote"),
            _ => error,
        }
    }

    /// Returns the index of the first token that ends after the start of `span`.
    fn token_at(&self, span: &Range<usize>) -> usize {
        let found = self
            .tokens
            .iter()
            .position(|token| token.span().end > span.start);
        found.unwrap_or(self.tokens.len() - 1)
    }

    /// Returns `span` extended to include the token before it.
    fn text_before(&self, span: &Range<usize>) -> Range<usize> {
        let before = self.token_at(span).checked_sub(1);
        before.map_or(span.clone(), |at| self.tokens[at].span().start..span.end)
    }

    /// Returns the last token of this kind before `span`.
    fn opener(&self, kind: TokenKind, span: &Range<usize>) -> Option<Token> {
        let before = &self.tokens[..self.token_at(span)];
        before
            .iter()
            .rev()
            .find(|token| token.kind == kind)
            .copied()
    }

    /// Returns the error for `if` without `else` or `lambda` without `:`, if an end follows; otherwise the
    /// token is unexpected.
    fn without(&self, kind: TokenKind, span: &Range<usize>) -> SyntaxError {
        let (word, other, hint) = match kind {
            TokenKind::If => ("if", "else", Some("write `a if test else b`")),
            _ => ("lambda", ":", None),
        };
        let Some(opener) = self
            .opener(kind, span)
            .filter(|_| stops(self.tokens[self.token_at(span)].kind))
        else {
            return self.unexpected_token(span);
        };
        let error = SyntaxError::new(format!("`{word}` without `{other}`"), opener.span());
        match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    /// Returns the error for the `=` after a span, as in `f(a.b = 1)`.
    fn assignment(&self, span: &Range<usize>) -> SyntaxError {
        let behind = self.tokens[self.token_at(span)..].iter();
        let equal = behind.clone().find(|token| token.kind == TokenKind::Equal);
        self.unexpected_token(&equal.map_or(span.clone(), |equal| equal.span()))
    }

    /// Returns the error for a token at a place where it is not allowed.
    fn unexpected_token(&self, span: &Range<usize>) -> SyntaxError {
        let at = self.token_at(span);
        let token = self.tokens[at];
        let before = at.checked_sub(1).map(|at| self.tokens[at]);
        if let Some(before) = before
            && let Some(error) = self.error_after(before, token)
        {
            return error;
        }
        match token.kind {
            TokenKind::Equal => {
                return SyntaxError::new("`=` is assignment; use `==` to compare", token.span());
            }
            TokenKind::EndOfFile => {
                return SyntaxError::new("unexpected end", before.unwrap_or(token).span());
            }
            _ => {}
        }
        let message = format!("unexpected `{}`", short(&self.text[token.span()]));
        let error = SyntaxError::new(message, token.span());
        match self.advice(token, before) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    /// Returns an error about the previous token, if that is more helpful than one about the token itself.
    fn error_after(&self, before: Token, token: Token) -> Option<SyntaxError> {
        let adjacent = before.span().end == token.span().start;
        match (before.kind, token.kind) {
            (TokenKind::Dot, _) => {
                Some(SyntaxError::new("expected a name after `.`", before.span()))
            }
            // An empty dict is valid, so these are the braces of an f-string.
            (TokenKind::Lbrace, TokenKind::Rbrace) => {
                let message = "empty expression in an f-string";
                Some(SyntaxError::new(message, before.span()))
            }
            (TokenKind::Int | TokenKind::Float, TokenKind::Name) if adjacent => {
                Some(self.number(before.span()))
            }
            (TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace | TokenKind::Comma, _) => None,
            (_, TokenKind::EndOfFile) if self.has_open_lambda(token) => {
                Some(self.without(TokenKind::Lambda, &token.span()))
            }
            (kind, next) if ends_operand(kind) || !(stops(next) || next == TokenKind::Comma) => {
                None
            }
            _ => {
                let before = before.span();
                let message = format!(
                    "expected an expression after `{}`",
                    &self.text[before.clone()]
                );
                Some(SyntaxError::new(message, before))
            }
        }
    }

    /// Whether a `lambda` before the token has no `:`.
    fn has_open_lambda(&self, token: Token) -> bool {
        let before = &self.tokens[..self.token_at(&token.span())];
        let last = |kind| before.iter().rposition(|token| token.kind == kind);
        last(TokenKind::Lambda).is_some_and(|lambda| last(TokenKind::Colon) < Some(lambda))
    }

    fn advice(&self, token: Token, before: Option<Token>) -> Option<String> {
        let after_operand = before.is_some_and(|before| ends_operand(before.kind));
        let text = &self.text[token.span()];
        match token.kind {
            TokenKind::Float if after_operand && text.starts_with('.') => {
                Some(format!("use `[{}]`", &text[1..]))
            }
            TokenKind::ColonEqual => Some("put `:=` in parentheses".to_owned()),
            TokenKind::Not | TokenKind::Lambda if !after_operand => {
                Some(format!("put the `{text}` part in parentheses"))
            }
            kind if starts_operand(kind) && after_operand => {
                Some("put an operator such as `and` or `==` before it".to_owned())
            }
            TokenKind::And
            | TokenKind::Or
            | TokenKind::If
            | TokenKind::Else
            | TokenKind::For
            | TokenKind::In
            | TokenKind::Is => None,
            kind if kind.is_non_soft_keyword() => Some(format!("`{text}` is a keyword of Python")),
            _ => None,
        }
    }
}

/// Whether the text ends or a bracket closes at this token.
fn stops(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::EndOfFile
            | TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
    )
}

/// Shortens the text of a token for a message.
fn short(text: &str) -> String {
    deft_model::clip(text, 24)
}

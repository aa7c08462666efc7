//! Checks of a condition's tokens before parsing.
//!
//! The parser reports the first place where Python cannot continue; for an operator of another language or
//! an unclosed bracket, that is rarely the place to change. Nesting is limited here too, so that recursion
//! over the tree is safe. Not here: the grammar.

use std::ops::Range;

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::Mode;
use ruff_python_parser::lexer::lex;
use ruff_text_size::{Ranged as _, TextLen as _, TextRange};

use crate::error::SyntaxError;

/// Maximum nesting of brackets.
const MAX_DEPTH: usize = 60;

/// Maximum number of operators in a row, each of which may make the tree higher.
const MAX_OPERATORS: usize = 200;

/// A token and its span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    range: TextRange,
}

impl Token {
    pub(super) fn span(self) -> Range<usize> {
        self.range.into()
    }
}

/// Returns the tokens without comments and line ends, followed by an end token.
pub(super) fn tokens(text: &str, tokens: &Tokens) -> Vec<Token> {
    let blank = |kind| {
        matches!(
            kind,
            TokenKind::Comment
                | TokenKind::NonLogicalNewline
                | TokenKind::Newline
                | TokenKind::EndOfFile
        )
    };
    let shown = tokens.iter().map(|token| Token {
        kind: token.kind(),
        range: token.range(),
    });
    let end = Token {
        kind: TokenKind::EndOfFile,
        range: TextRange::empty(text.text_len()),
    };
    shown
        .filter(|token| !blank(token.kind))
        .chain([end])
        .collect()
}

/// Refuses operators of other languages and unpaired brackets.
pub(super) fn check(text: &str, tokens: &[Token]) -> Result<(), SyntaxError> {
    check_brackets(text, tokens)?;
    check_foreign(text, tokens)
}

fn check_foreign(text: &str, tokens: &[Token]) -> Result<(), SyntaxError> {
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens
            .get(at + 1)
            .filter(|next| next.range.start() == token.range.end());
        let hint = match (token.kind, next.map(|next| next.kind)) {
            (TokenKind::Amper, Some(TokenKind::Amper)) => "use `and`",
            (TokenKind::Vbar, Some(TokenKind::Vbar)) => "use `or`",
            (TokenKind::EqEqual, Some(TokenKind::Equal)) => "use `==`",
            (TokenKind::NotEqual, Some(TokenKind::Equal))
            | (TokenKind::Less, Some(TokenKind::Greater)) => "use `!=`",
            (TokenKind::Exclamation, _) if !in_fstring(&tokens[..at]) => {
                return Err(foreign(text, token.span(), "use `not`"));
            }
            // Python would build a set that contains a set or dict, and fail because neither is hashable.
            // `{{ x }} == 1` is meant as a template.
            (TokenKind::Lbrace, Some(TokenKind::Lbrace)) if !in_fstring(&tokens[..at]) => {
                let span = token.span().start..token.span().end + 1;
                return Err(SyntaxError::new("`{{` is template syntax", span));
            }
            _ => continue,
        };
        let end = next.map_or(token.span().end, |next| next.span().end);
        return Err(foreign(text, token.span().start..end, hint));
    }
    Ok(())
}

/// Whether an f-string is open after these tokens.
fn in_fstring(tokens: &[Token]) -> bool {
    let count = |kind| tokens.iter().filter(|token| token.kind == kind).count();
    count(TokenKind::FStringStart) > count(TokenKind::FStringEnd)
}

fn foreign(text: &str, span: Range<usize>, hint: &str) -> SyntaxError {
    let message = format!("`{}` is not Python", &text[span.clone()]);
    SyntaxError::new(message, span).with_hint(hint)
}

/// Checks that brackets and f-strings are closed; the parser reports faults inside f-strings.
fn check_brackets(text: &str, tokens: &[Token]) -> Result<(), SyntaxError> {
    let mut open: Vec<Token> = Vec::new();
    for token in tokens {
        let Some(opener) = opener(token.kind) else {
            if opens(token.kind) {
                open.push(*token);
            }
            continue;
        };
        let closer = &text[token.span()];
        let message = match open.pop() {
            Some(last) if last.kind == opener => continue,
            _ if open.iter().any(|open| open.kind == TokenKind::FStringStart) => return Ok(()),
            Some(last) => format!("`{closer}` does not close `{}`", &text[last.span()]),
            None => format!("unexpected `{closer}`"),
        };
        return Err(SyntaxError::new(message, token.span()));
    }
    // An unterminated string hides the brackets after it.
    let cut = tokens
        .iter()
        .any(|token| token.kind == TokenKind::Unknown && !token.range.is_empty());
    let left = open.iter().all(|open| open.kind != TokenKind::FStringStart);
    match open.last() {
        Some(last) if left && !cut => {
            let message = format!("unclosed `{}`", &text[last.span()]);
            Err(SyntaxError::new(message, last.span()))
        }
        _ => Ok(()),
    }
}

fn opens(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace | TokenKind::FStringStart
    )
}

/// Returns the opening token that belongs to a closing one.
fn opener(kind: TokenKind) -> Option<TokenKind> {
    match kind {
        TokenKind::Rpar => Some(TokenKind::Lpar),
        TokenKind::Rsqb => Some(TokenKind::Lsqb),
        TokenKind::Rbrace => Some(TokenKind::Lbrace),
        TokenKind::FStringEnd => Some(TokenKind::FStringStart),
        _ => None,
    }
}

/// An open pair of brackets, or the whole text.
#[derive(Default)]
struct Level {
    /// Operators since the last `and`, `or`, comparison or comma, whose operands are flat.
    operators: usize,
    /// `if` and `lambda` since the last comma; the rest nests inside them.
    branches: usize,
    /// Whether a `lambda` is open. Commas may then separate its parameters and do not end the expression.
    lambda: bool,
}

/// Limits the height of the tree before it is built: brackets nest, and so does every operator whose operand
/// is the expression before or after it.
pub(super) fn check_height(text: &str) -> Result<(), SyntaxError> {
    let mut lexer = lex(text, Mode::ParenthesizedExpression);
    let mut levels = vec![Level::default()];
    let mut operand = false;
    let too_high = |message: String| Err(SyntaxError::new(message, 0..text.len()));
    loop {
        let kind = lexer.next_token();
        if kind == TokenKind::EndOfFile {
            return Ok(());
        }
        // A bracket after an operand is a call or subscript, so the operand nests inside it.
        let leans = operand && matches!(kind, TokenKind::Lpar | TokenKind::Lsqb);
        count(&mut levels, kind, leans);
        if opens(kind) {
            levels.push(Level::default());
        } else if opener(kind).is_some() && levels.len() > 1 {
            levels.pop();
        }
        if levels.len() > MAX_DEPTH + 1 {
            return too_high(format!("nested more than {MAX_DEPTH} levels deep"));
        }
        let operators = levels.iter().map(|level| level.operators + level.branches);
        if operators.sum::<usize>() > MAX_OPERATORS {
            return too_high(format!("more than {MAX_OPERATORS} operators"));
        }
        operand = ends_operand(kind);
    }
}

fn count(levels: &mut [Level], kind: TokenKind, leans: bool) {
    let Some(level) = levels.last_mut() else {
        return;
    };
    match kind {
        TokenKind::And | TokenKind::Or => level.operators = 0,
        TokenKind::Comma if level.lambda => {}
        TokenKind::Comma => *level = Level::default(),
        TokenKind::Lambda => {
            level.lambda = true;
            level.branches += 1;
        }
        TokenKind::If | TokenKind::For => level.branches += 1,
        TokenKind::Not | TokenKind::Dot | TokenKind::ColonEqual => level.operators += 1,
        kind if leans || kind.as_binary_operator().is_some() || kind == TokenKind::Tilde => {
            level.operators += 1;
        }
        _ => {}
    }
}

/// Whether the token ends an operand, so that no operand can follow directly.
pub(super) fn ends_operand(kind: TokenKind) -> bool {
    starts_operand(kind)
        || matches!(
            kind,
            TokenKind::Ellipsis
                | TokenKind::FStringEnd
                | TokenKind::Rpar
                | TokenKind::Rsqb
                | TokenKind::Rbrace
        )
}

/// Whether the token begins an operand.
pub(super) fn starts_operand(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Name
            | TokenKind::Case
            | TokenKind::Lazy
            | TokenKind::Match
            | TokenKind::Type
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringStart
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
    )
}

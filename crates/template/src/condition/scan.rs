//! Looks over the tokens of a condition.
//!
//! The parser behind it reports the first place where Python cannot continue, which for an
//! operator of another language or a bracket that is never closed is rarely the place to change.
//! Nesting is bounded here too, so that recursion over the tree is safe. The grammar is not known
//! here.

use std::ops::Range;

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::Mode;
use ruff_python_parser::lexer::lex;
use ruff_text_size::{Ranged as _, TextLen as _, TextRange};

use crate::error::SyntaxError;

/// How deep brackets may nest.
const MAX_DEPTH: usize = 60;

/// How many operators may follow each other, as each may make the tree higher.
const MAX_OPERATORS: usize = 200;

/// A token and where it stands.
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

/// The tokens without comments and line ends, and one for the end.
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

/// Refuses operators of other languages and brackets that do not pair.
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
            // Python would build a set that holds a set or dict, and then fail, as neither can be
            // in one. Who writes `{{ x }} == 1` means a template.
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

/// Whether these tokens leave an f-string open.
fn in_fstring(tokens: &[Token]) -> bool {
    let count = |kind| tokens.iter().filter(|token| token.kind == kind).count();
    count(TokenKind::FStringStart) > count(TokenKind::FStringEnd)
}

fn foreign(text: &str, span: Range<usize>, hint: &str) -> SyntaxError {
    let message = format!("`{}` is not Python", &text[span.clone()]);
    SyntaxError::new(message, span).with_hint(hint)
}

/// Pairs brackets and the ends of f-strings, inside which a fault is the parser's to report.
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
    // A string that never ends hides the brackets behind it.
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

/// What a closing token closes.
fn opener(kind: TokenKind) -> Option<TokenKind> {
    match kind {
        TokenKind::Rpar => Some(TokenKind::Lpar),
        TokenKind::Rsqb => Some(TokenKind::Lsqb),
        TokenKind::Rbrace => Some(TokenKind::Lbrace),
        TokenKind::FStringEnd => Some(TokenKind::FStringStart),
        _ => None,
    }
}

/// One pair of brackets that is open, or the whole text.
#[derive(Default)]
struct Level {
    /// Operators since the last `and`, `or`, comparison or comma, beside which operands are flat.
    operators: usize,
    /// `if` and `lambda` since the last comma; what follows nests in them.
    branches: usize,
    /// Behind a `lambda` a comma may part its parameters, so that it ends nothing.
    lambda: bool,
}

/// Bounds how high the tree can become, before there is one: brackets nest, and so does every operator
/// that takes what stands before or behind it as its operand.
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
        // A bracket behind an operand calls it or looks into it, so that the operand nests.
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

/// True for tokens that end an operand, so that an operand cannot follow at once.
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

/// True for tokens that begin an operand.
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

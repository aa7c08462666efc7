//! Conversion of minijinja's errors to ours, with clearer messages for common ones.
//!
//! minijinja reports the last token it read. For an unclosed tag or block that is the end of the text, so
//! the tokens are read again to find its start. This only runs on errors.

use std::ops::Range;

use deft_values::clamp;
use minijinja::machinery::{Span, Token, Tokenizer};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, ErrorKind};

use crate::error::SyntaxError;

#[rustfmt::skip]
const STATEMENTS: [&str; 17] = [
    "autoescape", "do", "elif", "else", "endautoescape", "endfilter", "endfor", "endif", "endmacro",
    "endset", "endwith", "filter", "for", "if", "macro", "set", "with",
];

/// Statements of Jinja2 that deft does not support.
#[rustfmt::skip]
const LEFT_OUT: [&str; 9] = [
    "block", "break", "continue", "debug", "extends", "from", "import", "include", "trans",
];

/// Converts an error of minijinja's parser.
pub(super) fn convert(text: &str, error: &Error) -> SyntaxError {
    let span = clamp(text, &error.range().unwrap_or(0..text.len()));
    if error.kind() == ErrorKind::BadEscape {
        return unread(text, "bad escape in a string", text.len());
    }
    match error.detail().unwrap_or("syntax error") {
        "unexpected end of string" => unread(text, "unterminated string", text.len()),
        "unexpected end of comment" => unread(text, "unclosed `{#`", text.len()).with_hint(
            "`{#` begins a comment; for a shell's `${#name}` write `{{ '${#name}' }}` or `{% raw %}…{% endraw %}`",
        ),
        "unexpected end of raw block" => unread(text, "unclosed `{% raw %}`", text.len()),
        "'_' may not occur at end of number" | "invalid float" => {
            unread(text, "invalid number", span.start)
        }
        "invalid integer (too large)" => unread(text, "integer is too large", span.start),
        "unexpected character" => unexpected_char(text, span),
        detail if detail.starts_with("unexpected end of input") => left_open(text, detail, span),
        detail => grammatical(text, detail, span),
    }
}

/// Converts a grammar error, with a hint for syntax of Python or other languages.
fn grammatical(text: &str, detail: &str, span: Range<usize>) -> SyntaxError {
    if let Some(name) = detail.strip_prefix("unknown statement ") {
        return unknown_statement(name, span);
    }
    if let Some(name) = detail.strip_prefix("cannot assign to reserved variable name ") {
        return SyntaxError::new(format!("cannot assign to `{name}`"), span);
    }
    let hint = match &text[span.clone()] {
        "=" => Some("use `==` to compare"),
        "|" if text[..span.start].ends_with('|') => Some("use `or`"),
        _ => None,
    };
    let error = SyntaxError::new(lower_first(detail), span);
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Returns an error for the text after the last readable token.
fn unread(text: &str, message: &str, end: usize) -> SyntaxError {
    let mut tokens = Tokenizer::new(text, "", false, SyntaxConfig::default());
    let mut start = 0;
    while let Ok(Some((_, span))) = tokens.next_token() {
        start = span.end_offset as usize;
    }
    let range = clamp(text, &(start..end.max(start)));
    let rest = &text[range.clone()];
    let blank = rest.len() - rest.trim_start().len();
    SyntaxError::new(message, range.start + blank..range.end)
}

fn unexpected_char(text: &str, span: Range<usize>) -> SyntaxError {
    let rest = &text[span.start..];
    let char = rest.chars().next().unwrap_or(' ');
    let hint = match char {
        '&' => Some("use `and`"),
        '!' => Some("use `not`"),
        '?' => Some("use `a if test else b`"),
        '“' | '”' | '‘' | '’' => Some("use a straight quote"),
        _ => None,
    };
    let span = span.start..span.start + char.len_utf8().min(rest.len());
    let error = SyntaxError::new(format!("unexpected `{char}`"), span);
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn unknown_statement(name: &str, span: Range<usize>) -> SyntaxError {
    if LEFT_OUT.contains(&name) {
        let message = format!("Jinja's `{{% {name} %}}` is not supported");
        let hint = "templates cannot include other templates; build the text here or in a \
             `compute` step";
        return SyntaxError::new(message, span).with_hint(hint);
    }
    let error = SyntaxError::new(format!("unknown statement `{name}`"), span);
    let closest = match name {
        "elseif" | "elsif" | "else_if" => Some("elif"),
        _ => deft_model::nearest(name, STATEMENTS),
    };
    match closest {
        Some(closest) if closest != name => error.with_hint(format!("did you mean `{closest}`?")),
        _ => error,
    }
}

/// Returns an error for the tag or block that is open at the end of the text.
fn left_open(text: &str, detail: &str, span: Range<usize>) -> SyntaxError {
    let mut state = Scan::default();
    let mut tokens = Tokenizer::new(text, "", false, SyntaxConfig::default());
    while let Ok(Some((token, span))) = tokens.next_token() {
        state.token(&token, span);
    }
    let at = |span: Span| {
        clamp(
            text,
            &(span.start_offset as usize..span.end_offset as usize),
        )
    };
    if let Some(open) = state.tag {
        let open = at(open);
        let marker = text[open.clone()].trim_end_matches(['-', '+']);
        return SyntaxError::new(format!("unclosed `{marker}`"), open);
    }
    if let Some((name, tag)) = state.blocks.last() {
        let error = SyntaxError::new(format!("unclosed `{{% {name} %}}`"), at(*tag));
        return error.with_hint(format!("add `{{% end{name} %}}`"));
    }
    SyntaxError::new(detail, span)
}

/// The tags and blocks that are open while the tokens are read.
#[derive(Default)]
struct Scan<'t> {
    tag: Option<Span>,
    /// The first word of the open tag, if it opens a block.
    word: Option<(&'t str, Span)>,
    fresh: bool,
    blocks: Vec<(&'t str, Span)>,
}

impl<'t> Scan<'t> {
    fn token(&mut self, token: &Token<'t>, span: Span) {
        let first = std::mem::take(&mut self.fresh);
        match token {
            Token::VariableStart => self.tag = Some(span),
            Token::BlockStart => {
                self.tag = Some(span);
                self.fresh = true;
            }
            Token::Ident(
                word @ ("if" | "for" | "with" | "filter" | "autoescape" | "set" | "macro"),
            ) if first => {
                self.word = Some((word, span));
            }
            Token::Ident(
                "endif" | "endfor" | "endwith" | "endfilter" | "endautoescape" | "endset"
                | "endmacro",
            ) if first => {
                self.blocks.pop();
            }
            // `set` with a value opens no block.
            Token::Assign if matches!(self.word, Some(("set", _))) => self.word = None,
            Token::BlockEnd => {
                self.tag = None;
                self.blocks.extend(self.word.take());
            }
            Token::VariableEnd => self.tag = None,
            _ => {}
        }
    }
}

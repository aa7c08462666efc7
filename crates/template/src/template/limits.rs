//! Rejection of templates whose syntax tree would be too high for the stack.
//!
//! minijinja limits the nesting of brackets and blocks, but not sequences of signs, `not`, `elif` and
//! `else`, nor chains such as `a.b.c` and `a + b + c`; even dropping such a tree would overflow the stack.
//! This module counts tokens that can make a tree higher, not the actual height.

use deft_values::clamp;
use minijinja::machinery::{Span, Token, Tokenizer};
use minijinja::syntax::SyntaxConfig;

use crate::error::SyntaxError;

/// Maximum number of operators in a tag, and of `elif`s in a template.
const MAX_OPERATORS: usize = 300;

/// Checks a template before parsing.
pub(super) fn check(text: &str) -> Result<(), SyntaxError> {
    // Every operator takes at least one byte, so almost all templates pass here.
    if text.len() <= MAX_OPERATORS {
        return Ok(());
    }
    let mut tokens = Tokenizer::new(text, "", false, SyntaxConfig::default());
    let mut in_tag = 0;
    let mut branches = 0;
    // The parser reports text that the tokenizer cannot read.
    while let Ok(Some((token, span))) = tokens.next_token() {
        match weight(&token) {
            Weight::Tag => in_tag = 0,
            Weight::Operator => in_tag += 1,
            Weight::Branch => branches += 1,
            Weight::Nothing => {}
        }
        if in_tag > MAX_OPERATORS || branches > MAX_OPERATORS {
            return Err(too_many(text, span, branches > MAX_OPERATORS));
        }
    }
    Ok(())
}

enum Weight {
    Tag,
    Operator,
    Branch,
    Nothing,
}

fn weight(token: &Token<'_>) -> Weight {
    match token {
        Token::VariableStart | Token::BlockStart => Weight::Tag,
        Token::Ident("elif") => Weight::Branch,
        Token::Ident("not" | "is" | "in" | "and" | "or" | "if" | "else") => Weight::Operator,
        Token::TemplateData(_)
        | Token::VariableEnd
        | Token::BlockEnd
        | Token::Ident(_)
        | Token::Str(_)
        | Token::String(_)
        | Token::Int(_)
        | Token::Int128(_)
        | Token::Float(_)
        | Token::Comma
        | Token::Colon
        | Token::Assign
        | Token::BracketClose
        | Token::ParenClose
        | Token::BraceClose => Weight::Nothing,
        _ => Weight::Operator,
    }
}

fn too_many(text: &str, span: Span, branches: bool) -> SyntaxError {
    let what = if branches {
        "`elif` branches"
    } else {
        "operators in one tag"
    };
    let message = format!("more than {MAX_OPERATORS} {what}");
    let range = span.start_offset as usize..span.end_offset as usize;
    SyntaxError::new(message, clamp(text, &range))
}

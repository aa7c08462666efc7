//! Parses a condition with the parser that the sandbox's interpreter uses.
//!
//! It takes what Python 3.11's `eval` takes, without `yield` and `await`, as if the whole stood in
//! parentheses. `scan` looks at the tokens, `explain` words what the parser reports, and
//! `lower` builds our tree. Names are not resolved; the rules of Python about `:=` in
//! comprehensions need scopes and are checked in `names`.

use std::ops::Range;

use deft_values::ast::Expr;
use ruff_python_ast::{Mod, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::{explain, lower, scan};
use crate::error::SyntaxError;

/// Parses `source[range]` as a whole.
pub(super) fn parse(source: &str, range: Range<usize>) -> Result<Expr, SyntaxError> {
    // Blanks for what stands before it keep all places as they are in `source`.
    let text = " ".repeat(range.start) + &source[range];
    scan::check_height(&text)?;
    let options =
        ParseOptions::from(Mode::ParenthesizedExpression).with_target_version(PythonVersion::PY311);
    let parsed = parse_unchecked(&text, options);
    let tokens = scan::tokens(&text, parsed.tokens());
    scan::check(&text, &tokens)?;
    if let Some(error) = parsed.errors().first() {
        return Err(explain::error(&text, &tokens, error));
    }
    if let Some(error) = parsed.unsupported_syntax_errors().first() {
        return Err(explain::newer(&text, error));
    }
    match parsed.into_syntax() {
        Mod::Expression(module) => lower::lower(&text, &module.body),
        Mod::Module(_) => Err(SyntaxError::new("not an expression", 0..text.len())),
    }
}

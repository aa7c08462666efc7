//! Parsing of conditions with the parser of the sandbox's Python.
//!
//! Accepts what Python 3.11's `eval` accepts, except `yield` and `await`, as if the text were in
//! parentheses. `scan` checks the tokens, `explain` words the errors of the parser, and `lower` builds our
//! tree. Names are not resolved; `names` checks Python's rules about `:=` in comprehensions, which need
//! scopes.

use std::ops::Range;

use deft_values::ast::Expr;
use ruff_python_ast::{Mod, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::{explain, lower, scan};
use crate::error::SyntaxError;

/// Parses `source[range]` as one expression.
pub(super) fn parse(source: &str, range: Range<usize>) -> Result<Expr, SyntaxError> {
    // Padding with blanks keeps all offsets as in `source`.
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

//! Conditions: Python expressions that decide whether a step runs.
//!
//! Conditions have Python's semantics, not Jinja's, so they are parsed with the parser of the sandbox's
//! Python, lowered to a small tree and evaluated in `eval`. An expression that requires full Python is an
//! error of its own kind; this crate has no interpreter for it.

mod eval;
mod explain;
mod literal;
mod lower;
mod names;
mod parser;
mod scan;

use std::ops::Range;

use deft_values::EvalError;
use deft_values::ast::Expr;

use crate::error::SyntaxError;
use crate::markup::has_markup;
use crate::names::NameUse;
use crate::scope::{Scope, Slots};

/// A parsed condition.
#[derive(Clone, Debug)]
pub struct Condition {
    source: String,
    expr: Expr,
    names: Vec<NameUse>,
    /// Every name in it once, for the cache of values read from the scope.
    read: Box<[String]>,
    unsupported: Option<(String, Range<usize>)>,
}

impl Condition {
    /// Parses a Python expression; `{{ … }}` around the whole expression is ignored.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let range = contents(text);
        if text[range.clone()].trim().is_empty() {
            return Err(SyntaxError::new("empty condition", 0..text.len()));
        }
        match Self::analyse(text, range.clone()) {
            Ok(condition) => Ok(condition),
            Err(error) => Err(explain_markup(text, &range, error)),
        }
    }

    fn analyse(text: &str, range: Range<usize>) -> Result<Self, SyntaxError> {
        let expr = parser::parse(text, range)?;
        let names = names::collect(&expr)?;
        Ok(Self {
            source: text.to_owned(),
            expr,
            names: names.free,
            read: names.read,
            unsupported: names.unsupported,
        })
    }

    /// Returns the original text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns all uses of free names, in text order.
    pub fn names(&self) -> &[NameUse] {
        &self.names
    }

    /// Returns the first part that requires full Python whatever its values are, and its span. Cases that
    /// depend on values are not found.
    pub fn first_unsupported(&self) -> Option<&(String, Range<usize>)> {
        self.unsupported.as_ref()
    }

    /// Evaluates the expression to JSON; tuples and sets become lists.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<serde_json::Value, EvalError> {
        let slots = Slots::new(&self.read);
        let value = eval::json(&self.expr, scope, &slots);
        value.map_err(|fault| fault.finish(&self.source))
    }

    /// Evaluates the expression to its truth value, by Python's rules.
    pub fn is_true(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        let slots = Slots::new(&self.read);
        let truth = eval::truth(&self.expr, scope, &slots);
        truth.map_err(|fault| fault.finish(&self.source))
    }

    /// Returns the syntax tree.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
}

/// Returns the range of the expression itself, without surrounding blanks and `{{ … }}`.
fn contents(text: &str) -> Range<usize> {
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    let inner = trimmed
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"));
    let Some(inner) = inner else {
        return start..start + trimmed.len();
    };
    // `{{-` and `-}}` trim white space in Jinja; the signs are not part of the expression.
    let left = usize::from(inner.starts_with(['-', '+']));
    let right = usize::from(inner.len() > left && inner.ends_with(['-', '+']));
    let start = start + 2;
    start + left..start + inner.len() - right
}

/// Adds a hint to an error that is caused by template syntax inside a condition.
fn explain_markup(text: &str, range: &Range<usize>, error: SyntaxError) -> SyntaxError {
    if error.hint.is_some() || !has_markup(&text[range.clone()]) {
        return error;
    }
    error.with_hint("a condition is a Python expression; write names without `{{ }}`")
}

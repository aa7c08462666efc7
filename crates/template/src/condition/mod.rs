//! Conditions: Python expressions that decide whether a step runs.
//!
//! A condition is parsed by the parser of the sandbox's Python, since its meaning is Python's and
//! not Jinja's, lowered to a small tree and evaluated in `eval`. What only a full Python can do is an error of its own kind; there is no
//! interpreter here to hand it to.

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

/// A condition that has been parsed.
#[derive(Clone, Debug)]
pub struct Condition {
    source: String,
    expr: Expr,
    names: Vec<NameUse>,
    /// Every name in it once, for the table that keeps what the scope says.
    read: Box<[String]>,
    unsupported: Option<(String, Range<usize>)>,
}

impl Condition {
    /// Parses a Python expression; `{{ … }}` around the whole of it is ignored.
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

    /// The text that was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names it reads, in the order of the text; every use is listed.
    pub fn names(&self) -> &[NameUse] {
        &self.names
    }

    /// What in it takes a full Python whatever the values are, as far as that can be told without
    /// them, and where it is.
    pub fn unsupported(&self) -> Option<&(String, Range<usize>)> {
        self.unsupported.as_ref()
    }

    /// The value of the expression as JSON; a tuple or set becomes a list.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<serde_json::Value, EvalError> {
        let slots = Slots::new(&self.read);
        let value = eval::json(&self.expr, scope, &slots);
        value.map_err(|fault| fault.finish(&self.source))
    }

    /// Whether Python takes the value of the expression for true.
    pub fn is_true(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        let slots = Slots::new(&self.read);
        let truth = eval::truth(&self.expr, scope, &slots);
        truth.map_err(|fault| fault.finish(&self.source))
    }

    /// The syntax tree.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
}

/// The range of the expression itself, without blanks and `{{ … }}` around it.
fn contents(text: &str) -> Range<usize> {
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    let inner = trimmed
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"));
    let Some(inner) = inner else {
        return start..start + trimmed.len();
    };
    // `{{-` and `-}}` trim white space in Jinja; the signs are no part of the expression.
    let left = usize::from(inner.starts_with(['-', '+']));
    let right = usize::from(inner.len() > left && inner.ends_with(['-', '+']));
    let start = start + 2;
    start + left..start + inner.len() - right
}

/// Points out template syntax in the middle of a condition, where Python cannot make sense of it.
fn explain_markup(text: &str, range: &Range<usize>, error: SyntaxError) -> SyntaxError {
    if error.hint.is_some() || !has_markup(&text[range.clone()]) {
        return error;
    }
    error.with_hint("a condition is a Python expression; write names without `{{ }}`")
}

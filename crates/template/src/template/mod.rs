//! Templates: text with Jinja syntax.
//!
//! minijinja parses; this module finds the names that a template reads, checks its filters and tests, and
//! renders it. It does not use minijinja's own engine; `render` explains why.

mod builtins;
mod diagnose;
mod limits;
mod render;
mod walk;

use std::sync::Arc;

use deft_values::EvalError;
use minijinja::machinery::{ast, parse};
use minijinja::syntax::SyntaxConfig;

use crate::error::SyntaxError;
use crate::markup::has_markup;
use crate::names::NameUse;
use crate::scope::Scope;
use render::Program;

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
    names: Vec<NameUse>,
    shape: Shape,
    /// The compiled template; `None` for a literal.
    program: Option<Arc<Program>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Literal,
    Expression,
    Text,
}

impl Template {
    /// Parses a template and checks that its filters and tests exist.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        if !has_markup(text) {
            return Ok(Self::literal(text));
        }
        limits::check(text)?;
        let root =
            parse(text, "", SyntaxConfig::default()).map_err(|e| diagnose::convert(text, &e))?;
        Ok(Self {
            source: text.to_owned(),
            names: walk::names(text, &root)?,
            shape: shape(text, &root),
            program: Some(Arc::new(render::lower(&root))),
        })
    }

    fn literal(text: &str) -> Self {
        Self {
            source: text.to_owned(),
            names: Vec::new(),
            shape: Shape::Literal,
            program: None,
        }
    }

    /// Returns the original text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns all uses of free names, in text order.
    pub fn names(&self) -> &[NameUse] {
        &self.names
    }

    /// Renders the template. The value of a single expression keeps its type; anything else is text.
    ///
    /// A single expression that reads a step without a value gives null.
    pub fn render(&self, scope: &dyn Scope) -> Result<serde_json::Value, EvalError> {
        let Some(program) = &self.program else {
            return Ok(serde_json::Value::String(self.source.clone()));
        };
        let value = program.value(scope, self.is_expression());
        value.map_err(|fault| fault.finish(&self.source))
    }

    /// Renders the template to text.
    pub fn render_text(&self, scope: &dyn Scope) -> Result<String, EvalError> {
        let Some(program) = &self.program else {
            return Ok(self.source.clone());
        };
        let text = program.text(scope);
        text.map_err(|fault| fault.finish(&self.source))
    }

    /// Renders the template to text for a model. Output that depends on untrusted values is passed to
    /// `frame`, with the origin of the value and its text. Conditions, loops and filters use the original
    /// values. Numbers, booleans and `None` cannot contain instructions and are not framed.
    pub fn render_framed(
        &self,
        scope: &dyn Scope,
        frame: &dyn Fn(&str, &str) -> String,
    ) -> Result<String, EvalError> {
        let Some(program) = &self.program else {
            return Ok(self.source.clone());
        };
        let text = program.render_framed(scope, frame);
        text.map_err(|fault| fault.finish(&self.source))
    }

    /// Whether the text is exactly one `{{ … }}`, so that the value keeps its type.
    pub fn is_expression(&self) -> bool {
        self.shape == Shape::Expression
    }

    /// Whether the text has no template syntax.
    pub fn is_literal(&self) -> bool {
        self.shape == Shape::Literal
    }
}

/// Returns the shape of a template. A line end after a single expression is ignored, because YAML blocks end
/// with one.
fn shape(text: &str, root: &ast::Stmt<'_>) -> Shape {
    let ast::Stmt::Template(template) = root else {
        return Shape::Text;
    };
    let bare = text.strip_suffix('\n').unwrap_or(text);
    match template.children.as_slice() {
        [ast::Stmt::EmitExpr(_)] if bare.starts_with("{{") && bare.ends_with("}}") => {
            Shape::Expression
        }
        _ => Shape::Text,
    }
}

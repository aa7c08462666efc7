//! Arguments and outputs: JSON values with templates in their texts.

use deft_model::Object;
use deft_template::{EvalError, Scope, SyntaxError, Template};
use serde_json::Value;

/// A JSON value whose texts may be templates, compiled once.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// A value without templates.
    Literal(Value),
    Template(Box<Template>),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    pub(crate) fn compile(value: &Value) -> Result<Self, SyntaxError> {
        Ok(match value {
            Value::String(text) => {
                let template = Template::parse(text)?;
                if template.is_literal() {
                    Self::Literal(value.clone())
                } else {
                    Self::Template(Box::new(template))
                }
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(Self::compile).collect::<Result<_, _>>()?;
                if items.iter().all(Self::is_literal) {
                    Self::Literal(value.clone())
                } else {
                    Self::List(items)
                }
            }
            Value::Object(entries) => Self::compile_map(value, entries)?,
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Literal(value.clone()),
        })
    }

    fn compile_map(value: &Value, entries: &Object) -> Result<Self, SyntaxError> {
        let mut map = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            map.push((key.clone(), Self::compile(value)?));
        }
        Ok(if map.iter().all(|(_, tree)| tree.is_literal()) {
            Self::Literal(value.clone())
        } else {
            Self::Map(map)
        })
    }

    fn is_literal(&self) -> bool {
        matches!(self, Self::Literal(_))
    }

    /// Whether a template in it reads a name.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Literal(_) => false,
            Self::Template(template) => template.names().iter().any(|used| used.name == name),
            Self::List(items) => items.iter().any(|item| item.mentions(name)),
            Self::Map(entries) => entries.iter().any(|(_, tree)| tree.mentions(name)),
        }
    }

    pub(crate) fn render(&self, scope: &dyn Scope) -> Result<Value, EvalError> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Template(template) => template.render(scope),
            Self::List(items) => items
                .iter()
                .map(|item| item.render(scope))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            Self::Map(entries) => {
                let mut map = Object::with_capacity(entries.len());
                for (key, tree) in entries {
                    map.insert(key.clone(), tree.render(scope)?);
                }
                Ok(Value::Object(map))
            }
        }
    }

    /// Renders arguments. Anything but a mapping gives no arguments.
    pub(crate) fn render_object(&self, scope: &dyn Scope) -> Result<Object, EvalError> {
        Ok(match self.render(scope)? {
            Value::Object(map) => map,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Object::new(),
        })
    }
}

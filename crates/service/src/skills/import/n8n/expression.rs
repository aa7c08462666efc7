//! Converts values of n8n parameters. A string that begins with `=` is a template with JavaScript; paths into
//! the data of a node are converted, other code is refused.

use serde_json::Value;

use crate::skills::import::escape::escape;

/// The place of a node's data in the workflow of deft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// The node is a trigger, which has no data.
    None,
    /// The result of a step, or a part of it.
    Step {
        id: String,
        below: Option<&'static str>,
        is_shell: bool,
    },
    /// Branches with different data join before the node.
    Ambiguous,
}

/// The data that expressions of a node can refer to.
pub(super) trait Scope {
    /// Returns the input of the node: `$json`.
    fn input(&self) -> &Data;
    /// Returns the data of the earlier node `name`.
    fn node(&self, name: &str) -> Option<&Data>;
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Path(DataPath),
}

/// A path into the result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataPath {
    step: String,
    keys: Vec<Key>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Name(String),
    Index(u32),
}

/// Splits a parameter into text and paths. The error says why it cannot be converted.
pub(super) fn parts(value: &Value, scope: &dyn Scope) -> Result<Vec<Part>, String> {
    let Some(text) = value.as_str() else {
        return Ok(vec![Part::Text(value.to_string())]);
    };
    let Some(mut rest) = text.strip_prefix('=') else {
        return Ok(vec![Part::Text(text.to_owned())]);
    };
    let mut parts = Vec::new();
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((code, behind)) = behind.split_once("}}") else {
            break;
        };
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        parts.push(Part::Path(path(code.trim(), scope)?));
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Formats the parts as a template of deft.
pub(super) fn template(parts: &[Part]) -> String {
    parts.iter().map(|part| part.template("")).collect()
}

impl Part {
    /// Formats the part for a template; a path is piped through `filter`.
    pub(super) fn template(&self, filter: &str) -> String {
        match self {
            Self::Text(text) => escape(text),
            Self::Path(path) => format!("{{{{ {}{filter} }}}}", path.format_dotted()),
        }
    }
}

/// Converts all strings in a value into templates.
pub(super) fn templates(value: &Value, scope: &dyn Scope) -> Result<Value, String> {
    Ok(match value {
        Value::String(_) => Value::String(template(&parts(value, scope)?)),
        Value::Array(items) => {
            let items = items.iter().map(|item| templates(item, scope));
            Value::Array(items.collect::<Result<_, String>>()?)
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| Ok((key.clone(), templates(value, scope)?)));
            Value::Object(entries.collect::<Result<_, String>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// Converts a value into a Python expression, for a condition or, with `subscripts`, for a compute block.
pub(super) fn python(value: &Value, scope: &dyn Scope, subscripts: bool) -> Result<String, String> {
    let Value::String(_) = value else {
        return Ok(literal(value));
    };
    let parts = parts(value, scope)?;
    let shown = |path: &DataPath| {
        if subscripts {
            path.format_subscripts()
        } else {
            path.format_dotted()
        }
    };
    Ok(match parts.as_slice() {
        [] => "\"\"".to_owned(),
        [Part::Text(text)] => quote_python(text),
        [Part::Path(path)] => shown(path),
        many => {
            let terms = many.iter().map(|part| match part {
                Part::Text(text) => quote_python(text),
                Part::Path(path) => format!("str({})", shown(path)),
            });
            terms.collect::<Vec<_>>().join(" + ")
        }
    })
}

/// Formats a JSON value as a Python literal.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote_python(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries =
                entries.map(|(key, value)| format!("{}: {}", quote_python(key), literal(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Formats a string as a Python literal; JSON and Python use the same escapes.
pub(super) fn quote_python(text: &str) -> String {
    Value::from(text).to_string()
}

impl DataPath {
    /// Formats the path as `step.body.name`, with subscripts for names that are not identifiers. A missing
    /// name evaluates to nothing.
    fn format_dotted(&self) -> String {
        let key = |key: &Key| match key {
            Key::Name(name) if is_identifier(name) => format!(".{name}"),
            Key::Name(name) => format!("[{}]", quote_python(name)),
            Key::Index(at) => format!("[{at}]"),
        };
        self.step.clone() + &self.keys.iter().map(key).collect::<String>()
    }

    fn format_subscripts(&self) -> String {
        let key = |key: &Key| match key {
            Key::Name(name) => format!("[{}]", quote_python(name)),
            Key::Index(at) => format!("[{at}]"),
        };
        self.step.clone() + &self.keys.iter().map(key).collect::<String>()
    }
}

/// Returns the data of a node as a Python expression.
pub(super) fn whole(data: &Data) -> Result<String, String> {
    match data {
        Data::None => Ok("{}".to_owned()),
        Data::Step { id, below, .. } => {
            let keys = below.iter().map(|key| Key::Name((*key).to_owned()));
            let path = DataPath {
                step: id.clone(),
                keys: keys.collect(),
            };
            Ok(path.format_subscripts())
        }
        Data::Ambiguous => Err("it reads the data of branches that meet".to_owned()),
    }
}

fn is_identifier(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Parses a path such as `$json.user["name"]` or `$('Get user').item.json.name`.
fn path(code: &str, scope: &dyn Scope) -> Result<DataPath, String> {
    let too_much =
        || format!("the expression `{code}` is more than a path into the data of a node");
    let (data, rest) = root(code, scope).ok_or_else(too_much)??;
    let keys = keys(rest).ok_or_else(too_much)?;
    match data {
        Data::None => Err(format!(
            "the expression `{code}` reads the data of the trigger"
        )),
        Data::Ambiguous => Err(format!(
            "the expression `{code}` reads the data of branches that meet"
        )),
        Data::Step {
            id,
            below,
            is_shell,
        } => Ok(DataPath {
            step: id.clone(),
            keys: locate_keys(keys, *below, *is_shell),
        }),
    }
}

/// Converts the keys to those of the result of deft's step.
fn locate_keys(mut keys: Vec<Key>, below: Option<&'static str>, is_shell: bool) -> Vec<Key> {
    if is_shell && keys.first() == Some(&Key::Name("exitCode".to_owned())) {
        keys[0] = Key::Name("exit_code".to_owned());
    }
    let below = below.map(|key| Key::Name(key.to_owned()));
    below.into_iter().chain(keys).collect()
}

/// Returns the data at the start of a path, and the rest of the path. `None` if the start is unknown.
fn root<'a, 'b>(
    code: &'a str,
    scope: &'b dyn Scope,
) -> Option<Result<(&'b Data, &'a str), String>> {
    for start in ["$json", "$input.item.json", "$input.first().json"] {
        let rest = code.strip_prefix(start);
        if let Some(rest) = rest.filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())) {
            return Some(Ok((scope.input(), rest)));
        }
    }
    let (name, rest) = if let Some(rest) = code.strip_prefix("$node[") {
        let (name, rest) = quoted_name(rest)?;
        (name, rest.strip_prefix("].json")?)
    } else {
        let (name, rest) = quoted_name(code.strip_prefix("$(")?)?;
        let rest = rest.strip_prefix(')')?;
        let ways = [".item.json", ".first().json", ".last().json"];
        (name, ways.iter().find_map(|way| rest.strip_prefix(way))?)
    };
    let unknown = || format!("the expression `{code}` names no earlier node");
    Some(
        scope
            .node(name)
            .ok_or_else(unknown)
            .map(|data| (data, rest)),
    )
}

/// Splits a quoted string from the text after it.
fn quoted_name(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote)
}

fn keys(mut rest: &str) -> Option<Vec<Key>> {
    let mut keys = Vec::new();
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('[') {
            let (key, behind) = match quoted_name(behind) {
                Some((name, behind)) => (Key::Name(name.to_owned()), behind.strip_prefix(']')?),
                None => {
                    let (number, behind) = behind.split_once(']')?;
                    (Key::Index(number.trim().parse().ok()?), behind)
                }
            };
            keys.push(key);
            rest = behind;
            continue;
        }
        let behind = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'))?;
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, behind) = behind.split_at(end.unwrap_or(behind.len()));
        // `.length` and methods are code, not paths.
        if !is_identifier(name) || behind.starts_with('(') || name == "length" {
            return None;
        }
        keys.push(Key::Name(name.to_owned()));
        rest = behind;
    }
    Some(keys)
}

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;

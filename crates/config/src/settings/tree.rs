//! Settings as a tree that records the origin of each value.
//!
//! Not here: the meaning of the keys.

use std::collections::BTreeMap;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::kind::Kind;
use super::problem::Problem;
use super::table::{self, PathKind};

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The default.
    Default,
    /// A line of the file.
    File {
        /// The line number, from 1.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
}

/// A value or a section.
#[derive(Clone, Debug)]
pub struct Node {
    pub data: Data,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub enum Data {
    Table(Section),
    List(Vec<Node>),
    Value(Value),
}

/// Keys and their values or subsections.
pub(super) type Section = BTreeMap<String, Node>;

impl Node {
    /// Converts the node to JSON.
    pub fn json(&self) -> Value {
        match &self.data {
            Data::Table(section) => {
                let field = |(name, node): (&String, &Self)| (name.clone(), node.json());
                Value::Object(section.iter().map(field).collect())
            }
            Data::List(items) => items.iter().map(Self::json).collect(),
            Data::Value(value) => value.clone(),
        }
    }
}

/// All settings from the file and the environment.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(super) root: Section,
}

impl Settings {
    /// Parses the text of a file.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        // Editors on some systems write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = &Lines::new(text);
        let parsed = DeTable::parse(text).map_err(|problem| Problem {
            message: format!("not TOML: {}", problem.message()),
            hint: None,
            origin: Some(lines.origin(problem.span().map_or(0, |span| span.start))),
            path: Vec::new(),
        })?;
        Ok(Self {
            root: section(parsed.get_ref(), lines),
        })
    }

    /// Overrides settings with variables, whose names come without `DEFT__`.
    pub fn overlay(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        for (name, value) in variables {
            // Scripts unset a variable by giving it an empty value.
            if !value.is_empty() {
                let origin = Origin::Variable(format!("DEFT__{name}"));
                let parts: Vec<&str> = name.split("__").collect();
                put(&mut self.root, &mut Vec::new(), &parts, &value, &origin);
            }
        }
    }

    /// Returns the node at `path`.
    pub fn get<S: AsRef<str>>(&self, path: &[S]) -> Option<&Node> {
        let (last, above) = path.split_last()?;
        let mut section = &self.root;
        for name in above {
            match &section.get(name.as_ref())?.data {
                Data::Table(below) => section = below,
                Data::List(_) | Data::Value(_) => return None,
            }
        }
        section.get(last.as_ref())
    }
}

/// Stores the value of a variable at the path in its name.
fn put(
    section: &mut Section,
    above: &mut Vec<String>,
    parts: &[&str],
    value: &str,
    origin: &Origin,
) {
    let Some((first, rest)) = parts.split_first() else {
        return;
    };
    let name = existing_key(section, first).unwrap_or_else(|| spell_name(above, first));
    above.push(name.clone());
    if rest.is_empty() {
        let kind = match table::kind_of_path(above) {
            PathKind::Leaf(key) => Some(key.kind),
            PathKind::Section | PathKind::Unknown => None,
        };
        section.insert(name, node(&read_value(value, kind), origin));
        return;
    }
    let below = section.entry(name).or_insert_with(|| Node {
        data: Data::Table(Section::new()),
        origin: origin.clone(),
    });
    if let Data::Table(below) = &mut below.data {
        put(below, above, rest, value, origin);
    }
}

/// Returns the key of the file that a part of a variable's name refers to. Names of variables have no lower
/// case and no hyphens.
fn existing_key(section: &Section, part: &str) -> Option<String> {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let same = |name: &&String| plain(name) == plain(part);
    section.keys().find(same).cloned()
}

/// Returns the spelling of a new name: variables, headers, secrets and provider-specific fields keep theirs;
/// all other names are in lower case.
fn spell_name(above: &[String], part: &str) -> String {
    let is_free = match above {
        [section] => section == "secrets",
        [section, _, map] if section == "llm" => map == "extra",
        [section, _, map] => section == "mcp_servers" && (map == "env" || map == "headers"),
        _ => false,
    };
    if is_free {
        part.to_owned()
    } else {
        part.to_lowercase()
    }
}

/// Parses a value from the command line or a variable. A value that is not TOML is a string, so that shell
/// users need not quote twice; for keys of strings, any value is a string.
pub fn read_value(given: &str, kind: Option<Kind>) -> Value {
    let text = || Value::String(given.to_owned());
    let parsed = value_of(given).unwrap_or_else(text);
    match kind {
        Some(kind) if kind.is_text() && !parsed.is_string() => text(),
        // A single item is a list of one.
        Some(Kind::Texts | Kind::Chats) if !parsed.is_array() => Value::Array(vec![parsed]),
        _ => parsed,
    }
}

/// Parses `text` as a TOML value; `None` if it is not one.
pub(super) fn value_of(text: &str) -> Option<Value> {
    let document = format!("value = {text}");
    let parsed = DeTable::parse(&document).ok()?;
    let mut section = section(parsed.get_ref(), &Lines::new(&document));
    let node = section.remove("value")?;
    section.is_empty().then(|| node.json())
}

/// Converts a JSON value into a tree with one origin.
fn node(value: &Value, origin: &Origin) -> Node {
    let data = match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| (name.clone(), node(value, origin));
            Data::Table(fields.iter().map(field).collect())
        }
        Value::Array(items) => Data::List(items.iter().map(|item| node(item, origin)).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            Data::Value(other.clone())
        }
    };
    Node {
        data,
        origin: origin.clone(),
    }
}

/// The positions of the line ends in a text.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn origin(&self, at: usize) -> Origin {
        Origin::File {
            line: self.0.partition_point(|end| *end < at) + 1,
        }
    }
}

fn section(table: &DeTable<'_>, lines: &Lines) -> Section {
    let field = |(name, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let node = Node {
            data: data(value.get_ref(), lines),
            origin: lines.origin(name.span().start),
        };
        (
            std::borrow::Cow::<str>::clone(name.get_ref()).into_owned(),
            node,
        )
    };
    table.iter().map(field).collect()
}

fn data(value: &DeValue<'_>, lines: &Lines) -> Data {
    let scalar = match value {
        DeValue::Table(table) => return Data::Table(section(table, lines)),
        DeValue::Array(items) => {
            let item = |item: &toml::Spanned<DeValue<'_>>| Node {
                data: data(item.get_ref(), lines),
                origin: lines.origin(item.span().start),
            };
            return Data::List(items.iter().map(item).collect());
        }
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            parsed.map_or_else(|_| Value::String(number.to_string()), Value::from)
        }
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .map_or(Value::Null, Value::from),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Datetime(time) => Value::String(time.to_string()),
    };
    Data::Value(scalar)
}

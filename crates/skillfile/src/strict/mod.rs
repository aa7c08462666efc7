//! The verdict of the open format's reference validator (`skills-ref`).
//!
//! The same files pass and fail, and the same properties come out; the words
//! are ours. `reader` reads what the reference can read, `checks` judges the
//! tree. It does not repair anything.

mod checks;
mod reader;

use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Sink};
use crate::python;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::yaml::{Kind, Node};

/// What the reference's `read-properties` prints, in its order.
pub type Properties = Map<String, Value>;

/// Reads a frontmatter that starts at `offset` of its file, as the reference
/// does.
pub(crate) fn read(text: &str, offset: usize) -> Result<Node, Diagnostic> {
    reader::read(text, offset)?.ok_or_else(|| Diagnostic {
        span: Span::new(offset, offset + text.len()),
        ..Diagnostic::new(Rule::NotAMapping, "the frontmatter is empty")
            .with_help("write keys and values, `name: …` and `description: …`")
    })
}

/// What is wrong with a frontmatter: why the reference could not read it, if
/// it could not, and what its checks say about a tree, if there is one.
pub(crate) fn judge(
    unread: Option<Diagnostic>,
    tree: Option<&Node>,
    folder: &str,
) -> Vec<Diagnostic> {
    let mut found = tree.map_or_else(Vec::new, |root| check(root, folder));
    // A reader that knows more YAML may have found the same with a better place.
    let is_news = |unread: &Diagnostic| found.iter().all(|one| one.rule != unread.rule);
    if let Some(unread) = unread.filter(is_news) {
        found.push(unread);
    }
    for one in &mut found {
        one.severity = Severity::Error;
    }
    found
}

fn check(root: &Node, folder: &str) -> Vec<Diagnostic> {
    let mut sink = Sink::default();
    checks::style(root, &mut sink);
    match root.as_mapping() {
        Some(map) => checks::fields(map, folder, &mut sink),
        None => sink
            .report(
                Rule::NotAMapping,
                root.span,
                format!("the frontmatter is {}", root.describe()),
            )
            .help("write keys and values, `name: …` and `description: …`"),
    }
    sink.finish()
}

/// The properties, for files that have a name and a description.
pub(crate) fn properties(root: &Node) -> Option<Properties> {
    let map = root.as_mapping()?;
    let mut properties = Properties::new();
    for key in ["name", "description"] {
        let trimmed = python::strip(checks::text(map.get(key)?)?);
        if trimmed.is_empty() {
            return None;
        }
        properties.insert(key.to_owned(), trimmed.into());
    }
    for key in ["license", "compatibility", "allowed-tools"] {
        if let Some(node) = map.get(key) {
            properties.insert(key.to_owned(), python::strings(node));
        }
    }
    if let Some(node) = map.get("metadata")
        && let Some(metadata) = metadata(node)
    {
        properties.insert("metadata".to_owned(), metadata);
    }
    Some(properties)
}

/// A mapping's values become texts, nested ones as Python prints them; an
/// empty value is left out, as the reference does.
fn metadata(node: &Node) -> Option<Value> {
    match &node.kind {
        Kind::Mapping(mapping) => {
            let text = |value: &Node| match value.as_scalar() {
                Some(scalar) => scalar.text.clone(),
                None => python::repr(value),
            };
            let entries = mapping.entries.iter();
            Some(
                entries
                    .map(|entry| (entry.key.clone(), text(&entry.value)))
                    .collect(),
            )
        }
        Kind::Scalar(scalar) if scalar.text.is_empty() => None,
        Kind::Scalar(_) | Kind::Sequence { .. } => Some(python::strings(node)),
    }
}

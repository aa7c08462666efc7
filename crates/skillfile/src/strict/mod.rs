//! The verdict of the open format's reference validator (`skills-ref`).
//!
//! The same files pass and fail, with the same properties; the messages are our own. `reader` parses what the
//! reference can parse, `checks` checks the tree. Nothing is repaired.

mod checks;
mod reader;

use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Sink};
use crate::python;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::yaml::{Kind, Node};

/// The output of the reference's `read-properties`, in its order.
pub type Properties = Map<String, Value>;

/// Parses a frontmatter that starts at `offset` of its file, like the reference.
pub(crate) fn read(text: &str, offset: usize) -> Result<Node, Diagnostic> {
    reader::read(text, offset)?.ok_or_else(|| Diagnostic {
        span: Span::new(offset, offset + text.len()),
        ..Diagnostic::new(Rule::NotAMapping, "the frontmatter is empty")
            .with_help("write keys and values, `name: …` and `description: …`")
    })
}

/// Returns the problems of a frontmatter: `unread`, the reason why the reference cannot parse it, and the
/// results of its checks on `tree`.
pub(crate) fn judge(
    unread: Option<Diagnostic>,
    tree: Option<&Node>,
    folder: &str,
) -> Vec<Diagnostic> {
    let mut found = tree.map_or_else(Vec::new, |root| check(root, folder));
    // A parser that supports more of YAML may have found the same problem with a better span.
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

/// Returns the properties, for files that have a name and a description.
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

/// Converts a mapping's values to texts, nested ones as Python prints them. An empty value is omitted, as in
/// the reference.
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

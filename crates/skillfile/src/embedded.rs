//! JSON inside texts (X12).
//!
//! The open format has only texts below `metadata`, so lists and mappings are
//! written there as JSON in a text. Every value in it keeps its place in the
//! file.

use serde_json::Value;

use crate::span::Span;
use crate::yaml::{self, Kind, Node, Places};

/// What a text holds, if it holds a list or a mapping.
pub(crate) fn embedded(node: &Node, file: &str) -> Option<Node> {
    let scalar = node
        .as_scalar()
        .filter(|scalar| looks_like_json(&scalar.text))?;
    if let Ok(tree) = yaml::parse(&scalar.text, 0) {
        let mut tree = tree?;
        let places = Places::new(file, node);
        place(&mut tree, &|span| places.span(&(span.start()..span.end())));
        return Some(tree);
    }
    // JSON takes a few characters that YAML does not.
    let value: Value = serde_json::from_str(&scalar.text).ok()?;
    let mut tree = Node::from_value(&value);
    place(&mut tree, &|_| node.span);
    Some(tree)
}

/// Whether a text is meant to hold a list or a mapping.
pub(crate) fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// Turns places in the text into places in the file.
fn place(node: &mut Node, moved: &dyn Fn(Span) -> Span) {
    node.span = moved(node.span);
    match &mut node.kind {
        Kind::Scalar(_) => {}
        Kind::Sequence { items, .. } => items.iter_mut().for_each(|item| place(item, moved)),
        Kind::Mapping(mapping) => {
            for entry in &mut mapping.entries {
                entry.key_span = moved(entry.key_span);
                place(&mut entry.value, moved);
            }
        }
    }
}

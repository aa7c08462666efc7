//! JSON in texts (X12).
//!
//! The open format only has texts below `metadata`, so lists and mappings are written there as JSON. Every
//! value in them keeps its span in the file.

use serde_json::Value;

use crate::span::Span;
use crate::yaml::{self, Kind, Node, Places};

/// Parses the list or mapping in a text; `None` if it contains neither.
pub(crate) fn parse_embedded(node: &Node, file: &str) -> Option<Node> {
    let scalar = node
        .as_scalar()
        .filter(|scalar| looks_like_json(&scalar.text))?;
    if let Ok(tree) = yaml::parse(&scalar.text, 0) {
        let mut tree = tree?;
        let places = Places::new(file, node);
        place(&mut tree, &|span| places.span(&(span.start()..span.end())));
        return Some(tree);
    }
    // JSON allows a few characters that YAML does not.
    let value: Value = serde_json::from_str(&scalar.text).ok()?;
    let mut tree = Node::from_value(&value);
    place(&mut tree, &|_| node.span);
    Some(tree)
}

/// Whether a text looks like a list or a mapping in JSON.
pub(crate) fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// Why a text that looks like JSON is invalid, and where.
pub(crate) struct Broken {
    pub reason: String,
    pub span: Span,
    pub help: Option<String>,
}

/// Returns why the JSON in a text is invalid, or `None` if it is valid.
pub(crate) fn find_json_error(node: &Node, file: &str) -> Option<Broken> {
    let scalar = node
        .as_scalar()
        .filter(|scalar| looks_like_json(&scalar.text))?;
    let problem = serde_json::from_str::<Value>(&scalar.text).err()?;
    let at = json_offset(&scalar.text, &problem);
    let message = problem.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    let help = match reason {
        "trailing comma" => "remove the comma before it",
        _ if problem.is_eof() => "close every bracket, brace and quote that is opened",
        _ => "write it as JSON, with keys and strings in double quotes",
    };
    Some(Broken {
        reason: if problem.is_eof() {
            "it ends too early".to_owned()
        } else {
            reason.to_owned()
        },
        span: Places::new(file, node).span(&(at..at)),
        help: Some(help.to_owned()),
    })
}

/// Returns the byte offset of a JSON error. Lines and columns count from 1, columns in bytes.
pub(crate) fn json_offset(text: &str, problem: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines
        .take(problem.line().saturating_sub(1))
        .map(str::len)
        .sum();
    text.floor_char_boundary(before + problem.column().saturating_sub(1))
}

/// Maps all spans of a tree from the text to the file.
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

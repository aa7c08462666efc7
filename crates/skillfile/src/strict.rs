//! The verdict of the open format's reference validator (`skills-ref`).
//!
//! The same files pass and fail, and the same properties come out; the words
//! are ours. It reads the tree that the lenient reader built and adds the
//! limits of StrictYAML: block style only, every scalar a text, no anchors or
//! tags. It does not repair anything.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::diagnostic::{Diagnostic, Severity, Sink};
use crate::fields::OPEN;
use crate::python;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::{Kind, Mapping, Node};

const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// What the reference's `read-properties` prints, in its order.
pub type Properties = Map<String, Value>;

/// Checks a frontmatter that could be read as YAML.
pub(crate) fn check(root: &Node, folder: &str) -> Vec<Diagnostic> {
    let mut sink = Sink::default();
    check_style(root, &mut sink);
    let Some(map) = root.as_mapping() else {
        sink.report(
            Rule::NotAMapping,
            root.span,
            format!("the frontmatter is {}", root.describe()),
        )
        .help("write keys and values, `name: …` and `description: …`");
        return errors(sink);
    };
    check_keys(map, &mut sink);
    check_name(map, folder, &mut sink);
    check_description(map, &mut sink);
    check_compatibility(map, &mut sink);
    errors(sink)
}

/// The properties, for files that have a name and a description.
pub(crate) fn properties(root: &Node) -> Option<Properties> {
    let map = root.as_mapping()?;
    let mut properties = Properties::new();
    for key in ["name", "description"] {
        let text = &map.get(key)?.as_scalar()?.text;
        let trimmed = python::strip(text);
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

/// In this profile everything that is reported fails the file.
fn errors(sink: Sink) -> Vec<Diagnostic> {
    let mut found = sink.finish();
    found
        .iter_mut()
        .for_each(|one| one.severity = Severity::Error);
    found
}

fn check_style(node: &Node, sink: &mut Sink) {
    if node.decorated {
        sink.report(
            Rule::AnchorOrTag,
            node.span,
            "anchors, aliases and tags are not in the open format",
        )
        .help("write the value out, in quotes if it is meant literally");
    }
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::Sequence { items, flow } => {
            check_flow(*flow, node.span, "list", sink);
            items.iter().for_each(|item| check_style(item, sink));
        }
        Kind::Mapping(mapping) => {
            check_flow(mapping.flow, node.span, "mapping", sink);
            for entry in mapping.duplicates() {
                let message = format!("`{}` is given twice", entry.key);
                sink.report(Rule::DuplicateKey, entry.key_span, message)
                    .help("keep one of them");
            }
            mapping
                .entries
                .iter()
                .for_each(|entry| check_style(&entry.value, sink));
        }
    }
}

fn check_flow(flow: bool, span: Span, what: &str, sink: &mut Sink) {
    if flow {
        let message = format!("a {what} in one line is not in the open format");
        let help = match what {
            "list" => "write one `- item` per line, or put the text in quotes",
            _ => "write one `key: value` per line, or put the text in quotes",
        };
        sink.report(Rule::FlowStyle, span, message).help(help);
    }
}

fn check_keys(map: &Mapping, sink: &mut Sink) {
    let known = |key: &str| OPEN.iter().any(|field| field.name == key);
    for entry in map.entries.iter().filter(|entry| !known(&entry.key)) {
        let message = format!("`{}` is not a key of the open format", entry.key);
        let near = deft_model::nearest(&entry.key, OPEN.iter().map(|field| field.name));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "put it below `metadata`: `metadata:` and then `  {}: …`",
                entry.key
            ),
        };
        sink.report(Rule::UnknownKey, entry.key_span, message)
            .help(help);
    }
}

fn check_name(map: &Mapping, folder: &str, sink: &mut Sink) {
    let Some(entry) = map.entry("name") else {
        sink.report(Rule::MissingName, Span::NONE, "there is no `name`")
            .help(format!("add `name: {folder}`"));
        return;
    };
    let span = entry.value.span;
    let written = entry
        .value
        .as_scalar()
        .map(|scalar| python::strip(&scalar.text));
    let Some(written) = written.filter(|name| !name.is_empty()) else {
        sink.report(
            Rule::MissingName,
            entry.key_span,
            "`name` is empty or not text",
        );
        return;
    };
    let name: String = written.nfkc().collect();
    let length = name.chars().count();
    if length > MAX_NAME {
        let message = format!("the name has {length} characters, {MAX_NAME} are allowed");
        sink.report(Rule::NameTooLong, span, message);
    }
    if let Some((message, help)) = name_problem(&name) {
        sink.report(Rule::InvalidName, span, message).help(help);
    }
    let folder: String = folder.nfkc().collect();
    if folder != name {
        sink.report(
            Rule::NameFolderMismatch,
            span,
            format!("the name is `{name}`, the folder `{folder}`"),
        )
        .help("the open format wants both to be the same; rename one of them");
    }
}

fn name_problem(name: &str) -> Option<(String, &'static str)> {
    const HELP: &str = "use lower-case letters, digits and single hyphens, such as `code-review`";
    let problem = if name != name.to_lowercase() {
        "is not lower case"
    } else if name.starts_with('-') || name.ends_with('-') {
        "starts or ends with a hyphen"
    } else if name.contains("--") {
        "has two hyphens in a row"
    } else if !is_alphanumeric_or_hyphen(name) {
        "has characters other than letters, digits and hyphens"
    } else {
        return None;
    };
    Some((format!("the name `{name}` {problem}"), HELP))
}

/// Python's `isalnum`: letters and numbers by category, without the combining
/// marks that Rust's `is_alphanumeric` lets through.
fn is_alphanumeric_or_hyphen(name: &str) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}\p{N}-]+$").ok());
    if name.is_ascii() {
        return name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    }
    WORD.as_ref().is_some_and(|word| word.is_match(name))
}

fn check_description(map: &Mapping, sink: &mut Sink) {
    let Some(entry) = map.entry("description") else {
        sink.report(
            Rule::MissingDescription,
            Span::NONE,
            "there is no `description`",
        )
        .help("add a line that says what the skill does and when to use it");
        return;
    };
    let text = entry.value.as_scalar().map(|scalar| scalar.text.as_str());
    let Some(text) = text.filter(|text| !python::strip(text).is_empty()) else {
        sink.report(
            Rule::MissingDescription,
            entry.key_span,
            "`description` is empty or not text",
        );
        return;
    };
    let length = text.chars().count();
    if length > MAX_DESCRIPTION {
        let message =
            format!("the description has {length} characters, {MAX_DESCRIPTION} are allowed");
        sink.report(Rule::DescriptionTooLong, entry.value.span, message)
            .help("move the details into the text below the frontmatter");
    }
}

fn check_compatibility(map: &Mapping, sink: &mut Sink) {
    let Some(node) = map.get("compatibility") else {
        return;
    };
    let Some(scalar) = node.as_scalar() else {
        let message = format!("`compatibility` takes text, not {}", node.describe());
        sink.report(Rule::WrongType, node.span, message);
        return;
    };
    let length = scalar.text.chars().count();
    if length > MAX_COMPATIBILITY {
        let message = format!("the note has {length} characters, {MAX_COMPATIBILITY} are allowed");
        sink.report(Rule::CompatibilityTooLong, node.span, message);
    }
}

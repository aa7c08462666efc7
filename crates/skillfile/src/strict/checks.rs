//! The checks of the reference validator on a parsed file, and the YAML features that strictyaml rejects.

use unicode_normalization::UnicodeNormalization;

use crate::diagnostic::Sink;
use crate::fields::OPEN;
use crate::python;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::{Kind, Mapping, Node, Style};

const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// Applies all checks of the reference on keys and values.
pub(super) fn fields(map: &Mapping, folder: &str, sink: &mut Sink) {
    check_keys(map, sink);
    check_name(map, folder, sink);
    check_description(map, sink);
    check_compatibility(map, sink);
}

/// Returns the text of a value. `None` for a plain `=` or `<<`, because YAML 1.1 has a type for each and
/// strictyaml does not support them.
pub(super) fn text(node: &Node) -> Option<&str> {
    let scalar = node.as_scalar()?;
    let is_special = scalar.style == Style::Plain && matches!(scalar.text.as_str(), "=" | "<<");
    (!is_special).then_some(&scalar.text)
}

/// Reports values that are not in block style, or not allowed in it.
pub(super) fn style(node: &Node, sink: &mut Sink) {
    style_within(node, false, sink);
}

/// Inside a flow collection everything is in flow style, so only the outermost one is reported.
fn style_within(node: &Node, in_flow: bool, sink: &mut Sink) {
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
            check_flow(*flow && !in_flow, node.span, "list", sink);
            let inner = in_flow || *flow;
            items
                .iter()
                .for_each(|item| style_within(item, inner, sink));
        }
        Kind::Mapping(mapping) => {
            check_flow(mapping.flow && !in_flow, node.span, "mapping", sink);
            let inner = in_flow || mapping.flow;
            for entry in mapping.duplicates() {
                let message = format!("`{}` is given twice", entry.key);
                sink.report(Rule::DuplicateKey, entry.key_span, message)
                    .help("keep one of them");
            }
            mapping
                .entries
                .iter()
                .for_each(|entry| style_within(&entry.value, inner, sink));
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
        sink.report(Rule::MissingName, Span::NONE, "`name` is missing")
            .help(format!("add `name: {folder}`"));
        return;
    };
    let span = entry.value.span;
    let written = text(&entry.value).map(python::strip);
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
        .help("the open format requires both to be equal; rename one of them");
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
    } else if !name.split('-').all(is_word) {
        "has characters other than letters, digits and hyphens"
    } else {
        return None;
    };
    Some((format!("the name `{name}` {problem}"), HELP))
}

/// A part between two hyphens may be empty: repeated hyphens have been reported already.
fn is_word(part: &str) -> bool {
    part.is_empty() || python::is_alphanumeric(part)
}

fn check_description(map: &Mapping, sink: &mut Sink) {
    let Some(entry) = map.entry("description") else {
        sink.report(
            Rule::MissingDescription,
            Span::NONE,
            "`description` is missing",
        )
        .help("add a line that says what the skill does and when to use it");
        return;
    };
    let filled = |text: &&str| !python::strip(text).is_empty();
    let Some(text) = text(&entry.value).filter(filled) else {
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
    let Some(text) = text(node) else {
        let message = format!("`compatibility` takes text, not {}", node.describe());
        sink.report(Rule::WrongType, node.span, message);
        return;
    };
    let length = text.chars().count();
    if length > MAX_COMPATIBILITY {
        let message = format!("the note has {length} characters, {MAX_COMPATIBILITY} are allowed");
        sink.report(Rule::CompatibilityTooLong, node.span, message);
    }
}

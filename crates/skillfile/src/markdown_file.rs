//! The two parts of a Markdown file, shared by all dialects with frontmatter: the frontmatter as a tree, and
//! the page below it.
//!
//! Not here: the meaning of the keys.

use deft_model::{Object, Text};

use crate::diagnostic::Sink;
use crate::fields::is_known_key;
use crate::frontmatter::{self, MissingFence, Split};
use crate::rules::Rule;
use crate::source::{self, Source};
use crate::span::Span;
use crate::syntax;
use crate::yaml::{self, Mapping, Node};

/// Returns the parts of the file; reports missing frontmatter.
pub(crate) fn split(source: &Source<'_>, sink: &mut Sink) -> Option<Split> {
    match frontmatter::split(source.file, source.start) {
        Ok(split) => Some(split),
        Err(MissingFence::Opening) => {
            let span = Span::new(source.start, source.start);
            sink.report(
                Rule::MissingFrontmatter,
                span,
                "the file does not start with `---`",
            )
            .help("start with `---`, then `name: …` and `description: …`, then `---`");
            None
        }
        Err(MissingFence::Closing) => {
            let span = Span::new(source.start, source.start + 3);
            sink.report(
                Rule::UnclosedFrontmatter,
                span,
                "no `---` line closes the frontmatter",
            )
            .help("add a line `---` after the last key");
            None
        }
    }
}

/// Returns the frontmatter as a tree, and whether it was parsed without repairs. If only the reference parser
/// succeeds, its result `readable` is used.
pub(crate) fn tree(
    file: &str,
    split: Split,
    readable: Option<&Node>,
    sink: &mut Sink,
) -> Option<(Node, bool)> {
    let text = &file[split.yaml.start()..split.yaml.end()];
    match yaml::parse(text, split.yaml.start()) {
        Ok(Some(root)) => Some((root, true)),
        Ok(None) => {
            sink.report(Rule::NotAMapping, split.yaml, "the frontmatter is empty")
                .help("write keys and values, `name: …` and `description: …`");
            None
        }
        Err(problem) => {
            if let Some(root) = readable {
                return Some((root.clone(), true));
            }
            match yaml::repair(text, split.yaml.start(), is_known_key) {
                Ok((root, repaired)) => {
                    repaired.iter().for_each(|one| report_repaired(one, sink));
                    Some((root, false))
                }
                Err(beyond) => {
                    syntax::report_beyond(text, split.yaml.start(), (problem, beyond), sink);
                    None
                }
            }
        }
    }
}

fn report_repaired(one: &yaml::RepairedValue, sink: &mut Sink) {
    if one.unclosed {
        let quote = Span::new(one.span.start(), one.span.start() + 1);
        let message = format!(
            "the quote is not closed; the value of `{}` is read without it",
            one.key
        );
        sink.report(Rule::RepairedYaml, quote, message)
            .help("close the quote");
        return;
    }
    let message = format!(
        "the value of `{}` is not YAML; it is read as plain text",
        one.key
    );
    sink.report(Rule::RepairedYaml, one.span, message)
        .help("put it in quotes");
}

/// Returns the frontmatter of a Markdown file as JSON, with its keys and types as written; `None` if it is
/// not valid YAML.
pub fn frontmatter(bytes: &[u8]) -> Option<Object> {
    let mut sink = Sink::default();
    let source = source::decode(bytes, &mut sink)?;
    let split = split(&source, &mut sink)?;
    let text = &source.file[split.yaml.start()..split.yaml.end()];
    let root = yaml::parse(text, split.yaml.start()).ok()??;
    root.as_mapping().map(Mapping::to_object)
}

/// Returns the frontmatter as a tree; reports repairs.
pub(crate) fn repaired_tree(file: &str, split: Split, sink: &mut Sink) -> Option<Node> {
    tree(file, split, None, sink).map(|(root, _)| root)
}

/// Strips the blank lines at the start of a page.
pub(crate) fn trim_page_start(text: &str) -> &str {
    text.trim_start_matches(['\n', '\r'])
}

/// Returns the page below the frontmatter, without surrounding blank lines.
pub(crate) fn page(text: &str) -> Text {
    Text::from(trim_page_start(text).trim_end())
}

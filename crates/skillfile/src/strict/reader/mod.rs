//! Parser for frontmatter that behaves like the reference validator, including its quirks.
//!
//! The reference uses strictyaml 1.7.3 and thereby ruamel.yaml, which differ from YAML 1.2 in many small
//! ways: a tab starts no token, a quoted text may continue in the first column, a comment needs no space
//! before it, and more. Therefore this parser follows ruamel's scanner step by step, without the parts that
//! strictyaml forbids: flow style, anchors and tags. Rules over the events of `granit-parser` cannot replace
//! it; ARCHITECTURE.md ("Why our own") lists what they got wrong. Not here: checks of names and keys.

mod block;
mod compose;
mod cursor;
mod pairs;
mod plain;
mod quoted;
mod scan;

use crate::diagnostic::Diagnostic;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::Node;

/// The result of a parsing step. The first problem ends parsing, as in the reference.
type ReadResult<T> = Result<T, Diagnostic>;

/// Parses one frontmatter. `offset` is the start of `text` in its file, so that all spans refer to the file.
/// Returns `None` if there are only comments.
pub(crate) fn read(text: &str, offset: usize) -> ReadResult<Option<Node>> {
    let cursor = cursor::Cursor::new(text, offset)?;
    compose::compose(scan::scan(cursor)?)
}

fn problem(rule: Rule, span: Span, message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic {
        span,
        ..Diagnostic::new(rule, message).with_help(help)
    }
}

fn syntax(span: Span, message: impl Into<String>, help: &str) -> Diagnostic {
    problem(Rule::YamlSyntax, span, message, help)
}

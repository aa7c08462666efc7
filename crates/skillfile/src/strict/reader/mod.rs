//! Frontmatter as the reference validator reads it, quirks included.
//!
//! The reference reads with strictyaml 1.7.3 and thereby with ruamel.yaml,
//! which differ from YAML 1.2 in many small ways: a tab starts no token, a
//! quoted text may go on in the first column, a comment needs no space before
//! it, and more. Hence this reader follows ruamel's scanner step by step,
//! without the parts that strictyaml forbids: flow style, anchors and tags.
//! Rules over the events of `granit-parser` cannot replace it: ARCHITECTURE.md
//! ("Why our own") says what they got wrong.
//! It does not judge names or keys.

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

/// What a step of reading gives; the first problem ends it, as it does there.
type ReadResult<T> = Result<T, Diagnostic>;

/// Reads one frontmatter. `offset` is where `text` starts in its file, so that
/// all places are places in the file. Nothing but comments is `None`.
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

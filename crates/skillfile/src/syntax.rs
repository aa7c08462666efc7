//! Reports about text that is not YAML.

use crate::diagnostic::Sink;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::{self, RepairError, conflict_marker, tab_indent, unclosed_quote};

/// Reports why `text`, which starts at `offset` of its file, is not YAML. The most common mistakes have
/// specific messages.
pub(crate) fn report(text: &str, offset: usize, problem: yaml::Error, sink: &mut Sink) {
    if let Some(range) = conflict_marker(text) {
        let span = Span::new(offset + range.start, offset + range.end);
        sink.report(
            Rule::YamlSyntax,
            span,
            "the file contains merge conflict markers",
        )
        .help("keep one side and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`");
        return;
    }
    if let Some(range) = tab_indent(text) {
        let span = Span::new(offset + range.start, offset + range.end);
        sink.report(Rule::YamlSyntax, span, "a tab is used for indentation")
            .help("use spaces");
        return;
    }
    let at = problem.span.start().saturating_sub(offset);
    let braces = text.get(..at).is_some_and(|before| before.ends_with('{'))
        && text.get(at..).is_some_and(|rest| rest.starts_with('{'));
    if braces {
        let span = Span::new(problem.span.start() - 1, problem.span.end());
        let message = "a template without quotes is a mapping in YAML";
        sink.report(Rule::YamlSyntax, span, message)
            .help("put it in quotes: `\"{{ … }}\"`");
        return;
    }
    if let Some(at) = unclosed_quote(text) {
        let span = Span::new(offset + at, offset + at + 1);
        sink.report(Rule::YamlSyntax, span, "the quote is not closed")
            .help("close the quote");
        return;
    }
    let line = line_at(text, at);
    let found = sink.report(Rule::YamlSyntax, problem.span, problem.message);
    if line.trim_start_matches([' ', '-']).starts_with("compute:") {
        found.help("write `compute: |` and the code on the next lines");
    }
}

/// Returns the line that contains a position.
fn line_at(text: &str, at: usize) -> &str {
    let at = text.floor_char_boundary(at.min(text.len()));
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// Reports why a frontmatter is not YAML and could not be repaired.
pub(crate) fn report_beyond(
    text: &str,
    offset: usize,
    (problem, beyond): (yaml::Error, RepairError),
    sink: &mut Sink,
) {
    match beyond {
        RepairError::Syntax => report(text, offset, problem, sink),
        RepairError::Swallowed { key, above, span } => {
            let message = format!("`{key}` is part of the value of `{above}`");
            sink.report(Rule::YamlSyntax, span, message)
                .help("check the indentation: keys of one mapping start in the same column");
        }
    }
}

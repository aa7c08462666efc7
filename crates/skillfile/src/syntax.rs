//! Says what is wrong with text that is not YAML.

use crate::diagnostic::Sink;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::{self, conflict_marker};

/// Reports why `text`, which starts at `offset` of its file, is not YAML. What
/// people do most often gets words of its own.
pub(crate) fn report(text: &str, offset: usize, problem: yaml::Error, sink: &mut Sink) {
    if let Some(range) = conflict_marker(text) {
        let span = Span::new(offset + range.start, offset + range.end);
        sink.report(Rule::YamlSyntax, span, "the file holds an unfinished merge")
            .help("keep one side and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`");
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
    sink.report(Rule::YamlSyntax, problem.span, problem.message);
}

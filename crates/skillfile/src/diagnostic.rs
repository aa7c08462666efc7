//! Diagnostics of a file, with spans.

use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;

/// One problem in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The violated rule.
    pub rule: Rule,
    /// The severity in this case.
    pub severity: Severity,
    /// The problem: lower case, values in backticks, no full stop.
    pub message: String,
    /// The position of the problem.
    pub span: Span,
    /// What to do about the problem.
    pub help: Option<String>,
    /// The required key that is missing. It has no position, so `span` is that of another key of its mapping.
    pub missing: Option<&'static str>,
}

/// Collects the diagnostics of one file.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    found: Vec<Diagnostic>,
}

impl Sink {
    /// Reports a problem with the default severity of its rule.
    pub(crate) fn report(
        &mut self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.report_as(rule.severity(), rule, span, message)
    }

    /// Reports a problem with a severity that depends on the context.
    pub(crate) fn report_as(
        &mut self,
        severity: Severity,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let at = self.found.len();
        self.found.push(Diagnostic {
            rule,
            severity,
            message: message.into(),
            span,
            help: None,
            missing: None,
        });
        &mut self.found[at]
    }

    /// Whether this rule was reported at this span.
    pub(crate) fn has(&self, rule: Rule, span: Span) -> bool {
        self.found
            .iter()
            .any(|one| one.rule == rule && one.span == span)
    }

    /// Raises all diagnostics of a rule to errors.
    pub(crate) fn escalate(&mut self, rule: Rule) {
        let same = self.found.iter_mut().filter(|one| one.rule == rule);
        same.for_each(|one| one.severity = Severity::Error);
    }

    /// Returns the diagnostics in file order.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|found| (found.span, found.rule));
        // Advice is for working files; next to errors it only distracts.
        if has_errors(&self.found) {
            self.found.retain(|found| !found.rule.is_advice());
        }
        // Two checks may report the same invalid template.
        self.found.dedup();
        self.found
    }
}

impl Diagnostic {
    /// Creates a diagnostic of a whole file or folder.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            message: message.into(),
            span: Span::NONE,
            help: None,
            missing: None,
        }
    }

    /// Sets the help text.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the help text.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }

    /// Sets the help text, if there is one.
    pub(crate) fn maybe_help(&mut self, help: Option<String>) {
        self.help = help;
    }
}

/// Returns whether any of the diagnostics keeps the file from loading.
pub fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|one| one.severity == Severity::Error)
}

//! What is wrong with a file, and where.

use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;

/// One problem in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which rule is broken.
    pub rule: Rule,
    /// How much it matters here.
    pub severity: Severity,
    /// What is wrong: lower case, values in backticks, no full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do about it.
    pub help: Option<String>,
}

/// Collects the problems of one file.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    found: Vec<Diagnostic>,
}

impl Sink {
    /// Reports a problem with the severity its rule usually has.
    pub(crate) fn report(
        &mut self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.report_as(rule.severity(), rule, span, message)
    }

    /// Reports a problem with a severity that fits the place.
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
        });
        &mut self.found[at]
    }

    /// Whether this rule was reported at this place.
    pub(crate) fn has(&self, rule: Rule, span: Span) -> bool {
        self.found
            .iter()
            .any(|one| one.rule == rule && one.span == span)
    }

    /// Makes an error of what was forgiven.
    pub(crate) fn escalate(&mut self, rule: Rule) {
        let same = self.found.iter_mut().filter(|one| one.rule == rule);
        same.for_each(|one| one.severity = Severity::Error);
    }

    /// The problems in the order of the file.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|found| (found.span, found.rule));
        // Advice is for what works; beside errors it only hides them.
        if has_errors(&self.found) {
            self.found.retain(|found| !found.rule.is_advice());
        }
        // Two checks may meet the same broken template.
        self.found.dedup();
        self.found
    }
}

impl Diagnostic {
    /// A problem of a whole file or folder.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            message: message.into(),
            span: Span::NONE,
            help: None,
        }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do about it.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }

    /// Adds a remedy, if there is one.
    pub(crate) fn maybe_help(&mut self, help: Option<String>) {
        self.help = help;
    }
}

/// Whether one of the problems keeps a file from loading.
pub fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|one| one.severity == Severity::Error)
}

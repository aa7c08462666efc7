//! Problems in files, with lines and columns.

use std::ops::Range;
use std::path::{Path, PathBuf};

use deft_model::Object;
use deft_registry::{MAX_FILE_BYTES, read_regular};
use deft_skillfile::{Diagnostic, Lines, Rule};
use deft_wire::diagnostic::{DiagnosticView, Severity, ValidatedFile};

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule that is broken.
    pub rule: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The place; `None` for a problem of the whole file.
    pub place: Option<Place>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The byte range.
    pub bytes: Range<usize>,
    /// The first line, from 1.
    pub line: usize,
    /// The first column, from 1.
    pub column: usize,
    /// The last line.
    pub end_line: usize,
    /// The column after the end.
    pub end_column: usize,
}

/// A rule for skill files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The stable id.
    pub id: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// The usual severity.
    pub severity: Severity,
}

/// All rules for skill files.
pub fn rules() -> Vec<RuleInfo> {
    let rules = Rule::ALL.iter().map(|rule| RuleInfo {
        id: rule.id(),
        summary: rule.summary(),
        severity: severity(rule.severity()),
    });
    rules.collect()
}

impl Finding {
    /// Converts the problem for output as JSON.
    pub fn view(&self) -> DiagnosticView {
        let place = self.place.as_ref();
        DiagnosticView {
            rule: self.rule.to_owned(),
            severity: self.severity,
            message: self.message.clone(),
            line: place.map_or(1, |place| place.line),
            column: place.map_or(1, |place| place.column),
            end_line: place.map(|place| place.end_line),
            end_column: place.map(|place| place.end_column),
            help: self.help.clone(),
        }
    }
}

/// A checked file.
#[derive(Clone, Debug)]
pub struct CheckedFile {
    /// The path as it was given.
    pub shown: String,
    /// The path to read it from.
    pub path: PathBuf,
    /// The dialect, as far as its name determines it.
    pub dialect: &'static str,
    /// The problems.
    pub findings: Vec<Finding>,
    /// The frontmatter, for the profile of the open format.
    pub properties: Option<Object>,
}

impl CheckedFile {
    /// Whether it has no errors.
    pub fn is_ok(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// Reads the text that places refer to.
    pub fn text(&self) -> String {
        read_text(&self.path)
    }

    /// Returns the number of problems with this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|one| one.severity == severity).count()
    }

    /// Converts the file for output as JSON.
    pub fn view(&self) -> ValidatedFile {
        ValidatedFile {
            path: self.shown.clone(),
            dialect: self.dialect.to_owned(),
            ok: self.is_ok(),
            diagnostics: self.findings.iter().map(Finding::view).collect(),
            properties: self.properties.clone(),
        }
    }
}

/// Reads a file for excerpts and places; empty if it cannot be read.
pub fn read_text(path: &Path) -> String {
    let bytes = read_regular(path, MAX_FILE_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Adds lines and columns to the problems of a file.
pub(super) fn locate<'a>(
    path: &Path,
    found: impl IntoIterator<Item = &'a Diagnostic>,
) -> Vec<Finding> {
    let mut found = found.into_iter().peekable();
    if found.peek().is_none() {
        return Vec::new();
    }
    locate_in(&read_text(path), found)
}

/// Adds lines and columns to the problems of a text.
pub(super) fn locate_in<'a>(
    text: &str,
    found: impl IntoIterator<Item = &'a Diagnostic>,
) -> Vec<Finding> {
    let lines = Lines::new(text);
    found.into_iter().map(|one| finding(one, &lines)).collect()
}

fn finding(found: &Diagnostic, lines: &Lines<'_>) -> Finding {
    Finding {
        rule: found.rule.id(),
        severity: severity(found.severity),
        message: found.message.clone(),
        help: found.help.clone(),
        place: found.span.range().map(|bytes| {
            let (line, column) = lines.position(bytes.start);
            let (end_line, end_column) = lines.position(bytes.end);
            Place {
                bytes,
                line,
                column,
                end_line,
                end_column,
            }
        }),
    }
}

fn severity(severity: deft_skillfile::Severity) -> Severity {
    match severity {
        deft_skillfile::Severity::Hint => Severity::Hint,
        deft_skillfile::Severity::Warning => Severity::Warning,
        deft_skillfile::Severity::Error => Severity::Error,
    }
}

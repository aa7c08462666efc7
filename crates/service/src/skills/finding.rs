//! Problems in files, with their places in lines and columns.

use std::ops::Range;
use std::path::{Path, PathBuf};

use deft_model::Object;
use deft_registry::{MAX_FILE_BYTES, read_regular};
use deft_skillfile::{Diagnostic, Lines, Rule};
use deft_wire::diagnostic::{DiagnosticView, Severity, ValidatedFile};

/// One problem in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// Where it is; a problem of a whole file has no place.
    pub place: Option<Place>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In bytes.
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
    /// Its stable id.
    pub id: &'static str,
    /// The rule in a line.
    pub summary: &'static str,
    /// How bad breaking it usually is.
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
    /// The problem as programs see it.
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

/// A file that was checked.
#[derive(Clone, Debug)]
pub struct CheckedFile {
    /// The path as it was given.
    pub shown: String,
    /// Where to read it from.
    pub path: PathBuf,
    /// How it is written, as far as its name tells.
    pub dialect: &'static str,
    /// Its problems.
    pub findings: Vec<Finding>,
    /// The frontmatter, for the profile of the open format.
    pub properties: Option<Object>,
}

impl CheckedFile {
    /// Whether it has no error.
    pub fn is_ok(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// The text that places refer to.
    pub fn text(&self) -> String {
        read_text(&self.path)
    }

    /// The number of problems of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|one| one.severity == severity).count()
    }

    /// The file as programs see it.
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

/// The text of a file for excerpts and places; empty if it cannot be read.
pub fn read_text(path: &Path) -> String {
    let bytes = read_regular(path, MAX_FILE_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Adds places in lines and columns to the problems of a file.
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

/// The same for a text.
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

//! What was found in files, for people and for programs.

mod github;
mod json;
mod sarif;
mod text;

use std::path::{Path, PathBuf};

use deft_registry::{MAX_FILE_BYTES, read_regular};
use deft_skillfile::{Diagnostic, Lines, Properties, Severity, has_errors};

use crate::args::Format;
use crate::failure::Done;
use crate::output::Output;

pub(crate) use json::diagnostic;
pub(crate) use text::excerpts;

/// A file that was checked.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The path as it was given.
    pub shown: String,
    /// Where to read it from.
    pub path: PathBuf,
    /// How it is written, as far as its name tells.
    pub dialect: &'static str,
    pub diagnostics: Vec<Diagnostic>,
    pub properties: Option<Properties>,
}

impl Checked {
    pub(crate) fn is_ok(&self) -> bool {
        !has_errors(&self.diagnostics)
    }

    /// The text that places refer to; what cannot be read has no places.
    pub(crate) fn text(&self) -> String {
        text_of(&self.path)
    }

    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|one| one.severity == severity)
            .count()
    }
}

/// The text of a file for excerpts; nothing when it cannot be had.
pub(crate) fn text_of(path: &Path) -> String {
    let bytes = read_regular(path, MAX_FILE_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A place in lines and columns, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

impl Region {
    /// The region of a diagnostic; problems of a whole file have none.
    pub(crate) fn of(found: &Diagnostic, lines: &Lines<'_>) -> Option<Self> {
        let range = found.span.range()?;
        let (line, column) = lines.position(range.start);
        let (end_line, end_column) = lines.position(range.end);
        Some(Self {
            line,
            column,
            end_line,
            end_column,
        })
    }
}

/// Prints what was found.
pub(crate) fn print(files: Vec<Checked>, format: Format, output: &Output) -> Done<()> {
    match format {
        Format::Json => output.document(&json::report(files)),
        Format::Sarif => output.document(&sarif::report(&files)),
        Format::Github => match github::report(&files) {
            report if report.is_empty() => Ok(()),
            report => output.data(&report),
        },
        Format::Text => text::print(&files, output),
    }
}

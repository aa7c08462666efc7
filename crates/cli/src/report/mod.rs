//! Reports of problems in skill files, for people and for programs.

mod github;
mod sarif;
mod text;

use deft_service::skills::CheckedFile;
use deft_wire::diagnostic::ValidationReport;

use crate::args::Format;
use crate::failure::Done;
use crate::output::Output;

pub(crate) use text::excerpts;

/// Prints the problems of `files` in `format`.
pub(crate) fn print(files: &[CheckedFile], format: Format, output: &Output) -> Done<()> {
    match format {
        Format::Json => output.document(&ValidationReport {
            ok: files.iter().all(CheckedFile::is_ok),
            files: files.iter().map(CheckedFile::view).collect(),
        }),
        Format::Sarif => output.document(&sarif::report(files)),
        Format::Github => match github::report(files) {
            report if report.is_empty() => Ok(()),
            report => output.data(&report),
        },
        Format::Text => text::print(files, output),
    }
}

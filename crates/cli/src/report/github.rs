//! Annotations of a GitHub workflow.

use deft_service::skills::{CheckedFile, Finding};
use deft_wire::diagnostic::Severity;

pub(super) fn report(files: &[CheckedFile]) -> String {
    let mut out = String::new();
    for file in files {
        for found in &file.findings {
            out.push_str(&annotation(file, found));
        }
    }
    out
}

fn annotation(file: &CheckedFile, found: &Finding) -> String {
    let level = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "notice",
    };
    let place = found.place.as_ref();
    let (line, column) = place.map_or((1, 1), |place| (place.line, place.column));
    let help = found
        .help
        .as_ref()
        .map(|help| format!("; {help}"))
        .unwrap_or_default();
    format!(
        "::{level} file={},line={line},col={column},title={}::{}\n",
        property(&file.shown),
        found.rule,
        data(&format!("{}{help}", found.message)),
    )
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

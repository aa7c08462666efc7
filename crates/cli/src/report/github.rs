//! Annotations of a GitHub workflow.

use deft_skillfile::{Diagnostic, Lines, Severity};

use super::{Checked, Region};

pub(super) fn report(files: &[Checked]) -> String {
    let mut out = String::new();
    for file in files.iter().filter(|file| !file.diagnostics.is_empty()) {
        let text = file.text();
        let lines = Lines::new(&text);
        for found in &file.diagnostics {
            out.push_str(&annotation(file, found, &lines));
        }
    }
    out
}

fn annotation(file: &Checked, found: &Diagnostic, lines: &Lines<'_>) -> String {
    let level = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "notice",
    };
    let (line, column) =
        Region::of(found, lines).map_or((1, 1), |region| (region.line, region.column));
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

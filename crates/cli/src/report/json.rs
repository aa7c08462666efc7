//! One JSON document.

use deft_skillfile::{Diagnostic, Lines};
use serde_json::{Value, json};

use super::{Checked, Region};

pub(super) fn report(files: Vec<Checked>) -> Value {
    json!({
        "ok": files.iter().all(Checked::is_ok),
        "files": files.into_iter().map(file).collect::<Vec<_>>(),
    })
}

fn file(file: Checked) -> Value {
    let text = if file.diagnostics.is_empty() {
        String::new()
    } else {
        file.text()
    };
    let lines = Lines::new(&text);
    let mut view = json!({
        "path": file.shown,
        "dialect": file.dialect,
        "ok": file.is_ok(),
        "diagnostics": file.diagnostics.iter().map(|one| diagnostic(one, &lines)).collect::<Vec<_>>(),
    });
    if let Some(properties) = file.properties {
        view["properties"] = Value::Object(properties);
    }
    view
}

/// One problem; a problem of the whole file is at line 1.
pub(crate) fn diagnostic(found: &Diagnostic, lines: &Lines<'_>) -> Value {
    let region = Region::of(found, lines);
    json!({
        "rule": found.rule.id(),
        "severity": found.severity.word(),
        "message": found.message,
        "line": region.map_or(1, |region| region.line),
        "column": region.map_or(1, |region| region.column),
        "end_line": region.map(|region| region.end_line),
        "end_column": region.map(|region| region.end_column),
        "help": found.help,
    })
}

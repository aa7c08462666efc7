//! SARIF 2.1.0, for code scanning.

use deft_skillfile::{Diagnostic, Lines, Rule, Severity};
use serde_json::{Value, json};

use super::{Checked, Region};

pub(super) fn report(files: &[Checked]) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "deft",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.iter().map(|rule| rule_view(*rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": files.iter().flat_map(results).collect::<Vec<_>>(),
        }],
    })
}

fn rule_view(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.summary()},
        "defaultConfiguration": {"level": level(rule.severity())},
    })
}

fn results(file: &Checked) -> Vec<Value> {
    let text = if file.diagnostics.is_empty() {
        String::new()
    } else {
        file.text()
    };
    let lines = Lines::new(&text);
    file.diagnostics
        .iter()
        .map(|found| result(file, found, &lines))
        .collect()
}

fn result(file: &Checked, found: &Diagnostic, lines: &Lines<'_>) -> Value {
    let help = found
        .help
        .as_ref()
        .map(|help| format!("\n{help}"))
        .unwrap_or_default();
    let mut location = json!({"artifactLocation": {"uri": uri(&file.shown)}});
    if let Some(region) = Region::of(found, lines) {
        location["region"] = json!({
            "startLine": region.line,
            "startColumn": region.column,
            "endLine": region.end_line,
            "endColumn": region.end_column,
        });
    }
    json!({
        "ruleId": found.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == found.rule),
        "level": level(found.severity),
        "message": {"text": format!("{}{help}", found.message)},
        "locations": [{"physicalLocation": location}],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "note",
    }
}

/// A path as a relative reference: everything but the usual characters is
/// written in hexadecimal.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~+".contains(&byte);
    let mut out = String::new();
    for byte in path.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

//! SARIF 2.1.0, for code scanning.

use deft_service::skills::{CheckedFile, Finding, Place, RuleInfo, rules};
use deft_wire::diagnostic::Severity;
use deft_wire::sarif::{
    ArtifactLocation, Configuration, Driver, Level, Location, Log, Message, PhysicalLocation,
    Region, Rule, Run, SarifResult, Tool,
};

pub(super) fn report(files: &[CheckedFile]) -> Log {
    let rules = rules();
    let results = files.iter().flat_map(|file| {
        let found = file.findings.iter();
        found.map(|found| result(file, found, &rules))
    });
    Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json".to_owned(),
        version: "2.1.0".to_owned(),
        runs: vec![Run {
            results: results.collect(),
            tool: Tool {
                driver: Driver {
                    name: "deft".to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    rules: rules.iter().map(rule).collect(),
                },
            },
            column_kind: "unicodeCodePoints".to_owned(),
        }],
    }
}

fn rule(rule: &RuleInfo) -> Rule {
    Rule {
        id: rule.id.to_owned(),
        short_description: Message {
            text: rule.summary.to_owned(),
        },
        default_configuration: Configuration {
            level: level(rule.severity),
        },
    }
}

fn result(file: &CheckedFile, found: &Finding, rules: &[RuleInfo]) -> SarifResult {
    let help = found
        .help
        .as_ref()
        .map(|help| format!("\n{help}"))
        .unwrap_or_default();
    SarifResult {
        rule_id: found.rule.to_owned(),
        rule_index: rules.iter().position(|rule| rule.id == found.rule),
        level: level(found.severity),
        message: Message {
            text: format!("{}{help}", found.message),
        },
        locations: vec![Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation {
                    uri: uri(&file.shown),
                },
                region: found.place.as_ref().map(region),
            },
        }],
    }
}

fn region(place: &Place) -> Region {
    Region {
        start_line: place.line,
        start_column: place.column,
        end_line: place.end_line,
        end_column: place.end_column,
    }
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Hint => Level::Note,
    }
}

/// Percent-encodes a path as a relative URI reference.
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

//! What the tests share.

use std::path::{Path, PathBuf};

use deft_skillfile::{Lines, Moment, Parsed, Place, Profile, Severity, parse};
use jiff::tz::TimeZone;

/// A fixed present, so that no verdict depends on the day of the test.
pub(crate) fn moment() -> Moment {
    Moment {
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
        zone: TimeZone::get("Europe/Berlin").unwrap(),
    }
}

/// Parses a file as if it lay at `path`, relative to a skills root.
pub(crate) fn parse_at(path: &str, bytes: &[u8], profile: Profile) -> Parsed {
    let parts: Vec<&str> = path.split('/').collect();
    let place = Place {
        file: parts[parts.len() - 1],
        folder: if parts.len() > 1 {
            parts[parts.len() - 2]
        } else {
            "skills"
        },
        domain: (parts.len() > 1).then(|| parts[0]),
    };
    parse(bytes, &place, profile, &moment())
}

/// The diagnostics as lines of `line:column severity rule: message`.
pub(crate) fn report(text: &str, parsed: &Parsed) -> String {
    let lines = Lines::new(text);
    let mut out = String::new();
    for found in &parsed.diagnostics {
        let place = match found.span.range() {
            Some(range) => {
                let (line, column) = lines.position(range.start);
                let marked = text.get(range).unwrap_or("<out of bounds>");
                let marked: String = marked
                    .lines()
                    .next()
                    .unwrap_or("")
                    .chars()
                    .take(60)
                    .collect();
                format!("{line}:{column} «{marked}»")
            }
            None => "-".to_owned(),
        };
        let word = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "hint",
        };
        out += &format!("{place} {word} {}: {}\n", found.rule, found.message);
        if let Some(help) = &found.help {
            out += &format!("    help: {help}\n");
        }
    }
    out
}

/// The shared corpus, if this checkout has one beside it.
pub(crate) fn corpus() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/agentskills");
    root.exists().then_some(root)
}

//! Helpers shared by the tests.

use std::path::{Path, PathBuf};

use deft_skillfile::{FileLocation, Lines, Moment, ParsedFile, Profile, Severity, parse};
use jiff::tz::TimeZone;

use crate::cases::Case;

/// A fixed current time, so that results do not depend on the day of the test.
pub(crate) fn moment() -> Moment {
    Moment {
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
        zone: TimeZone::get("Europe/Berlin").unwrap(),
    }
}

/// Parses a file as if it were at `path`, relative to a skills root.
pub(crate) fn parse_at(path: &str, bytes: &[u8], profile: Profile) -> ParsedFile {
    let parts: Vec<&str> = path.split('/').collect();
    let location = FileLocation {
        file: parts[parts.len() - 1],
        folder: if parts.len() > 1 {
            parts[parts.len() - 2]
        } else {
            "skills"
        },
        domain: (parts.len() > 1).then(|| parts[0]),
    };
    parse(bytes, &location, profile, &moment())
}

/// Renders the diagnostics as lines of `line:column severity rule: message`.
pub(crate) fn report(text: &str, parsed: &ParsedFile) -> String {
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

/// Returns all case files, with their paths.
pub(crate) fn cases() -> Vec<(PathBuf, Case)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut open = vec![root];
    let mut cases = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "case") {
                let case = Case::read(&path);
                cases.push((path, case));
            }
        }
    }
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases
}

/// Returns the headings of a page that consist of `#` lines outside of code.
pub(crate) fn sections(page: &str) -> Vec<deft_model::Section> {
    let mut sections: Vec<deft_model::Section> = Vec::new();
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        let marks = line.chars().take_while(|c| *c == '#').count();
        if marks > 0 {
            if let Some(last) = sections.last_mut() {
                last.end = at;
            }
            sections.push(deft_model::Section {
                title: line[marks..].trim().to_owned(),
                level: u8::try_from(marks).unwrap(),
                start: at,
                body: at + line.len(),
                end: page.len(),
            });
        }
        at += line.len();
    }
    sections
}

//! Generates parts of documents from the code, or checks that they are current.

use deft_skillfile::{
    FileLocation, Moment, ParsedFile, Profile, Rule, Severity, agent_reference, field_reference,
    parse,
};

use crate::support::{read, root};

/// Compares the part of a document between the markers, or replaces it with `UPDATE=1`.
fn check(path: &str, generated: &str) {
    let text = read(path);
    let (start, end) = ("<!-- generated: start -->\n", "<!-- generated: end -->");
    let (before, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("{path} has no start marker"));
    let (old, after) = rest
        .split_once(end)
        .unwrap_or_else(|| panic!("{path} has no end marker"));
    if std::env::var_os("UPDATE").is_some() {
        let new = format!("{before}{start}{generated}{end}{after}");
        std::fs::write(root().join(path), new).expect("the document can be written");
        return;
    }
    assert!(
        old == generated,
        "{path} is out of date: run `UPDATE=1 cargo test -p xtask`"
    );
}

#[test]
fn the_field_reference_is_current() {
    check("docs/skill-format.md", &format!("\n{}", field_reference()));
}

#[test]
fn the_agent_reference_is_current() {
    check("docs/agents.md", &format!("\n{}", agent_reference()));
}

#[test]
fn the_rule_reference_is_current() {
    let mut out = String::from("\n| rule | usually | what it asks for |\n| --- | --- | --- |\n");
    for rule in Rule::ALL {
        out.push_str(&format!(
            "| `{rule}` | {} | {} |\n",
            rule.severity().word(),
            rule.summary()
        ));
    }
    out.push('\n');
    check("docs/rules.md", &out);
}

/// Parses a skill file from a document. `path` is `folder/file`, or `file` in the skills folder.
pub(crate) fn parse_example(path: &str, text: &str) -> ParsedFile {
    let moment = Moment {
        now: "2026-11-15T12:00:00Z".parse().expect("a timestamp"),
        zone: jiff::tz::TimeZone::UTC,
    };
    let (folder, file) = path.rsplit_once('/').unwrap_or(("skills", path));
    let domain = path.contains('/').then_some(folder);
    let location = FileLocation {
        file,
        folder,
        domain,
    };
    parse(text.as_bytes(), &location, Profile::Deft, &moment)
}

/// Every example of the format page loads without problems.
#[test]
fn the_examples_load() {
    let page = read("docs/skill-format.md");
    let mut count = 0;
    for fence in page.split("\n```").skip(1).step_by(2) {
        let (info, body) = fence
            .split_once('\n')
            .expect("a line break behind the fence");
        let Some((_, path)) = info.split_once("skill=") else {
            continue;
        };
        let parsed = parse_example(path, &format!("{body}\n"));
        let real: Vec<_> = parsed
            .diagnostics
            .iter()
            .filter(|one| one.severity > Severity::Hint)
            .collect();
        assert!(
            parsed.document.is_some(),
            "{path}: {:#?}",
            parsed.diagnostics
        );
        assert!(real.is_empty(), "{path}: {real:#?}");
        count += 1;
    }
    assert_eq!(count, 6, "examples were added or lost");
}

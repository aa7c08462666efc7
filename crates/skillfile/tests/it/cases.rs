//! Case files: every file below `tests/cases` is a skill file, and its snapshot is the expected result. A new
//! case is a new file.
//!
//! A case starts with a header: `path: email/send.md`, and optionally `ids: …` and `profile: agentskills`.
//! The bytes of the file follow after the line `=====`.

use std::fmt::Write as _;
use std::path::Path;

use deft_model::{Choice, StepType};
use deft_skillfile::{ParsedFile, Profile, has_errors};

use crate::support::{parse_at, report};
use crate::{dump, support};

/// A parsed case file.
pub(crate) struct Case {
    pub path: String,
    pub profile: Profile,
    pub bytes: Vec<u8>,
}

impl Case {
    /// Reads a case file.
    pub(crate) fn read(path: &Path) -> Self {
        const LINE: &[u8] = b"=====\n";
        let file = std::fs::read(path).unwrap();
        let at = file
            .windows(LINE.len())
            .position(|part| part == LINE)
            .unwrap_or_else(|| panic!("{}: no line of =====", path.display()));
        let head = std::str::from_utf8(&file[..at]).unwrap();
        let value = |key: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim().to_owned())
        };
        let profile = match value("profile:").as_deref() {
            None | Some("deft") => Profile::Deft,
            Some("agentskills") => Profile::AgentSkills,
            Some(other) => panic!("no profile {other}"),
        };
        Self {
            path: value("path:").unwrap(),
            profile,
            bytes: file[at + LINE.len()..].to_vec(),
        }
    }

    /// Parses the skill file of the case.
    pub(crate) fn parse(&self) -> ParsedFile {
        parse_at(&self.path, &self.bytes, self.profile)
    }
}

#[test]
fn cases() {
    insta::glob!("../cases", "**/*.case", |path| {
        let case = Case::read(path);
        let parsed = case.parse();
        let text = String::from_utf8_lossy(&case.bytes);
        let mut out = match &parsed.document {
            Some(document) => dump::document(document),
            None if has_errors(&parsed.diagnostics) => "refused\n".to_owned(),
            None => "nothing to load\n".to_owned(),
        };
        if case.profile == Profile::AgentSkills {
            let properties = parsed.properties.clone().map(serde_json::Value::Object);
            writeln!(out, "properties: {}", properties.unwrap_or_default()).unwrap();
        }
        let found = without_kinds(&report(&text, &parsed));
        if !found.is_empty() {
            out += "\n";
            out += &found;
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(out);
        });
    });
}

/// Removes the list of step kinds from messages, so that a new kind changes no snapshot.
fn without_kinds(report: &str) -> String {
    let kinds: Vec<String> = StepType::WORDS
        .iter()
        .map(|(word, _)| format!("`{word}`"))
        .collect();
    let (last, before) = kinds.split_last().unwrap();
    let listed = format!("{} and {last}", before.join(", "));
    report.replace(&listed, "[kinds of steps]")
}

/// Every rule that this crate can report has a case that violates it.
#[test]
fn every_rule_has_a_case() {
    let reported: std::collections::BTreeSet<String> = support::cases()
        .iter()
        .flat_map(|(_, case)| case.parse().diagnostics)
        .map(|found| found.rule.to_string())
        .collect();
    // Rules that need a scan of folders belong to the registry.
    let elsewhere = [
        "unreadable",
        "too_large",
        "missing_skill_md",
        "nested_too_deep",
        "symlink_loop",
        "too_many_folders",
        "link_outside",
        "special_file",
        "duplicate_id",
        // Rules about tools and other skills are tested in `against.rs`.
        "unknown_tool",
        "tool_argument",
        "unknown_skill",
        "skill_cycle",
    ];
    let missing: Vec<&str> = deft_skillfile::Rule::ALL
        .iter()
        .map(|rule| rule.id())
        .filter(|id| !reported.contains(*id) && !elsewhere.contains(id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

//! Generates `docs/errors`, a page for each code that deft shows: rules of files, codes of commands, failure
//! classes, outcomes, reasons for disabled skills, codes of the command line and exit codes.
//!
//! The codes come from tables in the code, the texts from `xtask/errors/*.md`. Examples of rules are parsed:
//! each must break its rule, and the page shows the message.

use std::collections::{BTreeMap, BTreeSet};

use deft_model::{Choice, DisabledReason, FailureClass, Outcome, ProblemCode};
use deft_skillfile::{Rule, Severity};

use crate::documents::parse_example;
use crate::source::product_sources;
use crate::support::{files_in, read, root};

/// A kind of code: the file with its texts, the heading of its sections, and its codes.
struct Family {
    file: &'static str,
    heading: &'static str,
    codes: Vec<String>,
}

fn families() -> Vec<Family> {
    let family = |file, heading, codes| Family {
        file,
        heading,
        codes,
    };
    let rules = Rule::ALL.iter().map(ToString::to_string).collect();
    let exits = exit_codes();
    let exits = exits.iter().map(|code| format!("exit_{code}")).collect();
    vec![
        family("rules", "Rule of skill files", rules),
        family("commands", "Problem of a command", words::<ProblemCode>()),
        family(
            "classes",
            "Failure class of a step or run",
            words::<FailureClass>(),
        ),
        family("outcomes", "Outcome of a run", words::<Outcome>()),
        family(
            "disabled",
            "Reason of a disabled skill",
            words::<DisabledReason>(),
        ),
        family(
            "cli",
            "Error code of the command line",
            command_line_codes(),
        ),
        family("exits", "Exit code", exits),
    ]
}

/// The exit codes of the binary.
fn exit_codes() -> Vec<u8> {
    let code = |line: &str| {
        line.trim()
            .strip_suffix(',')?
            .split_once(" = ")?
            .1
            .parse()
            .ok()
    };
    let text = read("crates/cli/src/exit.rs");
    text.lines().filter_map(code).collect()
}

fn words<T: Choice>() -> Vec<String> {
    T::WORDS
        .iter()
        .map(|(word, _)| (*word).to_owned())
        .collect()
}

/// Returns the codes in calls such as `Failure::input("code", …)` and in literals of `Failure`, and the codes
/// to which errors of the engine are mapped.
fn command_line_codes() -> Vec<String> {
    let mut found = BTreeSet::new();
    for source in product_sources() {
        let is_home = source.text.contains("struct Failure {");
        for call in ["::input(", "::internal("] {
            for (at, _) in source.code.match_indices(call) {
                let mut before = source.code[..at].rsplit(|c: char| !c.is_alphanumeric());
                let type_name = before.next();
                if type_name == Some("Failure") || is_home && type_name == Some("Self") {
                    found.extend(first_literal(&source.text[at + call.len()..]));
                }
            }
        }
        if source.text.contains("FailureKind::") {
            let fields = source.text.split(" code: ").skip(1);
            found.extend(fields.filter_map(first_literal));
        }
        if source.text.contains("Failure::input(code, ") {
            let lines = source.text.lines();
            let arms = lines.filter(|line| line.trim_start().starts_with("Error::"));
            found.extend(arms.filter_map(|line| first_literal(line.split_once("=> ")?.1)));
        }
    }
    found.into_iter().collect()
}

/// Returns the string literal at the beginning of an argument list if it is a code.
fn first_literal(text: &str) -> Option<String> {
    let rest = text.trim_start().strip_prefix('"')?;
    let word = &rest[..rest.find('"')?];
    let is_code = word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    is_code.then(|| word.to_owned())
}

/// The handwritten text about a code.
struct Entry {
    meaning: String,
    example: String,
    remedy: String,
}

/// Parses the entries of a file: `## code`, a meaning, a fence with an example, a remedy.
fn entries(text: &str) -> BTreeMap<String, Entry> {
    let mut found = BTreeMap::new();
    let mut fence: Option<&str> = None;
    let mut code = None;
    let mut parts: [String; 3] = Default::default();
    let mut part = 0;
    for line in text.lines().chain(["## end"]) {
        if fence.is_none()
            && let Some(next) = line.strip_prefix("## ")
        {
            let [meaning, example, remedy] =
                std::mem::take(&mut parts).map(|part| part.trim().to_owned());
            if let Some(code) = code.replace(next) {
                let entry = Entry {
                    meaning,
                    example,
                    remedy,
                };
                assert!(
                    found.insert(code.to_owned(), entry).is_none(),
                    "`{code}` is there twice"
                );
            }
            part = 0;
            continue;
        }
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks >= 3 && fence.is_none() {
            (fence, part) = (Some(&line[..ticks]), 1);
        }
        parts[part].push_str(&format!("{line}\n"));
        if fence.is_some_and(|open| line == open) && part == 1 && parts[1].lines().count() > 1 {
            (fence, part) = (None, 2);
        }
    }
    found
}

/// Returns an example: for a rule, followed by the message it produces; otherwise unchanged.
fn example(code: &str, family: &str, text: &str) -> String {
    let (head, rest) = text.split_once('\n').unwrap_or_default();
    let Some((language, path)) = head.trim_start_matches('`').split_once(" skill=") else {
        return text.to_owned();
    };
    assert_eq!(family, "rules", "only examples of rules are parsed");
    let body = rest.strip_suffix("\n```").unwrap_or(rest);
    let parsed = parse_example(path, &format!("{body}\n"));
    let broken = parsed
        .diagnostics
        .iter()
        .find(|one| one.rule.to_string() == code);
    let broken = broken.unwrap_or_else(|| {
        panic!(
            "the example of `{code}` breaks other rules: {:#?}",
            parsed.diagnostics
        )
    });
    let help = broken
        .help
        .as_ref()
        .map_or(String::new(), |help| format!("\nhelp: {help}"));
    let severity = broken.severity.word();
    format!(
        "`{path}`:\n\n```{language}\n{body}\n```\n\n```text\n{severity}[{code}]: {}{help}\n```",
        broken.message
    )
}

/// Returns the meaning of a code. For rules it comes from the table in the code.
fn meaning(family: &Family, code: &str, entry: &Entry) -> String {
    let mut rules = Rule::ALL.iter();
    let rule = rules.find(|rule| family.file == "rules" && rule.to_string() == *code);
    rule.map_or(entry.meaning.clone(), |rule| {
        let text = rule.summary();
        format!(
            "{text} Breaking this rule is usually {}.",
            severity(rule.severity())
        )
    })
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Hint => "a hint",
        Severity::Warning => "a warning",
        Severity::Error => "an error",
    }
}

fn section(family: &Family, code: &str, entry: &Entry) -> String {
    let meaning = meaning(family, code, entry);
    for (what, text) in [
        ("meaning", &meaning),
        ("example", &entry.example),
        ("remedy", &entry.remedy),
    ] {
        assert!(
            !text.is_empty(),
            "xtask/errors/{}.md: `{code}` has no {what}",
            family.file
        );
    }
    format!(
        "## {}\n\n{meaning}\n\n{}\n\n**What to do:** {}\n",
        family.heading,
        example(code, family.file, &entry.example),
        entry.remedy
    )
}

/// Returns all pages by name, including the index.
fn pages() -> BTreeMap<String, String> {
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut index = String::from(
        "# Error codes\n\nEvery code that deft shows has a page: what it means, an example, what to do. Generated by a test \
         of `xtask` from the tables in the code and `xtask/errors`; run `UPDATE=1 cargo test -p xtask` after a change.\n",
    );
    for family in families() {
        let entries = entries(&read(&format!("xtask/errors/{}.md", family.file)));
        let written: BTreeSet<&String> = entries.keys().collect();
        let codes: BTreeSet<&String> = family.codes.iter().collect();
        let file = family.file;
        assert_eq!(
            codes, written,
            "left: codes, right: entries of xtask/errors/{file}.md"
        );
        index.push_str(&format!("\n## {}\n\n", family.heading));
        let column = if file == "rules" { "rule" } else { "meaning" };
        index.push_str(&format!("| code | {column} |\n| --- | --- |\n"));
        for code in &family.codes {
            let entry = &entries[code];
            let meaning = meaning(&family, code, entry);
            let first = meaning.split(". ").next().unwrap_or_default();
            let first = first.trim_end_matches('.').replace('|', "\\|");
            index.push_str(&format!(
                "| [`{code}`]({code}.md) | {first} |
"
            ));
            let page = sections.entry(code.clone()).or_default();
            page.push(section(&family, code, entry));
        }
    }
    let page = |(code, sections): (String, Vec<String>)| {
        (
            format!("{code}.md"),
            format!(
                "# `{code}`\n\n{}\n[All codes](README.md)\n",
                sections.join("\n")
            ),
        )
    };
    let mut pages: BTreeMap<String, String> = sections.into_iter().map(page).collect();
    pages.insert("README.md".to_owned(), index);
    pages
}

/// The codes in the table of `docs/running.md`, and those in the help.
#[test]
fn every_list_of_exit_codes_is_complete() {
    let codes = exit_codes();
    let running = read("docs/running.md");
    let (_, section) = running.split_once("## Exit codes\n").unwrap();
    let (_, table) = section.split_once("| --- | --- |\n").unwrap();
    let rows = table.lines().map_while(|line| line.strip_prefix("| "));
    let rows: Vec<u8> = rows
        .map(|row| row.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(rows, codes, "docs/running.md");
    let help = read("crates/cli/src/args/mod.rs");
    let (_, help) = help.split_once("\"Exit codes: ").unwrap();
    let help = help.split_once('"').unwrap().0;
    let words = help
        .split(|c: char| !c.is_ascii_digit())
        .filter(|word| !word.is_empty());
    let named: Vec<u8> = words.map(|word| word.parse().unwrap()).collect();
    assert_eq!(named, codes, "the help");
}

#[test]
fn every_error_code_has_a_page_and_every_page_a_code() {
    let folder = root().join("docs/errors");
    let pages = pages();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for path in files_in(&folder, "md") {
            std::fs::remove_file(path).unwrap();
        }
        for (name, text) in &pages {
            std::fs::write(folder.join(name), text).unwrap();
        }
        return;
    }
    let kept: BTreeMap<String, String> = files_in(&folder, "md")
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(&kept),
        names(&pages),
        "left: files in docs/errors, right: codes; run `UPDATE=1 cargo test -p xtask`"
    );
    let stale: Vec<&String> = pages
        .iter()
        .filter(|(name, text)| kept[*name] != **text)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        stale,
        Vec::<&String>::new(),
        "out of date: run `UPDATE=1 cargo test -p xtask`"
    );
}

#[test]
fn entries_are_read() {
    let text = "## a\n\nMeans.\n\n```text\n## b\n```\n\nDo.\n\n## c\n\n````text\n```cmd\n````\n\nDo this.\n";
    let found = entries(text);
    let shown: Vec<String> = found
        .iter()
        .map(|(code, one)| format!("{code}|{}|{}|{}", one.meaning, one.example, one.remedy))
        .collect();
    assert_eq!(
        shown,
        [
            "a|Means.|```text\n## b\n```|Do.",
            "c||````text\n```cmd\n````|Do this."
        ]
    );
}

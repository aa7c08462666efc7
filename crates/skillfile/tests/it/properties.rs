//! Properties that hold for every file: parsing never panics, and spans are inside the file.

use deft_skillfile::{Document, ParsedFile, Profile, has_errors, render};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::{self, parse_at};

/// One path for each kind of file.
const PATHS: &[&str] = &["demo/SKILL.md", "email/send.md", "demo.yaml", "record.json"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_parsed_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes)?;
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in "\\PC{0,200}") {
        check(text.as_bytes())?;
        check(format!("---\n{text}\n---\n{text}").as_bytes())?;
    }

    #[test]
    fn yaml_of_pieces_is_read(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        check(text.as_bytes())?;
        check(format!("---\n{text}\n---\n# Text\n\n## Flags\n\n{text}").as_bytes())?;
    }

    #[test]
    fn changed_cases_are_read(
        at in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let cases = support::cases();
        let mut bytes = cases[at.index(cases.len())].1.bytes.clone();
        changes.iter().for_each(|change| change.apply(&mut bytes));
        check(&bytes)?;
    }
}

/// Parsing time is proportional to the length of the file. This file took minutes when every step was
/// compared with every other.
#[test]
fn a_long_file_is_read() {
    let step =
        |at: usize| format!("  - {{id: get_{at}, tool: t, args: {{x: '{{{{ get_0 }}}}'}}}}\n");
    let head = "name: demo\ndescription: x\nsteps:\n  - {id: get_0, tool: t}\n".to_owned();
    let text = (1..10_000).fold(head, |text, at| text + &step(at));
    let parsed = parse_at("demo.yaml", text.as_bytes(), Profile::Deft);
    assert!(parsed.document.is_some());
}

/// Valid and invalid pieces of skill files.
fn piece() -> impl Strategy<Value = String> {
    let known = select(vec![
        "name: demo\n",
        "description: x\n",
        "steps:\n",
        "  - id: a\n",
        "    tool: b\n",
        "    args: {x: \"{{ a }}\"}\n",
        "    condition: \"a and b\"\n",
        "    compute: |\n      result = 1\n",
        "    depends_on: [a]\n",
        "    loop: \"{{ a }}\"\n",
        "inputs:\n",
        "  - name: key\n",
        "    default: é\n",
        "    pattern: \"(\"\n",
        "metadata:\n",
        "  trigger_config: '{\"schedule\": \"0 25 * * *\"}'\n",
        "trigger_config: {schedule: \"0 9 * *\"}\n",
        "outputs: {x: '{{ ''q'' | uper }}'}\n",
        "confirmations: [{step: a, message: \"{{\"}]\n",
        "heal: [{when: network, tool: x}]\n",
        "<<: *a\n",
        "&a ",
        "--flag  One of: a, b (default: c)\n",
        "\"\\u00e9 {{ oops",
        "{",
        "}",
        "[",
        "]",
        "|",
        ">-",
        "- ",
        ": ",
        "'",
        "\"",
        "\\",
        "\n",
        "\r\n",
        "\t",
        "  ",
        "#",
        "---\n",
        "...\n",
        "!!str ",
        "🦀",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "\0",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

/// A change to the bytes of a file.
#[derive(Clone, Debug)]
enum Change {
    Insert(prop::sample::Index, Vec<u8>),
    Delete(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Insert(at, what) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, what.iter().copied());
            }
            Self::Delete(at, length) => {
                let at = at.index(bytes.len());
                let end = (at + length).min(bytes.len());
                bytes.drain(at..end);
            }
            Self::Repeat(at, length) => {
                let at = at.index(bytes.len());
                let end = (at + length).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), piece()).prop_map(|(at, what)| Change::Insert(at, what.into_bytes())),
        (at(), 1..20_usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (at(), 1..60_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

/// Parses bytes as every kind of file under both profiles.
fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    for path in PATHS {
        for profile in [Profile::Deft, Profile::AgentSkills] {
            let parsed = parse_at(path, bytes, profile);
            check_places(bytes, &parsed)?;
            if let Some(document) = &parsed.document {
                prop_assert!(!has_errors(&parsed.diagnostics));
                write_down(document);
            }
        }
    }
    Ok(())
}

fn check_places(bytes: &[u8], parsed: &ParsedFile) -> Result<(), TestCaseError> {
    for found in &parsed.diagnostics {
        prop_assert!(
            !found.message.is_empty() && !found.message.ends_with('.'),
            "{:?}",
            found
        );
        let Some(range) = found.span.range() else {
            continue;
        };
        prop_assert!(range.end <= bytes.len(), "out of bounds: {:?}", found);
        if let Ok(text) = std::str::from_utf8(bytes) {
            prop_assert!(text.get(range).is_some(), "inside a character: {:?}", found);
        }
    }
    Ok(())
}

/// A parsed skill can be rendered in every dialect.
fn write_down(document: &Document) {
    if let Document::Skill(skill) = document {
        drop(render::agentskills(skill));
        drop(render::manpage(skill));
        drop(render::workflow(skill));
        drop(render::record(skill));
        drop(render::manual(skill));
    }
}

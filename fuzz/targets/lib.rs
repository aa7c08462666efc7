//! Shared by the fuzz targets: a fixed current time, and properties that every parsed file must have.

use deft_model::{Dialect, Skill};
use deft_skillfile::{
    Document, FileLocation, Moment, ParsedFile, Profile, has_errors, parse, render,
};
use jiff::{Timestamp, tz::TimeZone};

/// Returns a fixed current time, so that crashes are reproducible.
pub fn moment() -> Moment {
    Moment {
        now: Timestamp::from_second(1_763_208_000).unwrap_or(Timestamp::UNIX_EPOCH),
        zone: TimeZone::UTC,
    }
}

/// Parses a file under both profiles and checks the properties.
pub fn check(bytes: &[u8], location: &FileLocation<'_>) {
    for profile in [Profile::Deft, Profile::AgentSkills] {
        let parsed = parse(bytes, location, profile, &moment());
        check_spans(bytes, &parsed);
        if let Some(document) = &parsed.document {
            assert!(!has_errors(&parsed.diagnostics));
            write_down(document, location);
        }
    }
}

/// Checks that spans are within the file and on character boundaries.
fn check_spans(bytes: &[u8], parsed: &ParsedFile) {
    for found in &parsed.diagnostics {
        let Some(range) = found.span.range() else {
            continue;
        };
        assert!(range.end <= bytes.len(), "{found:?}");
        if let Ok(text) = std::str::from_utf8(bytes) {
            assert!(text.get(range).is_some(), "{found:?}");
        }
    }
}

/// Checks that a parsed skill can be written in every dialect, and that it parses to the same skill when
/// written in its own.
fn write_down(document: &Document, location: &FileLocation<'_>) {
    let Document::Skill(skill) = document else {
        return;
    };
    render::manual(skill);
    let texts = [
        (Dialect::AgentSkills, Some(render::agentskills(skill))),
        (Dialect::ManPage, Some(render::manpage(skill))),
        (Dialect::Workflow, render::workflow(skill)),
        (
            Dialect::Record,
            render::record(skill).map(|value| value.to_string()),
        ),
    ];
    for (_, text) in texts
        .into_iter()
        .filter(|(dialect, _)| *dialect == skill.dialect)
    {
        let text = text.expect("its own dialect holds a skill");
        let parsed = parse(text.as_bytes(), location, Profile::Deft, &moment());
        let Some(Document::Skill(again)) = parsed.document else {
            panic!("does not load again:\n{text}\n{:?}", parsed.diagnostics);
        };
        assert_eq!(comparable(&again), comparable(skill), "{text}");
    }
}

/// Removes the parts that the open format cannot express: it holds only texts below `metadata`, and only an
/// id as name.
fn comparable(skill: &Skill) -> Skill {
    let mut skill = skill.clone();
    if skill.dialect == Dialect::AgentSkills {
        skill.name = skill.id.to_string();
        skill.domain = None;
        skill.open.metadata.clear();
        skill.open.allowed_tools = None;
        skill.extra.clear();
    }
    skill
}

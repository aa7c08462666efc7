//! Prompt injection: each file of `tests/injection` is a message or a result from outside. The command in it
//! is never run and the frame around it never ends early.

use std::fs;
use std::path::{Path, PathBuf};

use deft_agent::prompt::{Caps, FrameKind, PromptInput, Section, TAG, assemble, frame, neutralise};
use unicode_normalization::UnicodeNormalization;

fn corpus() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/injection");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, unescape(&fs::read_to_string(&path).unwrap()))
        })
        .collect()
}

/// Replaces `\u{…}`, which the files use for characters that editors and diffs hide.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u{") {
        let (code, behind) = after.split_once('}').unwrap();
        out.push_str(before);
        out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        rest = behind;
    }
    out + rest
}

/// Returns a text as a careless reader sees it: compatibility forms resolved, case and white space ignored.
fn read_carelessly(text: &str) -> String {
    text.nfkc()
        .flat_map(char::to_lowercase)
        .filter(|c| !c.is_whitespace())
        .collect()
}

#[test]
fn the_corpus_has_at_least_thirty_texts() {
    assert!(corpus().len() >= 30, "{}", corpus().len());
}

#[test]
fn a_frame_has_one_beginning_and_one_end() {
    for (name, text) in corpus() {
        for kind in [
            FrameKind::Message,
            FrameKind::Result,
            FrameKind::Memory,
            FrameKind::Document,
        ] {
            let framed = frame(kind, &text, &text);
            let seen = read_carelessly(&framed);
            assert_eq!(
                seen.matches(&format!("<{TAG}")).count(),
                1,
                "{name}: {framed}"
            );
            assert_eq!(
                seen.matches(&format!("</{TAG}")).count(),
                1,
                "{name}: {framed}"
            );
            assert!(framed.ends_with(&format!("\n</{TAG}>")), "{name}");
            let first = framed.lines().next().unwrap();
            assert!(
                first.starts_with(&format!("<{TAG} kind=")) && first.ends_with('>'),
                "{name}"
            );
        }
    }
}

/// Text that looks like the end of a frame to a reader is escaped, even if it is none to a program.
#[test]
fn lookalike_frames_are_neutralised() {
    for (name, text) in corpus() {
        if name.starts_with("close_") && name != "close_frame_escaped" || name.starts_with("spaced")
        {
            let (clean, _) = neutralise(&text);
            assert!(clean.contains("&lt;"), "{name}: {clean}");
            assert!(!clean.contains(['<', '\u{ff1c}']), "{name}: {clean}");
        }
    }
}

#[test]
fn invisible_characters_are_removed() {
    for (name, text) in corpus() {
        let (clean, _) = neutralise(&text);
        let unseen = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
        };
        assert!(!clean.contains(unseen), "{name}: {clean:?}");
        assert_eq!(neutralise(&clean), (clean.clone(), 0), "{name}: not stable");
    }
}

#[test]
fn facts_and_tasks_stay_in_their_frames() {
    for (name, text) in corpus() {
        let facts = [text.clone()];
        let input = PromptInput {
            facts: &facts,
            task: &text,
            ..PromptInput::default()
        };
        let prompt = assemble(&input, &Caps::default());
        let volatile = read_carelessly(&prompt.parts.last().unwrap().text);
        assert_eq!(volatile.matches(&format!("</{TAG}>")).count(), 2, "{name}");
        let sections: Vec<Section> = prompt
            .sections
            .iter()
            .map(|(section, _)| *section)
            .collect();
        assert!(
            sections.ends_with(&[Section::Memory, Section::Task, Section::Now]),
            "{name}"
        );
    }
}

#[test]
fn ordinary_text_is_unchanged() {
    let texts = [
        "a < b && b > c, 1<2",
        "fn main() { println!(\"<b>hi</b>\"); }",
        "```cmd\nemail.send --to bob@co.com\n```",
        "naïve café 漢字 👩‍👩‍👧",
        "tab\tand\nline",
    ];
    for text in texts {
        assert_eq!(neutralise(text), (text.to_owned(), 0));
    }
    assert_eq!(
        frame(
            FrameKind::Message,
            "Bob <bob@co.com>\n\"x\"",
            "hi\u{202e}!\n"
        ),
        "<untrusted kind=\"message\" from=\"Bob 'bob@co.com' 'x'\" removed=\"1 invisible\">\nhi!\n</untrusted>"
    );
}

//! Reads a `## Flags` section into a table (S2.5).
//!
//! The prose stays the source of truth; this is what can be checked and
//! completed from it. A line that says nothing a machine understands is a flag
//! that takes any text.

use deft_model::{Flag, FlagValue};

use crate::diagnostic::Sink;
use crate::rules::Rule;
use crate::span::Span;

/// Reads the flags of a section whose text starts at `offset` in the file.
pub(crate) fn read(section: &str, offset: usize, sink: &mut Sink) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    let mut at = offset;
    for line in section.split_inclusive('\n') {
        let span = Span::new(at, at + line.trim_end().len());
        at += line.len();
        let text = strip_bullet(line.trim());
        if text.is_empty() || text.starts_with("```") {
            continue;
        }
        let Some(rest) = text.strip_prefix("--") else {
            continue_line(&mut flags, line, text, span, sink);
            continue;
        };
        let Some(flag) = flag(rest) else {
            sink.report(Rule::InvalidFlag, span, "a flag has no name")
                .help("write `--name   what it is for`");
            continue;
        };
        if flags.iter().any(|known| known.name == flag.name) {
            let message = format!("`--{}` is described twice; the first one counts", flag.name);
            sink.report(Rule::DuplicateFlag, span, message);
            continue;
        }
        flags.push(flag);
    }
    flags
}

/// A list marker and the backticks around a flag are decoration.
fn strip_bullet(line: &str) -> &str {
    let line = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .unwrap_or(line);
    line.trim_start_matches('`').trim_start()
}

/// An indented line goes on with the flag above it; anything else is prose
/// that does not belong here.
fn continue_line(flags: &mut [Flag], line: &str, text: &str, span: Span, sink: &mut Sink) {
    let indented = line.starts_with([' ', '\t']);
    match flags.last_mut() {
        Some(last) if indented => {
            let longer = format!("{} {text}", last.description);
            if let Some(flag) = describe(&last.name, &longer) {
                *last = flag;
            }
        }
        _ if text.trim_matches('_').eq_ignore_ascii_case("none")
            || text.eq_ignore_ascii_case("none.") => {}
        _ => sink
            .report(
                Rule::InvalidFlag,
                span,
                "the line does not start with `--name`",
            )
            .help("write `--name   what it is for`, or indent a line that goes on"),
    }
}

/// A flag line without its dashes: `name <value>   prose`.
fn flag(rest: &str) -> Option<Flag> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let end = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let rest = rest.trim_start_matches(['`', ',']).trim_start();
    // `<value>` behind the name is a placeholder, not prose.
    let rest = match rest
        .strip_prefix('<')
        .and_then(|inner| inner.split_once('>'))
    {
        Some((_, behind)) => behind.trim_start_matches('`').trim_start(),
        None => rest,
    };
    let rest = rest.trim_start_matches([':', '–', '—']).trim_start();
    (!name.is_empty()).then(|| describe(name, rest)).flatten()
}

fn describe(name: &str, prose: &str) -> Option<Flag> {
    (!name.is_empty()).then(|| Flag {
        name: name.to_owned(),
        description: prose.to_owned(),
        required: marker(prose, "required").is_some(),
        value: value(prose),
        default: default(prose),
    })
}

fn value(prose: &str) -> FlagValue {
    let lower = prose.to_ascii_lowercase();
    if marker(prose, "boolean").is_some() || marker(prose, "boolean flag").is_some() {
        return FlagValue::Presence;
    }
    if let Some(words) = words_after(prose, &lower, "one or more of:") {
        return FlagValue::SomeOf(words);
    }
    // The seeds also write `Sort by: a, b` and `Writing tone: a, b`: a colon
    // and a list of words with nothing else in the sentence.
    let closed = words_after(prose, &lower, "one of:").or_else(|| bare_list(prose));
    closed.map_or(FlagValue::Any, FlagValue::OneOf)
}

/// The words of `a, b, c` behind a phrase, up to the end of the sentence.
fn words_after(prose: &str, lower: &str, phrase: &str) -> Option<Vec<String>> {
    let at = lower.find(phrase)? + phrase.len();
    let words = list(prose.get(at..)?);
    (!words.is_empty()).then_some(words)
}

fn bare_list(prose: &str) -> Option<Vec<String>> {
    let (before, after) = prose.split_once(": ")?;
    let words = list(after);
    let short = !before.contains(['(', '.', ',']) && before.split_whitespace().count() <= 4;
    let plain = |word: &String| {
        word.chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    (short && words.len() > 1 && words.iter().all(plain)).then_some(words)
}

fn list(text: &str) -> Vec<String> {
    let end = text.find(['(', ';']).unwrap_or(text.len());
    let sentence = text[..end].split(". ").next().unwrap_or_default();
    words(sentence.trim().trim_end_matches('.'))
}

fn words(text: &str) -> Vec<String> {
    let parts = text
        .split(',')
        .flat_map(|part| part.split(" or "))
        .flat_map(|part| part.split('|'));
    let clean = |part: &str| {
        let part = part.trim().trim_matches(['`', '"', '\'']);
        part.strip_prefix("or ").unwrap_or(part).trim().to_owned()
    };
    parts.map(clean).filter(|part| !part.is_empty()).collect()
}

fn default(prose: &str) -> Vec<String> {
    let found = prose
        .to_ascii_lowercase()
        .find("(default:")
        .or_else(|| prose.to_ascii_lowercase().find("default:"));
    let Some(rest) = found.and_then(|at| prose.get(at..)) else {
        return Vec::new();
    };
    let rest = rest.split_once(':').map_or("", |(_, rest)| rest);
    let end = rest.find([')', ';']).unwrap_or(rest.len());
    words(&rest[..end])
}

/// The text in parentheses that says exactly `word`.
fn marker<'a>(prose: &'a str, word: &str) -> Option<&'a str> {
    let inner = prose
        .split('(')
        .skip(1)
        .filter_map(|part| part.split_once(')').map(|(inner, _)| inner));
    inner
        .flat_map(|inner| inner.split([',', ';']))
        .find(|part| part.trim().eq_ignore_ascii_case(word))
}

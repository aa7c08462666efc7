//! Parsing of a `## Flags` section (S2.5).
//!
//! The prose remains the source of truth; the parsed flags serve checks and completion. A line without known
//! markers defines a flag that takes any text.

use std::collections::HashSet;

use deft_model::{Flag, FlagValue};

use crate::diagnostic::Sink;
use crate::markdown;
use crate::rules::Rule;
use crate::span::Span;

/// A flag as written: its name, prose and span.
struct Line {
    name: String,
    prose: String,
    span: Span,
}

/// Returns the flags that a man page describes.
pub fn flags(page: &str) -> Vec<Flag> {
    of_page(page, 0, &mut Sink::default())
}

/// Parses the flags of a page that starts at `offset` in the file.
pub(crate) fn of_page(page: &str, offset: usize, sink: &mut Sink) -> Vec<Flag> {
    let sections = markdown::sections(page);
    match markdown::section(page, &sections, "Flags") {
        Some((start, section)) => read(section, offset + start, sink),
        None => Vec::new(),
    }
}

/// Parses the flags of a section whose text starts at `offset` in the file.
fn read(section: &str, offset: usize, sink: &mut Sink) -> Vec<Flag> {
    let mut found: Vec<Line> = Vec::new();
    let mut names = HashSet::new();
    let mut at = offset;
    let mut in_rows = false;
    for line in section.split_inclusive('\n') {
        let (start, end) = (line.len() - line.trim_start().len(), line.trim_end().len());
        let span = Span::new(at + start.min(end), at + end);
        at += line.len();
        match row(line.trim()) {
            Row::None => in_rows = false,
            Row::Rule => in_rows = true,
            Row::Other if in_rows => {
                sink.report(
                    Rule::InvalidFlag,
                    span,
                    "the row does not start with `--name`",
                )
                .help("write `| --name | what it is for |`");
            }
            Row::Flag | Row::Other => {}
        }
        let text = strip_decoration(line.trim());
        let Some(rest) = text.strip_prefix("--") else {
            continue_flag(&mut found, line, &text, span, sink);
            continue;
        };
        match name_and_prose(rest) {
            None => {
                sink.report(Rule::InvalidFlag, span, "a flag has no name")
                    .help("write `--name   what it is for`");
            }
            Some((name, _)) if !names.insert(name.to_owned()) => {
                let message = format!(
                    "`--{name}` is described twice; the first description is \
                     used"
                );
                sink.report(Rule::DuplicateFlag, span, message);
            }
            Some((name, prose)) => found.push(Line {
                name: name.to_owned(),
                prose: prose.to_owned(),
                span,
            }),
        }
    }
    found.into_iter().map(|line| describe(line, sink)).collect()
}

/// The role of a line in a Markdown table.
enum Row {
    None,
    /// The line below the header row.
    Rule,
    Flag,
    Other,
}

fn row(line: &str) -> Row {
    let Some(cells) = line.strip_prefix('|') else {
        return Row::None;
    };
    let rule = |c: char| matches!(c, '-' | ':' | '|' | ' ');
    let first = cells.split('|').next().unwrap_or_default().trim();
    if cells.chars().all(rule) {
        Row::Rule
    } else if first.trim_start_matches(['`', '*']).starts_with('-') {
        Row::Flag
    } else {
        Row::Other
    }
}

/// Removes decoration: a list marker, a short flag, table bars and marks around a flag.
fn strip_decoration(line: &str) -> String {
    if let Some(row) = line.strip_prefix('|') {
        let cells = row.trim_end_matches('|').split('|').map(str::trim);
        let cells: Vec<&str> = cells.collect();
        return match self::row(line) {
            Row::Flag => strip_decoration(&cells.join(" ")),
            Row::None | Row::Rule | Row::Other => String::new(),
        };
    }
    let line = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .unwrap_or(line)
        .trim_start();
    let bare = line.trim_start_matches(['`', '*']);
    let short = |rest: &str| {
        let rest = rest.strip_prefix('-')?;
        let (_, rest) = rest.split_once([',', ' ', '/'])?;
        let rest = rest.trim_start_matches(['`', '*', ' ']);
        rest.starts_with("--").then(|| rest.to_owned())
    };
    if bare.starts_with("--") {
        return bare.to_owned();
    }
    short(bare).unwrap_or_else(|| line.to_owned())
}

/// Appends an indented line to the flag above. An unindented line of prose below a flag is reported, because
/// it is most likely meant as a continuation.
fn continue_flag(found: &mut [Line], line: &str, text: &str, span: Span, sink: &mut Sink) {
    let decoration = text.is_empty() || text.starts_with("```") || text.starts_with('#');
    let Some(last) = found.last_mut().filter(|_| !decoration) else {
        return;
    };
    if line.starts_with([' ', '\t']) {
        last.prose.push(' ');
        last.prose.push_str(text);
    } else {
        let message = "the line does not start with `--name`";
        sink.report(Rule::InvalidFlag, span, message)
            .help("write `--name   what it is for`, or indent a continuation line");
    }
}

/// Splits a flag line without its dashes: `name <value>   prose`.
fn name_and_prose(rest: &str) -> Option<(&str, &str)> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let end = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let rest = rest.trim_start_matches(['`', ',', '=', '*']).trim_start();
    // `<value>` or `[value]` after the name is a placeholder, not prose.
    let behind = |open: char, close: char| {
        let (_, behind) = rest.strip_prefix(open)?.split_once(close)?;
        Some(behind.trim_start_matches(['`', '*']).trim_start())
    };
    let rest = behind('<', '>')
        .or_else(|| behind('[', ']'))
        .unwrap_or(rest);
    let prose = rest.trim_start_matches([':', '–', '—']).trim_start();
    name.starts_with(char::is_alphanumeric)
        .then_some((name, prose))
}

fn describe(line: Line, sink: &mut Sink) -> Flag {
    let default = default(&line.prose);
    let flag = Flag {
        name: line.name,
        required: has_marker(&line.prose, "required"),
        value: value(&line.prose, &default),
        description: line.prose,
        default,
    };
    check_default(&flag, line.span, sink);
    flag
}

fn value(prose: &str, default: &[String]) -> FlagValue {
    let lower = prose.to_ascii_lowercase();
    if has_marker(prose, "boolean") || has_marker(prose, "boolean flag") {
        return FlagValue::Presence;
    }
    if let Some(words) = words_after(prose, &lower, "one or more of:") {
        return FlagValue::SomeOf(words);
    }
    if let Some(words) = words_after(prose, &lower, "one of:") {
        return FlagValue::OneOf(words);
    }
    if has_marker(prose, "YYYY-MM-DD") {
        return FlagValue::Date;
    }
    // Existing pages also contain `Sort by: a, b` and `Writing tone: a, b`: a colon and a list of words with
    // nothing else in the sentence. Such a list may be incomplete; the default is a valid value too.
    let Some(mut words) = bare_list(prose) else {
        return FlagValue::Any;
    };
    let missing: Vec<String> = default
        .iter()
        .filter(|word| !words.contains(word))
        .cloned()
        .collect();
    words.extend(missing);
    FlagValue::OneOf(words)
}

/// Reports a default that is not one of the flag's values.
fn check_default(flag: &Flag, span: Span, sink: &mut Sink) {
    let (FlagValue::OneOf(words) | FlagValue::SomeOf(words)) = &flag.value else {
        return;
    };
    if let Some(stranger) = flag.default.iter().find(|word| !words.contains(word)) {
        let message = format!(
            "the default `{stranger}` of `--{}` is not one of its values",
            flag.name
        );
        sink.report(Rule::InvalidFlag, span, message)
            .help("add it to the list, or choose one of the list");
    }
}

/// Returns the words of `a, b, c` after a phrase, up to the end of the sentence.
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
    let end = text.find(['(', ')', ';']).unwrap_or(text.len());
    let sentence = text[..end].split(". ").next().unwrap_or_default();
    words(sentence.trim().trim_end_matches('.'))
}

fn words(text: &str) -> Vec<String> {
    let parts = text
        .split(',')
        .flat_map(|part| part.split(" or "))
        .flat_map(|part| part.split('|'));
    let clean = |part: &str| {
        let part = part.trim().strip_prefix("or ").unwrap_or(part);
        part.trim().trim_matches(['`', '"', '\'']).trim().to_owned()
    };
    parts.map(clean).filter(|part| !part.is_empty()).collect()
}

fn default(prose: &str) -> Vec<String> {
    let lower = prose.to_ascii_lowercase();
    let found = lower.find("(default:").or_else(|| lower.find("default:"));
    let Some(rest) = found.and_then(|at| prose.get(at..)) else {
        return Vec::new();
    };
    let rest = rest.split_once(':').map_or("", |(_, rest)| rest);
    let end = rest.find([')', ';']).unwrap_or(rest.len());
    words(&rest[..end])
}

/// Whether a text in parentheses equals `word`.
fn has_marker(prose: &str, word: &str) -> bool {
    let inner = prose
        .split('(')
        .skip(1)
        .filter_map(|part| part.split_once(')').map(|(inner, _)| inner));
    inner
        .flat_map(|inner| inner.split([',', ';']))
        .any(|part| part.trim().eq_ignore_ascii_case(word))
}

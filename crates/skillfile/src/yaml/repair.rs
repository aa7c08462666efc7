//! Repair of YAML with common mistakes.
//!
//! People write `description: Use when: …` and `argument-hint: [a] [b]`, which is not YAML although the
//! meaning is clear. Each entry is parsed separately; the value of an entry that fails is taken as plain
//! text. The masked text keeps its length, so all spans remain correct.
//!
//! A repaired value never includes a line with a key that deft reads: the key would be lost silently.

use super::build::parse;
use super::node::{Kind, Node, Style};
use super::slips::{is_unclosed, tab_indent};
use crate::span::Span;

/// A value that was taken as text, with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepairedValue {
    pub key: String,
    pub span: Span,
    /// Whether the value starts with an unclosed quote.
    pub unclosed: bool,
}

/// Why a text cannot be repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RepairError {
    /// The line of `key` would become part of the value of `above`.
    Swallowed {
        key: String,
        above: String,
        span: Span,
    },
    /// The parser's error applies.
    Syntax,
}

/// A range of `text` to be parsed as plain text.
struct Mask {
    key: String,
    start: usize,
    end: usize,
}

/// Returns whether some dialect reads a key.
type IsKnownKey = fn(&str) -> bool;

/// Returns a tree with invalid values as texts, and these values.
pub(crate) fn repair(
    text: &str,
    offset: usize,
    is_known_key: IsKnownKey,
) -> Result<(Node, Vec<RepairedValue>), RepairError> {
    if conflict_marker(text).is_some() || tab_indent(text).is_some() {
        return Err(RepairError::Syntax);
    }
    let mut masks = Vec::new();
    collect(text, offset, (0, 0), is_known_key, &mut masks)?;
    let parsed = parse(&apply_masks(text, &masks), offset).ok().flatten();
    let mut node = parsed.ok_or(RepairError::Syntax)?;
    masks
        .iter()
        .for_each(|mask| unmask(&mut node, text, mask, offset));
    let repaired = masks.into_iter().map(|mask| RepairedValue {
        key: mask.key,
        span: Span::new(offset + mask.start, offset + mask.end),
        unclosed: is_unclosed(&text[mask.start..mask.end]),
    });
    Ok((node, repaired.collect()))
}

/// Parses every entry at `indent` separately and masks the values that fail. `base` is the offset of `text`
/// in the whole text.
fn collect(
    text: &str,
    offset: usize,
    (base, indent): (usize, usize),
    is_known_key: IsKnownKey,
    masks: &mut Vec<Mask>,
) -> Result<(), RepairError> {
    for (start, end) in entries(text, indent) {
        let entry = &text[start..end];
        if parse(entry, 0).is_ok() {
            continue;
        }
        let (key, value) = key_and_value(entry).ok_or(RepairError::Syntax)?;
        let first_line = entry[value..].lines().next().unwrap_or_default();
        if first_line.trim().is_empty() {
            let inner = child_indent(&entry[value..]).ok_or(RepairError::Syntax)?;
            let children = value + first_line.len();
            let place = (base + start + children, inner);
            collect(&entry[children..], offset, place, is_known_key, masks)?;
            continue;
        }
        check_swallowed(entry, (key, value), offset + base + start, is_known_key)?;
        if is_torn(&entry[value..]) {
            return Err(RepairError::Syntax);
        }
        masks.push(Mask {
            key: key.to_owned(),
            start: base + start + value,
            end: base + start + entry.trim_end().len(),
        });
    }
    Ok(())
}

/// Rejects a value that extends over a line with a key that a dialect reads. An unknown key, such as
/// `Triggers: …` in the middle of a description, is prose. `start` is the position of the entry in the file.
fn check_swallowed(
    entry: &str,
    (key, value): (&str, usize),
    start: usize,
    is_known_key: IsKnownKey,
) -> Result<(), RepairError> {
    let mut at = 0;
    for (nth, line) in entry.split_inclusive('\n').enumerate() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some((inner, _)) =
            key_and_value(line).filter(|(inner, _)| nth > 0 && is_known_key(inner))
        {
            // In this case the mistake is a quote or a bracket, not the line below.
            let value = &entry[value..];
            if is_unclosed(value) || value.starts_with(['[', '{']) {
                return Err(RepairError::Syntax);
            }
            let from = start + at + indent;
            return Err(RepairError::Swallowed {
                key: inner.to_owned(),
                above: key.to_owned(),
                span: Span::new(from, from + inner.len()),
            });
        }
        at += line.len();
    }
    Ok(())
}

/// Whether a value begins a list or a mapping and ends in the middle of it; such a value is not a text.
fn is_torn(value: &str) -> bool {
    let (rest, close, separator) = if let Some(rest) = value.strip_prefix('[') {
        (rest.trim(), ']', ',')
    } else if let Some(rest) = value.strip_prefix('{') {
        (rest.trim(), '}', ':')
    } else {
        return false;
    };
    // A bracket before plain words is prose.
    !rest.contains(close) && (rest.is_empty() || rest.contains(separator))
}

/// Returns the ranges of the entries that start at `indent`, each up to the next one.
fn entries(text: &str, indent: usize) -> Vec<(usize, usize)> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if spaces == indent && key_and_value(line).is_some() {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).collect()
}

/// Returns the key of an entry, and where its value starts.
pub(super) fn key_and_value(entry: &str) -> Option<(&str, usize)> {
    let line = entry.lines().next()?;
    let spaces = line.len() - line.trim_start_matches(' ').len();
    let colon = line.find(':')?;
    let key = &line[spaces..colon];
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if key.is_empty() || !key.chars().all(word) {
        return None;
    }
    let rest = &line[colon + 1..];
    let gap = rest.len() - rest.trim_start().len();
    (rest.is_empty() || gap > 0).then_some((key, colon + 1 + gap))
}

fn child_indent(text: &str) -> Option<usize> {
    let line = text.lines().skip(1).find(|line| !line.trim().is_empty())?;
    let indent = line.len() - line.trim_start_matches(' ').len();
    (indent > 0).then_some(indent)
}

fn apply_masks(text: &str, masks: &[Mask]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for mask in masks {
        masked.push_str(&text[at..mask.start]);
        masked.extend(std::iter::repeat_n('x', mask.end - mask.start));
        at = mask.end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// Replaces a mask by the original text.
fn unmask(node: &mut Node, text: &str, mask: &Mask, offset: usize) {
    match &mut node.kind {
        Kind::Scalar(scalar) if node.span.start() == offset + mask.start => {
            scalar.text = unfold(&text[mask.start..mask.end]);
            scalar.style = Style::DoubleQuoted;
        }
        Kind::Scalar(_) => {}
        Kind::Sequence { items, .. } => {
            items
                .iter_mut()
                .for_each(|item| unmask(item, text, mask, offset));
        }
        Kind::Mapping(mapping) => mapping
            .entries
            .iter_mut()
            .for_each(|entry| unmask(&mut entry.value, text, mask, offset)),
    }
}

fn unfold(raw: &str) -> String {
    let lines: Vec<&str> = raw
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let joined = lines.join(" ");
    let quoted = |quote: char| {
        let inner = joined.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner.to_owned())
    };
    if is_unclosed(raw) {
        return joined.trim_start_matches(['"', '\'']).to_owned();
    }
    quoted('"').or_else(|| quoted('\'')).unwrap_or(joined)
}

/// Returns the range of the first marker of an unfinished merge.
pub(crate) fn conflict_marker(text: &str) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if ["<<<<<<< ", ">>>>>>> ", "||||||| "]
            .iter()
            .any(|mark| line.starts_with(mark))
        {
            return Some(at..at + line.trim_end().len());
        }
        at += line.len();
    }
    None
}

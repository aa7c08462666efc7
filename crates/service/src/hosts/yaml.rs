//! Edits of YAML texts: whole lines of block mappings. Mappings in any other style are not edited.

use std::ops::Range;

use deft_wire::model::Object;
use serde_json::Value;

/// Indentation for a list that has none.
const UNIT: usize = 2;

/// A key of a block mapping with the lines that belong to it.
struct Block {
    lines: Range<usize>,
    /// The text after the key on its line, without a comment.
    value: String,
}

/// Adds or replaces the entry `name` in the mapping below `key`; creates the mapping if it is missing.
/// Returns `None` if the text cannot be edited.
pub(super) fn put(text: &str, key: &str, name: &str, entry: &Object) -> Option<String> {
    let mut lines = lines(text);
    let Some(list) = find(&lines, 0..lines.len(), 0, key) else {
        let mut new = text.to_owned();
        if !new.is_empty() && !new.ends_with('\n') {
            new.push('\n');
        }
        return Some(format!("{new}{}", snippet(key, name, entry)));
    };
    match list.value.as_str() {
        "" => {}
        "{}" | "null" | "~" => lines[list.lines.start] = format!("{key}:"),
        _ => return None,
    }
    let indent = child_indent(&lines, &list).unwrap_or(UNIT);
    let inside = list.lines.start + 1..list.lines.end;
    let place = match find(&lines, inside.clone(), indent, name) {
        Some(old) => old.lines,
        None => inside.end..inside.end,
    };
    lines.splice(place, entry_lines(name, entry, indent));
    Some(join_lines(&lines))
}

/// Removes the entry `name` from the mapping below `key`. Returns `None` if it is not found.
pub(super) fn remove(text: &str, key: &str, name: &str) -> Option<String> {
    let mut lines = lines(text);
    let list = find(&lines, 0..lines.len(), 0, key)?;
    let indent = child_indent(&lines, &list)?;
    let entry = find(&lines, list.lines.start + 1..list.lines.end, indent, name)?;
    lines.drain(entry.lines.clone());
    let list = find(&lines, 0..lines.len(), 0, key)?;
    if child_indent(&lines, &list).is_none() {
        // A key without a value would be null, which is no mapping.
        lines[list.lines.start] = format!("{key}: {{}}");
    }
    Some(join_lines(&lines))
}

/// Formats the entry for a person who adds it by hand.
pub(super) fn snippet(key: &str, name: &str, entry: &Object) -> String {
    let entry = entry_lines(name, entry, UNIT).join("\n");
    format!("{key}:\n{entry}\n")
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn join_lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Finds `key` at the indentation `indent` in the lines `within`.
fn find(lines: &[String], within: Range<usize>, indent: usize, key: &str) -> Option<Block> {
    let mut at = within.clone();
    let start =
        at.find(|at| indent_at(&lines[*at]) == Some(indent) && value(&lines[*at], key).is_some())?;
    let mut end = start + 1;
    for (at, line) in lines.iter().enumerate().take(within.end).skip(start + 1) {
        match indent_at(line) {
            Some(found) if found <= indent => break,
            Some(_) => end = at + 1,
            // Blank lines and comments belong to the next key.
            None => {}
        }
    }
    Some(Block {
        lines: start..end,
        value: value(&lines[start], key).unwrap_or_default(),
    })
}

/// Returns the text after `key` if `line` begins with it, without a comment. `None` if the line has another
/// key.
fn value(line: &str, key: &str) -> Option<String> {
    let line = line.trim();
    let rest = [key.to_owned(), format!("\"{key}\""), format!("'{key}'")]
        .iter()
        .find_map(|key| line.strip_prefix(key.as_str())?.strip_prefix(':'))?;
    let is_end = rest.is_empty() || rest.starts_with([' ', '\t']);
    let rest = rest.split_once(" #").map_or(rest, |(value, _)| value);
    is_end.then(|| rest.trim().to_owned())
}

/// Returns the indentation of a line, or `None` if it is blank or a comment.
fn indent_at(line: &str) -> Option<usize> {
    let content = line.trim_start_matches(' ');
    let is_content = !content.trim().is_empty() && !content.starts_with('#');
    is_content.then(|| line.len() - content.len())
}

fn child_indent(lines: &[String], list: &Block) -> Option<usize> {
    let below = &lines[list.lines.start + 1..list.lines.end];
    below.iter().find_map(|line| indent_at(line))
}

/// Formats an entry as lines. Strings are written as in JSON, which YAML reads the same way.
fn entry_lines(name: &str, entry: &Object, indent: usize) -> Vec<String> {
    let pad = " ".repeat(indent);
    let mut lines = vec![format!("{pad}{name}:")];
    add_fields(&mut lines, entry, indent + UNIT);
    lines
}

fn add_fields(lines: &mut Vec<String>, fields: &Object, indent: usize) {
    let pad = " ".repeat(indent);
    for (key, value) in fields {
        match value {
            Value::Object(below) if !below.is_empty() => {
                lines.push(format!("{pad}{key}:"));
                add_fields(lines, below, indent + UNIT);
            }
            Value::Array(items) if !items.is_empty() => {
                lines.push(format!("{pad}{key}:"));
                lines.extend(items.iter().map(|item| format!("{pad}- {item}")));
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => lines.push(format!("{pad}{key}: {value}")),
        }
    }
}

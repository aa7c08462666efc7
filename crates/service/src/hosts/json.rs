//! Edits of JSON texts with comments. Offsets are found in a copy whose comments are blanked out, so they
//! apply to both.

use std::ops::Range;

use deft_wire::model::Object;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::jsonc::{end_of_text, without_comments};

/// Indentation for a text that has none.
const UNIT: &str = "  ";

/// A member of an object: its key, the offset of the key, and the range of the value.
struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
}

/// An object in a text.
struct Braces {
    /// Offset of `{`.
    open: usize,
    /// Offset of `}`.
    close: usize,
    members: Vec<Member>,
}

/// A text, and a copy in which comments are blanks.
struct Source<'a> {
    text: &'a str,
    bare: String,
}

/// Adds or replaces the entry `name` in the list below `key`; creates the list if it is missing. Returns
/// `None` if the text cannot be edited.
pub(super) fn put(text: &str, key: &str, name: &str, entry: &Object) -> Option<String> {
    let source = Source::new(text);
    let entry = Value::Object(entry.clone());
    if source.bare.trim().is_empty() {
        let object = nest_value(key, nest_value(name, entry));
        let gap = if text.trim().is_empty() { "" } else { text };
        return Some(format!("{gap}{}\n", pretty(&object, UNIT, "")));
    }
    let root = source.object(source.bare.find('{')?)?;
    let Some(list) = root.find(key) else {
        return Some(source.insert(&root, key, &nest_value(name, entry)));
    };
    let list = source.object(list.value.start)?;
    match list.find(name) {
        Some(old) => {
            let indent = source.indent(old.start);
            let value = if text[list.open..list.close].contains('\n') {
                pretty(&entry, source.unit(&root), indent)
            } else {
                entry.to_string()
            };
            Some(splice(
                text,
                old.value.clone(),
                &source.with_newlines(&value),
            ))
        }
        None => Some(source.insert(&list, name, &entry)),
    }
}

/// Removes the entry `name` from the list below `key`. Returns `None` if it is not found.
pub(super) fn remove(text: &str, key: &str, name: &str) -> Option<String> {
    let source = Source::new(text);
    let root = source.object(source.bare.find('{')?)?;
    let list = source.object(root.find(key)?.value.start)?;
    let at = list.members.iter().position(|member| member.key == name)?;
    Some(source.without(&list, at))
}

/// Formats the entry for a person who adds it by hand.
pub(super) fn snippet(key: &str, name: &str, entry: &Object) -> String {
    let object = nest_value(key, nest_value(name, Value::Object(entry.clone())));
    pretty(&object, UNIT, "")
}

fn nest_value(key: &str, value: Value) -> Value {
    Value::Object(Object::from_iter([(key.to_owned(), value)]))
}

impl Braces {
    fn find(&self, key: &str) -> Option<&Member> {
        // If a key occurs twice, programs use the last one.
        self.members.iter().rev().find(|member| member.key == key)
    }
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Self {
        let bare = without_comments(text);
        Self { text, bare }
    }

    /// Parses the object that begins at offset `open`. Returns `None` if something else begins there.
    fn object(&self, open: usize) -> Option<Braces> {
        let bytes = self.bare.as_bytes();
        if bytes.get(open) != Some(&b'{') {
            return None;
        }
        let mut members = Vec::new();
        let mut at = open + 1;
        loop {
            at = skip_blanks(bytes, at);
            match bytes.get(at)? {
                b'}' => break,
                b',' => at += 1,
                _ => {
                    let key_end = end_of_text(bytes, at);
                    let Ok(key) = serde_json::from_str(self.bare.get(at..key_end)?) else {
                        return None;
                    };
                    let colon = skip_blanks(bytes, key_end);
                    let value = skip_blanks(bytes, colon + 1);
                    let end = end_of_value(bytes, value);
                    members.push(Member {
                        key,
                        start: at,
                        value: value..end,
                    });
                    at = end;
                }
            }
        }
        Some(Braces {
            open,
            close: at,
            members,
        })
    }

    /// Returns the text with one more member at the end of `object`.
    fn insert(&self, object: &Braces, key: &str, value: &Value) -> String {
        let key = Value::from(key);
        let inside = &self.text[object.open + 1..object.close];
        let last = object.members.last();
        let comma = last.and_then(|last| self.trailing_comma(last, object));
        if let Some(last) = last.filter(|_| !inside.contains('\n')) {
            let (at, lead) = comma.map_or((last.value.end, ", "), |comma| (comma + 1, " "));
            return splice(self.text, at..at, &format!("{lead}{key}: {value}"));
        }
        let outer = self.indent(object.open);
        let first = object.members.first().map(|first| first.start);
        let first = first.filter(|first| self.begins_line(*first));
        let indent = match first {
            Some(first) => self.indent(first).to_owned(),
            None => format!("{outer}{UNIT}"),
        };
        let unit = indent.strip_prefix(outer).filter(|unit| !unit.is_empty());
        let value = pretty(value, unit.unwrap_or(UNIT), &indent);
        let end = object.open + 1 + inside.trim_end().len();
        let mut new = format!("\n{indent}{key}: {value}");
        if comma.is_some() {
            new.push(',');
        }
        // A closing brace on the line of the last member gets a line of its own.
        let gap = if self.text[end..object.close].contains('\n') {
            end..end
        } else {
            new.push_str(&format!("\n{outer}"));
            end..object.close
        };
        let edited = splice(self.text, gap, &self.with_newlines(&new));
        match last.filter(|_| comma.is_none()) {
            Some(last) => splice(&edited, last.value.end..last.value.end, ","),
            None => edited,
        }
    }

    /// Returns the text without the member with index `at` of `object`.
    fn without(&self, object: &Braces, at: usize) -> String {
        let member = &object.members[at];
        let before = self.text[..member.start].trim_end().len();
        let next = object
            .members
            .get(at + 1)
            .map_or(object.close, |next| next.start);
        let comma = self.bare[member.value.end..next].find(',');
        let end = comma.map_or(member.value.end, |comma| member.value.end + comma + 1);
        let mut edited = splice(self.text, before..end, "");
        let previous = at.checked_sub(1).map(|previous| &object.members[previous]);
        if let (None, Some(previous)) = (comma, previous)
            && let Some(comma) = self.bare[previous.value.end..member.start].find(',')
        {
            let comma = previous.value.end + comma;
            edited = splice(&edited, comma..comma + 1, "");
        }
        if object.members.len() > 1 {
            return edited;
        }
        // Write an object without members and comments as `{}`.
        let rest = &edited[object.open + 1..];
        let blanks = rest.len() - rest.trim_start().len();
        if rest.trim_start().starts_with('}') {
            let start = object.open + 1;
            edited = splice(&edited, start..start + blanks, "");
        }
        edited
    }

    /// Returns the offset of the comma after the last member, if any.
    fn trailing_comma(&self, last: &Member, object: &Braces) -> Option<usize> {
        let found = self.bare[last.value.end..object.close].find(',')?;
        Some(last.value.end + found)
    }

    /// Returns the indentation of the line that contains offset `at`.
    fn indent(&self, at: usize) -> &'a str {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    fn begins_line(&self, at: usize) -> bool {
        let line = self.text[..at].trim_end_matches([' ', '\t']);
        line.ends_with('\n')
    }

    /// Returns one step of indentation as the text has it.
    fn unit(&self, root: &Braces) -> &'a str {
        let first = root.members.first().map(|first| first.start);
        let first = first.filter(|first| self.begins_line(*first));
        let unit = first.map(|first| self.indent(first));
        unit.filter(|unit| !unit.is_empty()).unwrap_or(UNIT)
    }

    /// Converts `text` to the line endings of the file.
    fn with_newlines(&self, text: &str) -> String {
        if self.text.contains("\r\n") {
            text.replace('\n', "\r\n")
        } else {
            text.to_owned()
        }
    }
}

fn splice(text: &str, place: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..place.start], &text[place.end..])
}

fn pretty(value: &Value, unit: &str, indent: &str) -> String {
    let mut out = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = Serializer::with_formatter(&mut out, formatter);
    // Writing a value to memory cannot fail.
    drop(value.serialize(&mut serializer));
    let text = String::from_utf8(out).unwrap_or_default();
    text.replace('\n', &format!("\n{indent}"))
}

fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
    from + blanks.count()
}

/// Returns the offset after the value that begins at `start`.
fn end_of_value(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_text(bytes, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            byte if depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

//! Frames around text from outside, so that a model can tell it from its instructions.
//!
//! A frame is a pair of tags that the text inside cannot close: anything that looks like one of deft's tags
//! is escaped, and invisible characters that a model reads are removed. This helps the model but is not the
//! security boundary: commands are only read from the model's own text, and what may be called is checked
//! elsewhere.

use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization;

/// The tag around text from outside.
pub const TAG: &str = "untrusted";

/// The tag around the result of a call, which is data.
pub const RESULT_TAG: &str = "result";

/// Tags that text from outside must neither open nor close: deft's own, and those that models are trained to
/// read as another speaker.
const GUARDED: &[&str] = &[
    TAG,
    RESULT_TAG,
    "system",
    "assistant",
    "user",
    "tool",
    "function",
    "availableskills",
    "skill",
    "playbook",
    "cmd",
    "imstart",
    "imend",
];

/// The kind of a framed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A message that a person sent, forwarded or quoted.
    Message,
    /// The result of a call.
    Result,
    /// A stored fact.
    Memory,
    /// The content of a document.
    Document,
}

impl FrameKind {
    fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Result => "result",
            Self::Memory => "memory",
            Self::Document => "document",
        }
    }
}

/// Returns a text from outside in its frame. `source` is where it comes from, and is itself from outside.
pub fn frame(kind: FrameKind, source: &str, text: &str) -> String {
    let (text, unseen) = neutralise(text);
    let mut out = format!(
        "<{TAG} kind=\"{}\" from=\"{}\"",
        kind.word(),
        attribute(source)
    );
    if unseen > 0 {
        let _ = write!(out, " removed=\"{unseen} invisible\"");
    }
    let _ = write!(out, ">\n{}\n</{TAG}>", text.trim_end_matches('\n'));
    out
}

/// Returns a value from outside, framed for use inside a sentence: on one line if it has one line.
pub fn frame_value(source: &str, text: &str) -> String {
    let framed = frame(FrameKind::Result, source, text);
    match framed.split('\n').collect::<Vec<_>>().as_slice() {
        [open, line, close] => format!("{open}{line}{close}"),
        _ => framed,
    }
}

/// Escapes everything that looks like one of deft's tags and removes invisible characters. Returns the text
/// and the number of characters removed.
pub fn neutralise(text: &str) -> (String, usize) {
    let (visible, unseen) = visible(text);
    let mut out = String::with_capacity(visible.len());
    for (at, c) in visible.char_indices() {
        if is_bracket(c) && opens_guarded(&visible[at + c.len_utf8()..]) {
            out.push_str("&lt;");
        } else {
            out.push(c);
        }
    }
    (out, unseen)
}

/// Removes escape sequences of terminals, control characters, and invisible characters that change what a
/// reader or a model sees.
fn visible(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut unseen = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => unseen += 1 + skip_sequence(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_unseen(c) => unseen += 1,
            c => out.push(c),
        }
    }
    (out, unseen)
}

/// Skips the rest of an escape sequence: `ESC [ … letter`, `ESC ] … BEL`, or one character.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> usize {
    let mut skipped = 0;
    let ends: fn(char) -> bool = match chars.peek() {
        Some('[') => |c| ('\u{40}'..='\u{7e}').contains(&c),
        Some(']') => |c| matches!(c, '\u{7}' | '\u{9c}' | '\\'),
        Some(c) if !c.is_control() => |_| true,
        _ => return 0,
    };
    // The bracket is itself in the range of final letters.
    if matches!(chars.peek(), Some('[' | ']')) {
        chars.next();
        skipped += 1;
    }
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        skipped += 1;
        if ends(c) {
            break;
        }
    }
    skipped
}

/// Whether a character is invisible: marks of direction and of zero width, tags and variation selectors. The
/// zero-width joiner is kept, because emoji need it and it hides nothing on its own.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn is_bracket(c: char) -> bool {
    matches!(
        c,
        '<' | '\u{ff1c}'
            | '\u{fe64}'
            | '\u{2039}'
            | '\u{3008}'
            | '\u{27e8}'
            | '\u{2329}'
            | '\u{276e}'
    )
}

/// Whether the text after a bracket reads as one of the guarded names, however it is disguised.
fn opens_guarded(rest: &str) -> bool {
    // No disguised name is longer than this.
    let head: String = rest.chars().take(64).collect();
    let mut name = String::new();
    for c in head.nfkd().flat_map(char::to_lowercase) {
        match plain(c) {
            Some(letter) => name.push(letter),
            // Slashes and bars before the name, and characters inserted between its letters.
            None if name.is_empty() || is_strewn(c) => {}
            None => break,
        }
    }
    GUARDED.iter().any(|tag| name.starts_with(tag))
}

fn is_strewn(c: char) -> bool {
    c.is_whitespace() || matches!(c, '_' | '-' | '\u{200d}' | '\u{0300}'..='\u{036f}')
}

/// Returns the Latin letter that a letter looks like.
fn plain(c: char) -> Option<char> {
    let letter = match c {
        'а' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' | 'ё' => 'e',
        'і' | 'ι' | 'ı' => 'i',
        'ӏ' => 'l',
        'о' | 'ο' | 'σ' => 'o',
        'п' => 'n',
        'г' | 'ᴦ' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ц' | 'ս' => 'u',
        'у' | 'γ' => 'y',
        'к' | 'κ' => 'k',
        'м' => 'm',
        c if c.is_ascii_lowercase() => c,
        _ => return None,
    };
    Some(letter)
}

/// Converts a source to the value of an attribute: one short line, without characters that would end it.
fn attribute(source: &str) -> String {
    let (source, _) = visible(source);
    let clean: String = source
        .chars()
        .map(|c| match c {
            '"' | '>' | '&' => '\'',
            c if is_bracket(c) => '\'',
            c if c.is_whitespace() => ' ',
            c => c,
        })
        .take(200)
        .collect();
    clean.trim().to_owned()
}

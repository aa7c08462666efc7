//! Text from outside, framed so that a model can tell it from what it is told.
//!
//! A frame is a pair of tags that the text inside cannot close: whatever looks like one of our
//! tags is made harmless, and invisible characters that a model reads are taken out. That
//! is a help for the model, not the safety: commands are never read out of anything but the
//! model's own text, and what may be called is checked elsewhere.

use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization;

/// The tag around text from outside.
pub const TAG: &str = "untrusted";

/// The tag around the result of a call; what stands in it is data.
pub const RESULT_TAG: &str = "result";

/// Tags that text from outside must neither open nor close: ours, and those that models were
/// taught to see as another speaker.
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

/// What a framed text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A message that a person sent, forwarded or quoted.
    Message,
    /// The result of a call.
    Result,
    /// What was remembered.
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

/// A text from outside in its frame. `source` says where it comes from and is from outside too.
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

/// A value from outside inside a sentence: framed like any other text, on one line if it is one.
pub fn frame_value(source: &str, text: &str) -> String {
    let framed = frame(FrameKind::Result, source, text);
    match framed.split('\n').collect::<Vec<_>>().as_slice() {
        [open, line, close] => format!("{open}{line}{close}"),
        _ => framed,
    }
}

/// A text in which nothing looks like one of our tags and nothing is unseen, and how many
/// characters were taken out.
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

/// Takes out escape sequences of terminals, control characters, and characters without a picture
/// that change what a reader or a model sees.
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

/// Skips what belongs to an escape sequence: `ESC [ … letter`, `ESC ] … BEL`, or one character.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> usize {
    let mut skipped = 0;
    let ends: fn(char) -> bool = match chars.peek() {
        Some('[') => |c| ('\u{40}'..='\u{7e}').contains(&c),
        Some(']') => |c| matches!(c, '\u{7}' | '\u{9c}' | '\\'),
        Some(c) if !c.is_control() => |_| true,
        _ => return 0,
    };
    // The bracket itself is in the range of closing letters.
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

/// Marks of direction and of zero width, tags and variation selectors: writing that cannot be
/// seen. The joiner stays where emoji need it; it hides nothing on its own.
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

/// Whether what follows a bracket reads as one of the guarded names, however it is dressed up.
fn opens_guarded(rest: &str) -> bool {
    // No name is longer, and what stands between its letters is not longer either.
    let head: String = rest.chars().take(64).collect();
    let mut name = String::new();
    for c in head.nfkd().flat_map(char::to_lowercase) {
        match plain(c) {
            Some(letter) => name.push(letter),
            // Slashes and bars before the name, and what is strewn between its letters.
            None if name.is_empty() || is_strewn(c) => {}
            None => break,
        }
    }
    GUARDED.iter().any(|tag| name.starts_with(tag))
}

fn is_strewn(c: char) -> bool {
    c.is_whitespace() || matches!(c, '_' | '-' | '\u{200d}' | '\u{0300}'..='\u{036f}')
}

/// The Latin letter that a letter looks like.
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

/// A source in quotes: one line, short, without a way out.
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

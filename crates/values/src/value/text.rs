//! Text, borrowed or shared, as Python's sequence of characters.
//!
//! Positions are counted in characters, never in bytes, unless noted.

use std::ops::Deref;
use std::rc::Rc;

/// A string that is cheap to clone.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// Borrowed text.
    Ref(&'a str),
    /// Text that an evaluation made.
    Own(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Ref(text) => text,
            Text::Own(text) => text,
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text<'_> {}

impl std::hash::Hash for Text<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<'a> Text<'a> {
    /// Returns a part of it by byte range; borrowed text stays borrowed.
    #[must_use]
    pub fn cut(&self, range: std::ops::Range<usize>) -> Text<'a> {
        match self {
            Text::Ref(text) => Text::Ref(&text[range]),
            Text::Own(text) if range.len() == text.len() => Text::Own(Rc::clone(text)),
            Text::Own(text) => Text::Own(text[range].into()),
        }
    }
}

/// Whether Python's `str` treats a character as white space: Unicode's definition and four control
/// characters.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Returns the number of characters.
pub fn char_len(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

/// Returns the byte offset of the character `at`, or the length of the text.
pub fn byte_of(text: &str, at: usize) -> usize {
    if let Some(head) = text.as_bytes().get(..at)
        && head.is_ascii()
    {
        return at;
    }
    text.char_indices()
        .nth(at)
        .map_or(text.len(), |(byte, _)| byte)
}

/// Whether Python's `repr` shows a character unescaped.
///
/// Rust escapes the same categories, but also a combining mark at the start of a text, hence the letter
/// before it.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    let mut buffer = [b'a'; 5];
    let len = c.encode_utf8(&mut buffer[1..]).len();
    match std::str::from_utf8(&buffer[..=len]) {
        Ok(pair) => pair.escape_debug().nth(1) == Some(c),
        Err(_) => false,
    }
}

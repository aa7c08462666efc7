//! Compressed text of a skill.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};

/// Size from which a text is compressed; compressing shorter texts gains nothing.
const PACK_FROM_BYTES: usize = 1024;

/// A text of a skill, cheap to clone and shared between snapshots.
///
/// Thousands of skills are loaded and few are read, so long texts are stored compressed and decompressed for
/// each reader.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(Storage);

#[derive(Clone, PartialEq, Eq)]
enum Storage {
    Plain(Arc<str>),
    Packed(Arc<[u8]>),
}

impl Text {
    /// Whether the text is empty or only white space.
    pub fn is_blank(&self) -> bool {
        self.read().trim().is_empty()
    }

    /// Returns the text, decompressed if necessary.
    pub fn read(&self) -> Cow<'_, str> {
        match &self.0 {
            Storage::Plain(text) => Cow::Borrowed(text),
            // Data compressed by this module always decompresses; the fallback spares callers an error that
            // cannot happen.
            Storage::Packed(bytes) => {
                let unpacked = decompress_size_prepended(bytes).unwrap_or_default();
                Cow::Owned(String::from_utf8(unpacked).unwrap_or_default())
            }
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        if text.len() < PACK_FROM_BYTES {
            return Self(Storage::Plain(text.into()));
        }
        Self(Storage::Packed(
            compress_prepend_size(text.as_bytes()).into(),
        ))
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::from("")
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.read(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn texts_round_trip() {
        for length in [0, 1, 1023, 1024, 5000, 300_000] {
            let text: String = "aß漢🍌 and more ".chars().cycle().take(length).collect();
            assert_eq!(Text::from(text.as_str()).read(), text);
        }
    }

    #[test]
    fn long_texts_are_packed() {
        let text = Text::from("the same again ".repeat(1000).as_str());
        assert_eq!(text, text.clone());
        assert!(matches!(&text.0, super::Storage::Packed(bytes) if bytes.len() < 1000));
    }
}

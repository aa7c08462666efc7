//! Placeholders that are replaced by content no server should send.
//!
//! A script is JSON and cannot contain such content itself.

/// The nesting depth of `"DEEP"`; parsers commonly stop at 128.
const DEPTH: usize = 1000;

/// Replaces `"DEEP"` by nested lists, `ENV(NAME)` by an environment variable, and `BADBYTE` by a byte that is
/// never valid in UTF-8.
pub(crate) fn spoil(mut text: String) -> Vec<u8> {
    if text.contains("\"DEEP\"") {
        let deep = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        text = text.replace("\"DEEP\"", &deep);
    }
    while let Some(start) = text.find("ENV(") {
        let Some(length) = text[start..].find(')') else {
            break;
        };
        let end = start + length;
        let value = std::env::var(&text[start + 4..end]).unwrap_or_default();
        text.replace_range(start..=end, &value);
    }
    let Some(at) = text.find("BADBYTE") else {
        return text.into_bytes();
    };
    let mut bytes = text.as_bytes()[..at].to_vec();
    bytes.push(0xff);
    bytes.extend(spoil(text[at + "BADBYTE".len()..].to_owned()));
    bytes
}

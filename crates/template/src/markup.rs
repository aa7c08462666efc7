//! Detection of template syntax in a text. Not here: parsing it.

/// Whether a text contains template syntax: `{{`, `{%` or `{#`.
pub fn has_markup(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'{') {
        rest = &rest[at + 1..];
        if matches!(rest.first(), Some(b'{' | b'%' | b'#')) {
            return true;
        }
    }
    false
}

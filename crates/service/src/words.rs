//! Words that several parts of the service say.

/// A count and its noun: `1 skill`, `2 skills`.
pub fn counted(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// A text with secrets by name only; none if it has no secrets.
pub fn mask_secrets(text: &str) -> Option<String> {
    deft_workflow::mask(text)
}

//! Shared helpers for texts.

/// Formats a count and its noun: `1 skill`, `2 skills`.
pub fn format_count(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// Replaces secrets in a text by their names; `None` if it has no secrets.
pub fn mask_secrets(text: &str) -> Option<String> {
    deft_workflow::mask(text)
}

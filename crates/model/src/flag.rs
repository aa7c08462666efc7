//! The flags of a man page, read from its `## Flags` section.

/// One flag of a command, as described by its line in the page (S2.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The name without the leading dashes.
    pub name: String,
    /// The description, with markers such as `(required)` kept.
    pub description: String,
    /// Whether the line contains `(required)`.
    pub required: bool,
    /// The kind of value that the flag takes.
    pub value: FlagValue,
    /// The words after `(default: …)`, in order.
    pub default: Vec<String>,
}

/// The kind of value that a flag takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// No value: the presence of the flag means true (`(boolean flag)`).
    Presence,
    /// Any text.
    Any,
    /// Dates of the form YYYY-MM-DD (`(YYYY-MM-DD)`).
    Date,
    /// One of a closed set (`One of: …`, `Sort by: …`).
    OneOf(Vec<String>),
    /// One or more of a closed set (`One or more of: …`).
    SomeOf(Vec<String>),
}

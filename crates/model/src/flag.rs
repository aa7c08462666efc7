//! The flag table of a man-page skill, read from its `## Flags` section.

/// One flag of a command, as its line of prose describes it (S2.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The name without the leading dashes.
    pub name: String,
    /// The prose of the line, with the markers left in.
    pub description: String,
    /// Whether the line says `(required)`.
    pub required: bool,
    /// What the flag takes.
    pub value: FlagValue,
    /// The words after `(default: …)`, in order.
    pub default: Vec<String>,
}

/// What a flag takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// Nothing: its presence means true (`(boolean flag)`).
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

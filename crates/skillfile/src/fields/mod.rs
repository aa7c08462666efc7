//! The field tables of all dialects. The checks, the suggestions, the JSON Schemas and the reference in
//! `docs/skill-format.md` are derived from them.

mod agent;
mod details;
mod manpage;
mod open;
mod policy;
mod record;
#[cfg(test)]
mod sample;
mod shape;
mod step_kinds;
mod steps;
mod trigger;
mod workflow;

pub(crate) use agent::AGENT;
pub(crate) use details::DETAILS;
pub(crate) use manpage::{DOMAIN, MANPAGE};
pub(crate) use open::{HOST_KEYS, METADATA, OPEN};
pub(crate) use policy::{BUDGET, EXPECT, HEAL, POLICY};
pub(crate) use record::{PLAN_STEP, RECORD};
#[cfg(test)]
pub(crate) use sample::{read_sample, sample};
pub use shape::{Shape, record_keys};
pub(crate) use step_kinds::{Content, KINDS, KindRow, keys_with, keys_with_names};
pub(crate) use steps::{STEP, WAIT};
pub(crate) use trigger::TRIGGER;
pub(crate) use workflow::{CONFIRMATION, INPUT, WORKFLOW};

/// A key that a mapping may contain.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub doc: &'static str,
    /// The limit: maximum number of characters of a text or of each text of a list, or the maximum number;
    /// durations are in seconds. The readers of descriptive and policy fields, the schema and the reference
    /// use it.
    pub most: Option<u32>,
}

pub(crate) const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        required: false,
        doc,
        most: None,
    }
}

const fn required_field(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        required: true,
        doc,
        most: None,
    }
}

/// The type of a field's value.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Truth,
    /// A text that must not be blank.
    Filled,
    /// A name that can be used in templates.
    Name,
    /// A non-negative integer.
    Count,
    /// A positive integer.
    Positive,
    Integer,
    Number,
    /// A list of strings, or texts separated by commas.
    Texts,
    /// Seconds, or text such as `1h30m`.
    Duration,
    /// A cron expression.
    Cron,
    Any,
    Object,
    List,
    /// A list of at least one value.
    Choices,
    /// A list, or a template that renders to one.
    Loop,
    /// A duration, or a mapping with `until`.
    Wait,
    /// One of these words.
    Words(&'static [&'static str]),
    /// `fail`, `continue` or `retry:N`.
    OnError,
    /// A failure class, or a list of them.
    Classes,
    /// A mapping with these fields.
    Table(&'static [&'static [Field]]),
    /// A mapping with these fields and any others; every value may be written as text.
    Open(&'static [&'static [Field]]),
    /// A list of mappings with these fields.
    Tables(&'static [&'static [Field]]),
}

/// The part of a value that the limit ([`Field::most`]) applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedPart {
    /// The length of the text.
    Text,
    /// The length of each text in the list.
    Items,
    /// The number.
    Number,
    /// The number of seconds.
    Seconds,
    /// A field of this type has no limit.
    None,
}

impl Kind {
    pub(crate) fn limited_part(&self) -> LimitedPart {
        match self {
            Self::Text | Self::Filled | Self::Name => LimitedPart::Text,
            Self::Texts => LimitedPart::Items,
            Self::Count | Self::Positive | Self::Integer | Self::Number => LimitedPart::Number,
            Self::Duration => LimitedPart::Seconds,
            Self::Truth
            | Self::Cron
            | Self::Any
            | Self::Object
            | Self::List
            | Self::Choices
            | Self::Loop
            | Self::Wait
            | Self::Words(_)
            | Self::OnError
            | Self::Classes
            | Self::Table(_)
            | Self::Open(_)
            | Self::Tables(_) => LimitedPart::None,
        }
    }
}

/// Returns whether the frontmatter of any dialect may contain this key.
pub(crate) fn is_known_key(key: &str) -> bool {
    let tables = [OPEN, METADATA, DETAILS, POLICY, TRIGGER, MANPAGE, DOMAIN];
    let named = tables
        .iter()
        .any(|table| table.iter().any(|field| field.name == key));
    named || HOST_KEYS.contains(&key)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The text of a field is a constant, so it cannot be made from the name.
    #[test]
    fn the_default_agent_has_one_name() {
        let field = POLICY.iter().find(|field| field.name == "agent_id");
        let doc = field.map(|field| field.doc).unwrap_or_default();
        assert!(doc.ends_with(&format!("default `{}`", deft_model::DEFAULT_AGENT)));
    }

    /// Every field shared by all dialects occurs in a case file.
    #[test]
    fn each_shared_field_has_a_case() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        let folders = fs::read_dir(cases).unwrap().flatten();
        let files = folders.filter_map(|folder| fs::read_dir(folder.path()).ok());
        let texts: String = files
            .flatten()
            .flatten()
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .collect();
        for field in DETAILS.iter().chain(POLICY) {
            let key = format!("{}:", field.name);
            let mut places = texts.match_indices(&key);
            let found = places.any(|(at, _)| texts[..at].ends_with([' ', '\n', '{']));
            assert!(found, "no case in tests/cases has `{key}`");
        }
    }
}

//! Every field of every dialect, once: the checks, the suggestions, the JSON
//! Schemas and the reference in `docs/skill-format.md` read these tables.

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

/// A key that a mapping may have.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub doc: &'static str,
    /// The most characters of a text or of each text of a list, or the greatest number; lengths of time are in
    /// seconds. Readers of descriptive and policy fields, the schema and the reference heed it.
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

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        required: true,
        doc,
        most: None,
    }
}

/// What a key takes.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Truth,
    /// Text that says something wherever its key is given.
    Filled,
    /// A name that templates can use.
    Name,
    /// A whole number from 0 on.
    Count,
    /// A whole number from 1 on.
    Positive,
    Integer,
    Number,
    /// A list of texts, or texts divided by commas.
    Texts,
    /// Seconds, or words such as `1h30m`.
    Duration,
    /// A cron expression.
    Cron,
    Any,
    Object,
    List,
    /// A list of at least one value.
    Choices,
    /// A list, or a template that gives one.
    Loop,
    /// A length of time, or a mapping with `until`.
    Wait,
    /// One of these words.
    Words(&'static [&'static str]),
    /// `fail`, `continue` or `retry:N`.
    OnError,
    /// A failure class, or a list of them.
    Classes,
    /// A mapping with these fields.
    Table(&'static [&'static [Field]]),
    /// A mapping with these fields and any others, in which every value may be
    /// written as text.
    Open(&'static [&'static [Field]]),
    /// A list of mappings with these fields.
    Tables(&'static [&'static [Field]]),
}

/// What the limit of a field ([`Field::most`]) holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedPart {
    /// The length of the text.
    Text,
    /// The length of each text of the list.
    Items,
    /// The number.
    Number,
    /// The number of seconds.
    Seconds,
    /// Nothing: a field of this kind has no limit.
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

/// Whether frontmatter may have this key, in any dialect.
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

    /// Every field that all dialects have is in a case.
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

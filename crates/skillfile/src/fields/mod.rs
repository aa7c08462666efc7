//! Every field of every dialect, once: the checks, the suggestions, the JSON
//! Schemas and the reference in `docs/skill-format.md` read these tables.

mod tables;

pub(crate) use tables::{
    BUDGET, CONFIRMATION, DOMAIN, EXPECT, HEAL, HOST_KEYS, INPUT, LISTED, MANPAGE, METADATA, OPEN,
    PLAN_STEP, POLICY, RECORD, STEP, TRIGGER, WORKFLOW,
};

/// A key that a mapping may have.
pub(crate) struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub doc: &'static str,
}

/// What a key takes.
pub(crate) enum Kind {
    Text,
    Truth,
    Count,
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
    /// One of these words.
    Words(&'static [&'static str]),
    /// `fail`, `continue` or `retry:N`.
    OnError,
    /// A failure class, or a list of them.
    Classes,
    /// A mapping with these fields.
    Table(&'static [&'static [Field]]),
    /// A list of mappings with these fields.
    Tables(&'static [&'static [Field]]),
}

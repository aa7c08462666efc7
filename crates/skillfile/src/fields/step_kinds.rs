//! The table of the kinds of steps, as files have them.
//!
//! The reader of steps, the rule that a step has one kind, the check of names, the JSON Schema and the
//! reference in `docs/skill-format.md` all read [`KINDS`]. A key that only some kinds have is named in their
//! rows and described in [`OWN_FIELDS`]. What a step of a kind says is read in `workflow/kinds.rs`.

use std::collections::BTreeSet;

use deft_model::{Choice, StepType};

use super::{Field, Kind, optional};

/// A kind of step.
pub(crate) struct KindRow {
    /// The kind, whose word is the key that says it.
    pub step_type: StepType,
    /// What the key takes.
    pub takes: Kind,
    /// One line for the reference and the schema.
    pub help: &'static str,
    /// How the value of the key names other values.
    pub content: Content,
    /// The names of its fields in [`OWN_FIELDS`] with their contents; they do nothing beside kinds that do not list
    /// them.
    pub own_keys: &'static [(&'static str, Content)],
    /// Keys of other steps that do nothing here.
    pub idle_keys: &'static [&'static str],
}

/// How a text names other values. The checks of names, and which steps look at the value of which, follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// In the templates in it.
    Templates,
    /// As names of a block of Python.
    Python,
    /// As names of a Python expression, in which what is not there counts as None.
    Condition,
    /// Not at all.
    Plain,
}

/// The keys with this content: those that say a kind, and the own ones of kinds.
pub(crate) fn keys_with(content: Content) -> BTreeSet<&'static str> {
    let keys = KINDS.iter().flat_map(KindRow::keys);
    keys.filter(|(_, has)| *has == content)
        .map(|(key, _)| key)
        .collect()
}

/// The keys whose values can name other values.
pub(crate) fn keys_with_names() -> BTreeSet<&'static str> {
    let keys = KINDS.iter().flat_map(KindRow::keys);
    keys.filter(|(_, has)| *has != Content::Plain)
        .map(|(key, _)| key)
        .collect()
}

/// Every kind of step, in the order of `StepType`, which is that of the reference.
pub(crate) const KINDS: &[KindRow] = &[
    KindRow {
        step_type: StepType::Tool,
        takes: Kind::Filled,
        help: "calls a tool",
        content: Content::Templates,
        own_keys: &[("args", Content::Templates)],
        idle_keys: &[],
    },
    KindRow {
        step_type: StepType::Compute,
        takes: Kind::Filled,
        help: "runs a block of Python; `result` is the value",
        content: Content::Python,
        own_keys: &[],
        idle_keys: &[],
    },
    KindRow {
        step_type: StepType::Agent,
        takes: Kind::Filled,
        help: "lets a model follow instructions",
        content: Content::Templates,
        own_keys: &[("tools", Content::Templates), ("max_steps", Content::Plain)],
        idle_keys: &[],
    },
    KindRow {
        step_type: StepType::Skill,
        takes: Kind::Filled,
        help: "runs another skill",
        content: Content::Templates,
        own_keys: &[("args", Content::Templates)],
        idle_keys: &[],
    },
    KindRow {
        step_type: StepType::Wait,
        takes: Kind::Wait,
        help: "lets time pass: `30s`, `2h`, `90d`, or `until` an instant; the run is parked and survives restarts",
        content: Content::Templates,
        own_keys: &[],
        idle_keys: &["timeout", "cache", "effects", "heal", "max_heals"],
    },
];

/// The fields that only some kinds have.
pub(super) const OWN_FIELDS: &[Field] = &[
    optional(
        "args",
        Kind::Object,
        "arguments of the tool or inputs of the skill; texts may be templates",
    ),
    optional(
        "tools",
        Kind::Texts,
        "the only tools an `agent` step may call",
    ),
    optional(
        "max_steps",
        Kind::Positive,
        "the most turns an `agent` step may take",
    ),
];

impl KindRow {
    /// The key that says it.
    pub(crate) const fn key(&self) -> &'static str {
        StepType::WORDS[self.step_type as usize].0
    }

    /// The key that says it and its own keys, with their contents.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'static str, Content)> {
        std::iter::once((self.key(), self.content)).chain(self.own_keys.iter().copied())
    }

    /// The field of a step that says it.
    pub(super) const fn field(&self) -> Field {
        Field {
            name: self.key(),
            kind: self.takes,
            required: false,
            doc: self.help,
            most: None,
        }
    }

    /// Whether a key does nothing in steps of this kind.
    pub(crate) fn ignores(&self, key: &str) -> bool {
        let owned = OWN_FIELDS.iter().any(|field| field.name == key);
        self.idle_keys.contains(&key) || owned && !self.keys().any(|(own, _)| own == key)
    }
}

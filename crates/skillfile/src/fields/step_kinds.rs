//! The table of step kinds.
//!
//! The parser of steps, the rule that a step has one kind, the check of names, the JSON Schema and the
//! reference in `docs/skill-format.md` all use [`KINDS`]. A key that only some kinds have is listed in their
//! rows and described in [`OWN_FIELDS`]. The values are parsed in `workflow/kinds.rs`.

use std::collections::BTreeSet;

use deft_model::{Choice, StepType};

use super::{Field, Kind, optional};

/// A kind of step.
pub(crate) struct KindRow {
    /// The kind; its word is the key that selects it.
    pub step_type: StepType,
    /// The type of the key's value.
    pub takes: Kind,
    /// One line for the reference and the schema.
    pub help: &'static str,
    /// How the value refers to other values.
    pub content: Content,
    /// The keys in [`OWN_FIELDS`] that this kind uses, with their contents; kinds that do not list a key
    /// ignore it.
    pub own_keys: &'static [(&'static str, Content)],
    /// Keys of steps that have no effect on this kind.
    pub idle_keys: &'static [&'static str],
}

/// How a text refers to other values. The check of names, and the detection of steps that use another step's
/// value, depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// By templates in the text.
    Templates,
    /// As names in a block of Python.
    Python,
    /// As names in a Python expression, where an undefined name evaluates to None.
    Condition,
    /// Not at all.
    Plain,
}

/// Returns the keys with this content: keys that select a kind, and keys that only some kinds have.
pub(crate) fn keys_with(content: Content) -> BTreeSet<&'static str> {
    let keys = KINDS.iter().flat_map(KindRow::keys);
    keys.filter(|(_, has)| *has == content)
        .map(|(key, _)| key)
        .collect()
}

/// Returns the keys whose values can refer to other values.
pub(crate) fn keys_with_names() -> BTreeSet<&'static str> {
    let keys = KINDS.iter().flat_map(KindRow::keys);
    keys.filter(|(_, has)| *has != Content::Plain)
        .map(|(key, _)| key)
        .collect()
}

/// Every kind of step, in the order of `StepType` and of the reference.
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
        help: "gives instructions to a model",
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
        help: "waits: `30s`, `2h`, `90d`, or `until` an instant; a waiting run survives restarts",
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
        "arguments of the tool or inputs of the skill; strings may be templates",
    ),
    optional("tools", Kind::Texts, "tools that an `agent` step may call"),
    optional(
        "max_steps",
        Kind::Positive,
        "maximum number of turns of an `agent` step",
    ),
];

impl KindRow {
    /// Returns the key that selects the kind.
    pub(crate) const fn key(&self) -> &'static str {
        StepType::WORDS[self.step_type as usize].0
    }

    /// Returns the key that selects the kind and the kind's own keys, with their contents.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'static str, Content)> {
        std::iter::once((self.key(), self.content)).chain(self.own_keys.iter().copied())
    }

    /// Returns the field for the key that selects the kind.
    pub(super) const fn field(&self) -> Field {
        Field {
            name: self.key(),
            kind: self.takes,
            required: false,
            doc: self.help,
            most: None,
        }
    }

    /// Returns whether a key has no effect on steps of this kind.
    pub(crate) fn ignores(&self, key: &str) -> bool {
        let owned = OWN_FIELDS.iter().any(|field| field.name == key);
        self.idle_keys.contains(&key) || owned && !self.keys().any(|(own, _)| own == key)
    }
}

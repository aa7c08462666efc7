//! The table of the kinds of steps, as files have them.
//!
//! The reader of steps, the rule that a step has one kind, the check of names, the JSON Schema and the
//! reference in `docs/skill-format.md` all read [`KINDS`]. A key that only some kinds have is listed
//! in their rows and described in `steps.rs`. What a step of a kind says is read in `workflow/kinds.rs`.

use std::collections::BTreeSet;

use super::{Field, Kind};

/// A kind of step.
pub(crate) struct KindRow {
    /// The key that says it, as in [`StepKind::key`](deft_model::StepKind::key).
    pub key: &'static str,
    /// What the key takes.
    pub takes: Kind,
    /// One line for the reference and the schema.
    pub help: &'static str,
    /// How the value of the key names other values.
    pub content: Content,
    /// Keys that do nothing beside kinds that do not list them.
    pub own_keys: &'static [&'static str],
    /// Keys of other steps that do nothing here.
    pub idle_keys: &'static [&'static str],
    /// What such a step does.
    pub action: StepAction,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepAction {
    Tool,
    Compute,
    Agent,
    Skill,
    Wait,
}

/// How a text names other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// In the templates in it.
    Templates,
    /// As names of Python.
    Python,
}

/// The keys of kinds with this content: those that say the kind, and its own ones.
pub(crate) fn keys_with(content: Content) -> BTreeSet<&'static str> {
    let rows = KINDS.iter().filter(|row| row.content == content);
    let keys = rows.flat_map(|row| std::iter::once(&row.key).chain(row.own_keys));
    keys.copied().collect()
}

/// Every kind of step, in the order of the reference.
pub(crate) const KINDS: &[KindRow] = &[
    KindRow {
        key: "tool",
        takes: Kind::Filled,
        help: "calls a tool",
        content: Content::Templates,
        own_keys: &["args"],
        idle_keys: &[],
        action: StepAction::Tool,
    },
    KindRow {
        key: "compute",
        takes: Kind::Filled,
        help: "runs a block of Python; `result` is the value",
        content: Content::Python,
        own_keys: &[],
        idle_keys: &[],
        action: StepAction::Compute,
    },
    KindRow {
        key: "agent",
        takes: Kind::Filled,
        help: "lets a model follow instructions",
        content: Content::Templates,
        own_keys: &["tools", "max_steps"],
        idle_keys: &[],
        action: StepAction::Agent,
    },
    KindRow {
        key: "skill",
        takes: Kind::Filled,
        help: "runs another skill",
        content: Content::Templates,
        own_keys: &["args"],
        idle_keys: &[],
        action: StepAction::Skill,
    },
    KindRow {
        key: "wait",
        takes: Kind::Wait,
        help: "lets time pass: `30s`, `2h`, `90d`, or `until` an instant; the run is parked and survives restarts",
        content: Content::Templates,
        own_keys: &[],
        idle_keys: &["timeout", "cache", "effects", "heal", "max_heals"],
        action: StepAction::Wait,
    },
];

impl KindRow {
    /// The field of a step that says it.
    pub(super) const fn field(&self) -> Field {
        Field {
            name: self.key,
            kind: self.takes,
            required: false,
            doc: self.help,
        }
    }

    /// Whether a key does nothing in steps of this kind.
    pub(crate) fn ignores(&self, key: &str) -> bool {
        let owned = KINDS.iter().any(|row| row.own_keys.contains(&key));
        self.idle_keys.contains(&key) || owned && !self.own_keys.contains(&key)
    }
}

//! Finds steps that use the value of another step.

use std::collections::{HashMap, HashSet};

use deft_model::OnError;

use super::steps::Draft;
use crate::fields::keys_with_names;
use crate::yaml::{Kind, Node};

/// Returns the keys of a step in which a value can be used.
fn keys() -> impl Iterator<Item = &'static str> {
    ["condition", "loop"].into_iter().chain(keys_with_names())
}

/// The words used in steps, collected once: comparing every step with every other would take minutes for a
/// file with thousands of steps.
pub(super) struct Mentions<'a> {
    /// The last step that contains a word below a key.
    last: HashMap<(&'static str, &'a str), usize>,
    /// The words in the outputs.
    outputs: HashSet<&'a str>,
    /// The first step with each name whose condition checks a tolerated failure.
    detectors: HashMap<&'a str, usize>,
}

impl<'a> Mentions<'a> {
    pub(super) fn gather(drafts: &'a [Draft<'a>], outputs: Option<&'a Node>) -> Self {
        let mut last = HashMap::new();
        for (at, draft) in drafts.iter().enumerate() {
            for key in keys() {
                let words = draft.map.get(key).into_iter().flat_map(words);
                last.extend(words.map(|word| ((key, word), at)));
            }
        }
        Self {
            last,
            outputs: outputs.into_iter().flat_map(words).collect(),
            detectors: detectors(drafts),
        }
    }

    /// Returns whether `key` of a later step mentions the value of the step at `at`.
    pub(super) fn is_read_later(&self, draft: &Draft<'_>, at: usize, key: &'static str) -> bool {
        let mut names = draft.names();
        names.any(|name| self.last.get(&(key, name)).is_some_and(|last| *last > at))
    }

    /// Returns whether a later step or the outputs mention the value of the step at `at`.
    pub(super) fn is_seen(&self, draft: &Draft<'_>, at: usize) -> bool {
        draft.names().any(|name| self.outputs.contains(name))
            || keys().any(|key| self.is_read_later(draft, at, key))
    }

    /// Returns whether a step is the fix or the retry of an auto-heal block (S3.21): its condition reads the
    /// value of an earlier step that checked a tolerated failure.
    pub(super) fn is_heal_block_step(&self, draft: &Draft<'_>, at: usize) -> bool {
        let condition = draft.map.get("condition").into_iter();
        condition
            .flat_map(words)
            .any(|word| self.detectors.get(word).is_some_and(|first| *first < at))
    }
}

/// Finds steps whose condition mentions a step with `on_error: continue`.
fn detectors<'a>(drafts: &'a [Draft<'a>]) -> HashMap<&'a str, usize> {
    let tolerated: HashSet<&str> = drafts
        .iter()
        .filter(|draft| draft.step.on_error == OnError::Continue)
        .flat_map(Draft::names)
        .collect();
    let mut detectors = HashMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        let mut condition = draft.map.get("condition").into_iter().flat_map(words);
        if condition.any(|word| tolerated.contains(word)) {
            for name in draft.names() {
                detectors.entry(name).or_insert(at);
            }
        }
    }
    detectors
}

/// Returns the words in all texts of a tree.
fn words(node: &Node) -> Vec<&str> {
    match &node.kind {
        Kind::Scalar(scalar) => scalar
            .text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .collect(),
        Kind::Sequence { items, .. } => items.iter().flat_map(words).collect(),
        Kind::Mapping(mapping) => {
            let values = mapping.entries.iter().map(|entry| &entry.value);
            values.flat_map(words).collect()
        }
    }
}

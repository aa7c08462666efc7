//! Builds a mapping from keys and values, within strictyaml's limits.

use std::collections::HashSet;

use super::compose::PlacedNode;
use super::{ReadResult, problem, syntax};
use crate::rules::Rule;
use crate::yaml::{Entry, Kind, Mapping, Node, Style};

/// The keys and values of a mapping that is being built.
#[derive(Default)]
pub(super) struct Pairs {
    entries: Vec<Entry>,
    /// The entries from a merge key.
    merged: Vec<Entry>,
    /// The previous keys, and whether they are merge keys.
    seen: HashSet<(String, bool)>,
    /// The start column of the mappings among the values.
    column: Option<usize>,
}

impl Pairs {
    pub(super) fn push(&mut self, key: Node, value: PlacedNode) -> ReadResult<()> {
        let key_span = key.span;
        let Kind::Scalar(key) = key.kind else {
            return Err(syntax(key_span, "a key must be text", "put it in quotes"));
        };
        let is_merge = key.text == "<<" && key.style == Style::Plain;
        if !self.seen.insert((key.text.clone(), is_merge)) {
            let message = format!("`{}` is given twice", key.text);
            let help = "keep one of them";
            return Err(problem(Rule::DuplicateKey, key_span, message, help));
        }
        if is_merge {
            self.merged = merge(value.node)?;
            return Ok(());
        }
        self.check_column(&value)?;
        self.entries.push(Entry {
            key: key.text,
            key_span,
            value: value.node,
        });
        Ok(())
    }

    /// Checks that all mappings among the values start at the same column.
    fn check_column(&mut self, value: &PlacedNode) -> ReadResult<()> {
        let is_mapping = matches!(value.node.kind, Kind::Mapping(_));
        if !is_mapping || *self.column.get_or_insert(value.column) == value.column {
            return Ok(());
        }
        Err(problem(
            Rule::UnevenIndent,
            value.node.span,
            "this mapping is indented unlike the one before it",
            "indent both by the same number of spaces",
        ))
    }

    /// Returns the mapping, with merged entries after its own. At the outermost level they are lost, as in
    /// strictyaml, which adds them too late.
    pub(super) fn finish(mut self, outermost: bool) -> Mapping {
        if !outermost {
            let seen = &mut self.seen;
            self.merged
                .retain(|entry| seen.insert((entry.key.clone(), false)));
            self.entries.append(&mut self.merged);
        }
        Mapping {
            entries: self.entries,
            flow: false,
        }
    }
}

fn merge(value: Node) -> ReadResult<Vec<Entry>> {
    let not_mapping = |span| {
        let help = "put the `<<` in quotes if it is meant literally";
        Err(syntax(span, "`<<` takes a mapping", help))
    };
    match value.kind {
        Kind::Mapping(mapping) => Ok(mapping.entries),
        Kind::Scalar(_) => not_mapping(value.span),
        Kind::Sequence { items, .. } => {
            let mut entries = Vec::new();
            for item in items {
                match item.kind {
                    Kind::Mapping(mapping) => entries.extend(mapping.entries),
                    Kind::Scalar(_) | Kind::Sequence { .. } => return not_mapping(item.span),
                }
            }
            Ok(entries)
        }
    }
}

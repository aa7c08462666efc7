//! Names, attributes and items in templates, where a missing value is a value of its own.
//!
//! For mappings, `a.b` and `a["b"]` mean the same. Reading from a missing value gives a missing value again,
//! so that one `default(…)` covers a whole path.

use std::ops::Range;
use std::rc::Rc;

use deft_values::budget::Budget;
use deft_values::{Fault, Outcome};
use deft_values::{MissingReason, MissingValue, Value, index};

use super::Renderer;
use super::node::{Node, NodeKind};
use crate::scope::{Lookup, Member};

impl<'a> Renderer<'a> {
    pub(super) fn name(&self, name: &'a str, span: &Range<usize>) -> Value<'a> {
        self.note_read(name, None);
        let local = self.locals.iter().rev().find(|local| local.name == name);
        if let Some(local) = local {
            return local.value.clone();
        }
        let why = match self.slots.get(name, self.scope) {
            Lookup::Value(json) => return Value::from_json(json),
            Lookup::Absent => MissingReason::Absent,
            Lookup::Unknown if name == "secrets" => return Value::Secrets,
            Lookup::Unknown => MissingReason::Unknown,
        };
        missing_member(name.to_owned(), why, Some(span))
    }

    /// Whether the name of a function is neither bound nor defined by the scope.
    pub(super) fn is_free(&self, name: &'a str) -> bool {
        let local = self.locals.iter().any(|local| local.name == name);
        !local && matches!(self.slots.get(name, self.scope), Lookup::Unknown)
    }

    pub(super) fn attribute(
        &self,
        value: &Value<'a>,
        name: &str,
        node: &'a Node,
    ) -> Outcome<Value<'a>> {
        match value {
            Value::Secrets => return Ok(self.secret(name, node)),
            Value::Secret(_) => return Err(Fault::secret()),
            Value::Undefined(before) => {
                return Ok(missing_member(
                    node.path(),
                    before.why,
                    before.span.as_ref(),
                ));
            }
            _ => {}
        }
        let found = field(value, name);
        match self.member(node, name) {
            Member::Absent => {
                return Ok(missing_member(
                    node.path(),
                    MissingReason::Absent,
                    Some(&node.span),
                ));
            }
            Member::Itself if found.is_none() => return Ok(value.clone()),
            Member::Itself | Member::Held => {}
        }
        Ok(found.unwrap_or_else(|| {
            missing_member(node.path(), MissingReason::Member, Some(&node.span))
        }))
    }

    pub(super) fn item(
        &self,
        value: &Value<'a>,
        at: &Value<'a>,
        node: &'a Node,
    ) -> Outcome<Value<'a>> {
        at.usable()?;
        match (value, at) {
            (Value::Secrets, Value::Str(name)) => return Ok(self.secret(name, node)),
            (Value::Secret(_) | Value::Secrets, _) => return Err(Fault::secret()),
            (Value::Undefined(before), _) => {
                return Ok(missing_member(
                    node.path(),
                    before.why,
                    before.span.as_ref(),
                ));
            }
            _ => {}
        }
        if let Value::Str(name) = at
            && self.member(node, name) == Member::Absent
        {
            return Ok(missing_member(
                node.path(),
                MissingReason::Absent,
                Some(&node.span),
            ));
        }
        let found = entry(value, at, &self.budget)?;
        Ok(found.unwrap_or_else(|| {
            missing_member(node.path(), MissingReason::Member, Some(&node.span))
        }))
    }

    /// Returns how the scope defines the member that a node reads.
    fn member(&self, node: &Node, member: &str) -> Member {
        let (NodeKind::Attr(owner, _) | NodeKind::Item(owner, _)) = &node.kind else {
            return Member::Held;
        };
        match &owner.kind {
            NodeKind::Name(owner) if !self.locals.iter().any(|local| local.name == owner) => {
                self.scope.member(owner, member)
            }
            _ => Member::Held,
        }
    }

    fn secret(&self, name: &str, node: &Node) -> Value<'a> {
        match self.scope.secret(name) {
            Some(placeholder) => Value::Secret(Rc::new((name.to_owned(), placeholder))),
            None => missing_member(name.to_owned(), MissingReason::Secret, Some(&node.span)),
        }
    }
}

pub(super) fn missing_member<'a>(
    path: String,
    why: MissingReason,
    span: Option<&Range<usize>>,
) -> Value<'a> {
    Value::Undefined(Rc::new(MissingValue {
        path,
        why,
        span: span.cloned(),
    }))
}

/// Returns an attribute of a value, or `None` if it has none with this name.
pub(super) fn field<'a>(value: &Value<'a>, name: &str) -> Option<Value<'a>> {
    match (value, name) {
        (Value::Dict(dict), _) => dict.field(name),
        // The pairs of `groupby` have names for their parts.
        (Value::Tuple(pair), "grouper") if pair.len() == 2 => pair.get(0),
        (Value::Tuple(pair), "list") if pair.len() == 2 => pair.get(1),
        (Value::List(seq) | Value::Tuple(seq), _) => seq.get(name.parse().ok()?),
        _ => None,
    }
}

/// Returns an item of a value, or `None` if the index or key does not exist.
fn entry<'a>(value: &Value<'a>, at: &Value<'a>, budget: &Budget) -> Outcome<Option<Value<'a>>> {
    match (value, at) {
        (Value::Dict(dict), _) => dict.get(at),
        (_, Value::Str(name)) => Ok(field(value, name)),
        _ => Ok(index::item(value, at, budget).ok()),
    }
}

/// Follows a dotted path, for filters such as `map(attribute="a.b")`.
pub(super) fn path<'a>(value: &Value<'a>, path: &str) -> Outcome<Value<'a>> {
    let mut found = value.clone();
    for part in path.split('.') {
        found.usable()?;
        found = match field(&found, part) {
            Some(found) => found,
            None => return Ok(missing_member(path.to_owned(), MissingReason::Member, None)),
        };
    }
    Ok(found)
}

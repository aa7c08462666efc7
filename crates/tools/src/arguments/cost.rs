//! Decides whether arguments can be validated against a schema in bounded time and stack.
//!
//! A schema comes from a server. If its references form a cycle or a long chain, or double at every
//! step, the validator would run forever or overflow its stack, which ends the whole process.
//!
//! Not here: the validation itself.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

/// The maximum number of schemas that apply to one value.
const MAX_APPLIED: u64 = 10_000;
/// The maximum depth of nested schemas for one value.
const MAX_DEPTH: usize = 64;
/// The maximum number of distinct references: each can make compilation recurse deeper.
const MAX_REFERENCES: usize = 200;

/// The cost of validating against a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    Bounded,
    /// The schema has a reference out of itself, so its cost is unknown.
    Unknown,
    /// The schema must not be used, for this reason.
    TooHigh(&'static str),
}

/// Returns the cost of a schema.
pub(super) fn cost(schema: &Value) -> Cost {
    let mut references = BTreeSet::new();
    if !collect(schema, &mut references) {
        return Cost::Unknown;
    }
    if references.len() > MAX_REFERENCES {
        return Cost::TooHigh("it has too many references");
    }
    let mut count = Count {
        root: schema,
        known: HashMap::new(),
    };
    let roots = references.iter().filter_map(|place| schema.pointer(place));
    // Schemas that no reference names are counted at their own position.
    for place in std::iter::once(schema).chain(roots) {
        if let Err(problem) = count.count_all(place) {
            return Cost::TooHigh(problem);
        }
    }
    Cost::Bounded
}

/// Collects the JSON pointers of all references; returns false if a reference leaves the schema.
fn collect(schema: &Value, places: &mut BTreeSet<String>) -> bool {
    match schema {
        Value::Object(fields) => {
            let elsewhere = ["$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor"];
            let identified = fields.contains_key("$id") && fields.contains_key("$ref");
            if identified || elsewhere.iter().any(|key| fields.contains_key(*key)) {
                return false;
            }
            if let Some(Value::String(reference)) = fields.get("$ref") {
                match place(reference) {
                    Some(place) => places.insert(place),
                    None => return false,
                };
            }
            fields.values().all(|field| collect(field, places))
        }
        Value::Array(items) => items.iter().all(|item| collect(item, places)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Returns the JSON pointer of a reference into the schema.
fn place(reference: &str) -> Option<String> {
    let place = reference.strip_prefix('#')?;
    (place.is_empty() || place.starts_with('/')).then(|| place.replace("%25", "%"))
}

/// Counts how many schemas apply to one value, once per schema.
struct Count<'a> {
    root: &'a Value,
    /// Counts by address; `None` while a schema is being counted.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'a> Count<'a> {
    /// Counts a schema and all schemas inside it.
    fn count_all(&mut self, schema: &'a Value) -> Result<(), &'static str> {
        match schema {
            Value::Object(fields) => {
                self.count_applied(schema, 0)?;
                fields.values().try_for_each(|field| self.count_all(field))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.count_all(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    /// Returns how many schemas apply to a value that this schema applies to.
    fn count_applied(&mut self, schema: &'a Value, depth: usize) -> Result<u64, &'static str> {
        let Value::Object(fields) = schema else {
            return Ok(1);
        };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => return Err("a reference in it leads back to itself"),
            None if depth > MAX_DEPTH => return Err("references in it form too long a chain"),
            None => self.known.insert(schema, None),
        };
        let mut count = 1_u64;
        for (keyword, value) in fields {
            let parts: Vec<&'a Value> = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => place(reference)
                    .and_then(|place| self.root.pointer(&place))
                    .into_iter()
                    .collect(),
                ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => items.iter().collect(),
                ("not" | "if" | "then" | "else", part) => vec![part],
                ("dependentSchemas" | "dependencies", Value::Object(parts)) => {
                    parts.values().collect()
                }
                _ => Vec::new(),
            };
            for part in parts {
                count = count.saturating_add(self.count_applied(part, depth + 1)?);
            }
        }
        if count > MAX_APPLIED {
            return Err("too many schemas in it apply to one value");
        }
        self.known.insert(schema, Some(count));
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ordinary_schemas_are_bounded() {
        let tree = json!({"type": "object", "properties": {"children": {
            "type": "array", "items": {"$ref": "#"}}}});
        let parts = json!({"$defs": {"a": {"type": "string"}}, "properties": {
            "x": {"$ref": "#/$defs/a"}, "y": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}});
        for schema in [tree, parts, json!({"type": "object"}), json!({})] {
            assert_eq!(cost(&schema), Cost::Bounded, "{schema}");
        }
        let elsewhere = json!({"properties": {"x": {"$ref": "https://example.com/x"}}});
        assert_eq!(cost(&elsewhere), Cost::Unknown);
    }

    #[test]
    fn recursive_and_exploding_schemas_are_not_bounded() {
        for circle in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {
                "a": {"not": {"$ref": "#/$defs/b"}}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        ] {
            let expected = Cost::TooHigh("a reference in it leads back to itself");
            assert_eq!(cost(&circle), expected, "{circle}");
        }
        let chain = |count: usize, link: fn(usize) -> Value| {
            let mut parts: serde_json::Map<String, Value> =
                (0..count).map(|n| (format!("d{n}"), link(n + 1))).collect();
            parts.insert(format!("d{count}"), json!({"type": "string"}));
            json!({"$ref": "#/$defs/d0", "$defs": parts})
        };
        let one = |n: usize| json!({"$ref": format!("#/$defs/d{n}")});
        let two = |n: usize| {
            let next = format!("#/$defs/d{n}");
            json!({"allOf": [{"$ref": next}, {"$ref": next}]})
        };
        assert_eq!(cost(&chain(20, one)), Cost::Bounded);
        for (schema, reason) in [
            (chain(150, one), "references in it form too long a chain"),
            (chain(5000, one), "it has too many references"),
            (chain(25, two), "too many schemas in it apply to one value"),
        ] {
            assert_eq!(cost(&schema), Cost::TooHigh(reason));
        }
    }
}

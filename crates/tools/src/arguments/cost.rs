//! Whether arguments can be held against a schema in bounded time and stack.
//!
//! A schema comes from a server. One in which references lead back to
//! themselves, form a long chain or double at every step would keep the
//! validator busy for ever or overflow its stack, which ends the whole process.
//!
//! Not here: what the schema says.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

/// How many schemas may apply to one value.
const MOST_APPLIED: u64 = 10_000;
/// How many of them may be nested in one another.
const DEEPEST: usize = 64;
/// How many different references there may be: each can make compiling go deeper.
const MOST_REFERENCES: usize = 200;

/// What can be done with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    Bounded,
    /// It refers to something that is not found here, so that nothing can be said about it.
    Unknown,
    /// It must not be used; this is why.
    TooHigh(&'static str),
}

/// Judges a schema.
pub(super) fn cost(schema: &Value) -> Cost {
    let mut references = BTreeSet::new();
    if !collect(schema, &mut references) {
        return Cost::Unknown;
    }
    if references.len() > MOST_REFERENCES {
        return Cost::TooHigh("it has too many references");
    }
    let mut count = Count {
        root: schema,
        known: HashMap::new(),
    };
    let roots = references.iter().filter_map(|place| schema.pointer(place));
    // Whatever is not referred to is counted where it stands.
    for place in std::iter::once(schema).chain(roots) {
        if let Err(problem) = count.everywhere(place) {
            return Cost::TooHigh(problem);
        }
    }
    Cost::Bounded
}

/// Gathers the places that references lead to; false if one leads elsewhere than into the schema.
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

/// The place inside of the schema that a reference names.
fn place(reference: &str) -> Option<String> {
    let place = reference.strip_prefix('#')?;
    (place.is_empty() || place.starts_with('/')).then(|| place.replace("%25", "%"))
}

/// Counts how many schemas apply to one value, for each schema once.
struct Count<'a> {
    root: &'a Value,
    /// By address; nothing while a schema is being counted.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'a> Count<'a> {
    /// Counts a schema and all that stand inside of it.
    fn everywhere(&mut self, schema: &'a Value) -> Result<(), &'static str> {
        match schema {
            Value::Object(fields) => {
                self.applied(schema, 0)?;
                fields.values().try_for_each(|field| self.everywhere(field))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.everywhere(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    /// How many schemas apply to a value that this one applies to.
    fn applied(&mut self, schema: &'a Value, depth: usize) -> Result<u64, &'static str> {
        let Value::Object(fields) = schema else {
            return Ok(1);
        };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => return Err("a reference in it leads back to itself"),
            None if depth > DEEPEST => return Err("references in it form too long a chain"),
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
                count = count.saturating_add(self.applied(part, depth + 1)?);
            }
        }
        if count > MOST_APPLIED {
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
    fn circles_chains_and_explosions_are_not() {
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

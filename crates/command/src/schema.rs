//! Casts the flags of a command by the JSON Schema of the tool that receives them.
//!
//! On a command line every value is a string; the tool's schema decides what it becomes. A value stays
//! a string wherever the tool accepts strings or has no type.
//!
//! Not here: full validation. Lengths, patterns and required arguments are checked where the tool is
//! called; this module reports only problems that can be expressed in terms of flags.

use deft_model::Object;
use serde_json::{Number, Value};

use crate::flags::{alike, truth};
use crate::problem::{Problem, ProblemKind};
use crate::validate::{invalid_type, text};

/// Converts flags to the arguments of a tool, or returns all problems.
pub fn cast_by_schema(flags: Object, schema: &Value) -> Result<Object, Vec<Problem>> {
    let schema = Schema {
        root: schema,
        here: schema,
        inner: false,
    };
    let mut arguments = Object::new();
    let mut problems = Vec::new();
    for (flag, value) in flags {
        match schema.property(&flag) {
            Some((name, property)) => match property.cast(&flag, value) {
                Ok(value) => {
                    arguments.insert(name.to_owned(), value);
                }
                Err(problem) => problems.push(problem),
            },
            None if schema.is_closed() => {
                let known = schema.names();
                problems.push(ProblemKind::UnknownFlag { flag, known }.into());
            }
            None => {
                arguments.insert(flag, value);
            }
        }
    }
    if problems.is_empty() {
        Ok(arguments)
    } else {
        Err(problems)
    }
}

/// The JSON types, in the order in which a string is tried as each.
const TYPES: [&str; 7] = [
    "string", "integer", "number", "boolean", "array", "object", "null",
];

/// The maximum number of references and branches to follow; a schema may refer to itself.
const MAX_REFERENCES: usize = 64;

/// A subschema of the schema of a tool.
#[derive(Clone, Copy)]
struct Schema<'s> {
    root: &'s Value,
    here: &'s Value,
    /// Whether this is the schema of list items. A nested list is passed to the tool unchanged, so that
    /// a schema that refers to itself does not recurse forever.
    inner: bool,
}

impl<'s> Schema<'s> {
    fn at_value(self, here: &'s Value) -> Self {
        Self { here, ..self }
    }

    fn properties(self) -> Option<&'s Object> {
        self.follow_reference().here.get("properties")?.as_object()
    }

    fn names(self) -> Vec<String> {
        let names = self.properties().into_iter().flat_map(Object::keys);
        names.cloned().collect()
    }

    fn is_closed(self) -> bool {
        self.follow_reference().here.get("additionalProperties") == Some(&Value::Bool(false))
    }

    /// Returns the property for a flag: `--due-before` is `due_before`.
    fn property(self, flag: &str) -> Option<(&'s str, Self)> {
        let properties = self.properties()?;
        let found = properties
            .get_key_value(flag)
            .or_else(|| properties.iter().find(|(name, _)| alike(name, flag)));
        found.map(|(name, schema)| (name.as_str(), self.at_value(schema)))
    }

    /// Follows `$ref` within the tool's schema. A dangling reference becomes null, which accepts any
    /// value.
    fn follow_reference(self) -> Self {
        let mut schema = self;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = schema.here.get("$ref").and_then(Value::as_str) else {
                break;
            };
            let target = reference.strip_prefix('#');
            schema.here = target
                .and_then(|path| schema.root.pointer(path))
                .unwrap_or(&Value::Null);
        }
        schema
    }

    /// Returns the branches of `anyOf` and `oneOf`, or the schema itself.
    fn branches(self) -> Vec<Self> {
        let mut waiting = vec![self];
        let mut found = Vec::new();
        for _ in 0..MAX_REFERENCES {
            let Some(schema) = waiting.pop().map(Self::follow_reference) else {
                break;
            };
            match schema.alternatives() {
                Some(branches) => {
                    let branches = branches.iter().rev().take(MAX_REFERENCES);
                    waiting.extend(branches.map(|branch| schema.at_value(branch)));
                }
                None => found.push(schema),
            }
        }
        found
    }

    fn alternatives(self) -> Option<&'s Vec<Value>> {
        let branches = |word: &str| self.here.get(word)?.as_array();
        let any = branches("anyOf").or_else(|| branches("oneOf"));
        // Generators use `allOf` with one reference to put a description beside it.
        any.or_else(|| branches("allOf").filter(|all| all.len() == 1))
    }

    /// Casts `value` by the first branch that accepts it; the first problem if none does.
    fn cast(self, flag: &str, value: Value) -> Result<Value, Problem> {
        if self.inner && (value.is_array() || value.is_object()) {
            return Ok(value);
        }
        let mut branches = self.branches();
        // Branches that accept strings come first, so that a string stays unchanged where possible.
        branches.sort_by_key(|branch| !branch.takes_texts());
        let mut first = None;
        for branch in branches {
            match branch.cast_here(flag, &value) {
                Ok(value) => return Ok(value),
                Err(problem) => first = first.or(Some(problem)),
            }
        }
        first.map_or(Ok(value), Err)
    }

    fn cast_here(self, flag: &str, value: &Value) -> Result<Value, Problem> {
        let types = self.types();
        if types.is_empty() {
            return self.one_of(flag, value.clone());
        }
        if let Value::Array(values) = value
            && !types.contains(&"array")
        {
            let values = values.iter().map(text).collect();
            let flag = flag.to_owned();
            return Err(ProblemKind::TooManyValues { flag, values }.into());
        }
        let cast = types
            .iter()
            .find_map(|kind| self.cast_to(kind, flag, value).transpose());
        match cast {
            Some(value) => self.one_of(flag, value?),
            // A flag without a value is `true`.
            None if *value == Value::Bool(true) => {
                let flag = flag.to_owned();
                Err(ProblemKind::MissingValue { flag }.into())
            }
            None => Err(invalid_type(flag, value, &types.join(" or "))),
        }
    }

    /// Parses the value as this type; `None` if it cannot be.
    fn cast_to(self, kind: &str, flag: &str, value: &Value) -> Result<Option<Value>, Problem> {
        if has_type(value, kind) && kind != "array" {
            return Ok(Some(value.clone()));
        }
        if kind == "array" && !self.inner {
            return self.cast_to_list(flag, value);
        }
        let Value::String(text) = value else {
            let number = value.is_number() && kind == "string";
            return Ok(number.then(|| Value::from(value.to_string())));
        };
        let text = text.trim();
        Ok(match kind {
            "integer" => integer(text),
            "number" => number(text),
            "boolean" => truth(text).map(Value::Bool),
            "object" => serde_json::from_str(text).ok().filter(Value::is_object),
            "null" => (text == "null").then_some(Value::Null),
            _ => None,
        })
    }

    /// Casts to a list: each item of a list, the items of a JSON text, or one value as a list of one.
    fn cast_to_list(self, flag: &str, value: &Value) -> Result<Option<Value>, Problem> {
        let values = match value {
            Value::Bool(true) => return Ok(None),
            Value::Array(values) => values.clone(),
            Value::String(text) if text.trim_start().starts_with('[') => {
                serde_json::from_str(text).unwrap_or_else(|_| vec![value.clone()])
            }
            single @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)) => vec![single.clone()],
        };
        let Some(items) = self.here.get("items") else {
            return Ok(Some(Value::Array(values)));
        };
        let items = Self {
            inner: true,
            ..self.at_value(items)
        };
        let cast = values.into_iter().map(|value| items.cast(flag, value));
        let cast: Vec<Result<Value, Problem>> = cast.collect();
        together(cast).map(|values| Some(Value::Array(values)))
    }

    fn one_of(self, flag: &str, value: Value) -> Result<Value, Problem> {
        let Some(allowed) = self.allowed_values() else {
            return Ok(value);
        };
        // Without a type, `5` may be the string or the number, whichever is listed.
        let is = |listed: &&&Value| **listed == &value || text(listed) == text(&value);
        match allowed.iter().find(is) {
            Some(listed) => Ok((*listed).clone()),
            None => Err(ProblemKind::InvalidValue {
                flag: flag.to_owned(),
                value: text(&value),
                allowed: allowed.into_iter().map(text).collect(),
            }
            .into()),
        }
    }

    fn allowed_values(self) -> Option<Vec<&'s Value>> {
        if let Some(only) = self.here.get("const") {
            return Some(vec![only]);
        }
        Some(self.here.get("enum")?.as_array()?.iter().collect())
    }

    /// Returns the types that the schema names; empty if it names none.
    fn types(self) -> Vec<&'static str> {
        let named = self.here.get("type");
        let accepted = |kind: &&&str| match named {
            Some(Value::String(only)) => only == **kind,
            Some(Value::Array(several)) => several.iter().any(|one| one == **kind),
            _ => false,
        };
        TYPES.iter().filter(accepted).copied().collect()
    }

    fn takes_texts(self) -> bool {
        let types = self.types();
        types.is_empty() || types.contains(&"string")
    }
}

/// Returns all values, or one problem for the whole list: values outside a closed set are reported
/// together.
fn together(cast: Vec<Result<Value, Problem>>) -> Result<Vec<Value>, Problem> {
    let single = cast.len() == 1;
    let mut outside: Vec<String> = Vec::new();
    let mut set = None;
    let mut values = Vec::new();
    for result in cast {
        match result.map_err(|problem| problem.kind) {
            Ok(value) => values.push(value),
            Err(ProblemKind::InvalidValue {
                flag,
                value,
                allowed,
            }) if !single => {
                outside.push(value);
                set = set.or(Some((flag, allowed)));
            }
            Err(other) => return Err(other.into()),
        }
    }
    match set {
        Some((flag, allowed)) => Err(ProblemKind::InvalidValues {
            flag,
            values: outside,
            allowed,
        }
        .into()),
        None => Ok(values),
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || (kind == "integer" && !number.is_f64()),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

fn integer(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Value::from))
}

fn number(text: &str) -> Option<Value> {
    integer(text).or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}

//! Conversion of JSON Schema to the subset that Gemini reads. Gemini refuses a request with an unknown
//! keyword, so keywords without a counterpart are left out; deft checks arguments against the full schema
//! anyway.

use serde_json::{Map, Value, json};

/// Maximum number of schemas in the output. References can make a small schema a large one.
const MAX_PARTS: usize = 2000;

/// Keywords with the same meaning in both formats.
const COMMON_KEYWORDS: [&str; 10] = [
    "title",
    "description",
    "nullable",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
];

/// Returns the parameters of a tool, or `None` if it has none, because Gemini refuses an object without
/// fields.
pub(super) fn parameters(schema: &Value) -> Option<Value> {
    let mut writer = Writer {
        root: schema,
        inside: vec!["#".to_owned()],
        left: MAX_PARTS,
    };
    let mut out = writer.convert(schema);
    let fields = out["properties"]
        .as_object()
        .is_some_and(|fields| !fields.is_empty());
    fields.then(|| {
        out["type"] = "object".into();
        out
    })
}

struct Writer<'a> {
    root: &'a Value,
    /// The references being followed; a reference to one of them is not followed again.
    inside: Vec<String>,
    left: usize,
}

impl Writer<'_> {
    fn convert(&mut self, schema: &Value) -> Value {
        let depth = self.inside.len();
        let schema = self.join_parts(schema);
        let mut out = Map::new();
        for key in COMMON_KEYWORDS {
            if let Some(value) = schema.get(key) {
                out.insert(key.to_owned(), value.clone());
            }
        }
        kind(&schema, &mut out);
        choices(&schema, &mut out);
        let either = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        if let Some(either) = either.and_then(Value::as_array) {
            self.alternatives(either, &mut out);
        }
        if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
            self.properties(fields, &schema, &mut out);
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            out.insert("items".to_owned(), self.convert(items));
        } else if out.get("type").is_some_and(|kind| kind == "array") {
            out.insert("items".to_owned(), json!({"type": "string"}));
        }
        if !out.contains_key("type") && !out.contains_key("anyOf") {
            out.insert("type".to_owned(), "string".into());
        }
        self.inside.truncate(depth);
        Value::Object(out)
    }

    /// Returns a schema with its reference resolved and its parts (`allOf`) merged.
    fn join_parts(&mut self, schema: &Value) -> Map<String, Value> {
        let root = self.root;
        let mut out = schema.as_object().cloned().unwrap_or_default();
        let reference = out.remove("$ref");
        let all = out.remove("allOf");
        let mut parts: Vec<&Value> = Vec::new();
        if let Some(Value::String(place)) = reference {
            if self.left == 0 || self.inside.contains(&place) {
                return circle(out);
            }
            parts.extend(
                place
                    .strip_prefix('#')
                    .and_then(|place| root.pointer(place)),
            );
            self.inside.push(place);
        }
        parts.extend(all.as_ref().and_then(Value::as_array).into_iter().flatten());
        self.left = self.left.saturating_sub(1);
        for part in parts {
            for (key, value) in self.join_parts(part) {
                merge_field(&mut out, key, value);
            }
        }
        out
    }

    fn alternatives(&mut self, either: &[Value], out: &mut Map<String, Value>) {
        let is_null = |schema: &&Value| schema["type"] == "null";
        if either.iter().any(|schema| is_null(&schema)) {
            out.insert("nullable".to_owned(), true.into());
        }
        let left = either.iter().filter(|schema| !is_null(schema));
        let left: Vec<Value> = left.map(|schema| self.convert(schema)).collect();
        match <[Value; 1]>::try_from(left) {
            Ok([Value::Object(only)]) => out.extend(only),
            Ok(_) => {}
            Err(left) => {
                out.insert("anyOf".to_owned(), left.into());
            }
        }
    }

    fn properties(
        &mut self,
        fields: &Map<String, Value>,
        schema: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) {
        let each = fields
            .iter()
            .map(|(name, field)| (name.clone(), self.convert(field)));
        let converted: Map<String, Value> = each.collect();
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<Value> = required
            .into_iter()
            .flatten()
            .filter(|name| name.as_str().is_some_and(|name| fields.contains_key(name)))
            .cloned()
            .collect();
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into());
        }
        if !converted.is_empty() {
            out.insert("properties".to_owned(), converted.into());
        }
    }
}

/// Returns the replacement for a schema that would contain itself.
fn circle(mut schema: Map<String, Value>) -> Map<String, Value> {
    schema.insert("type".to_owned(), "object".into());
    schema
}

fn merge_field(out: &mut Map<String, Value>, key: String, value: Value) {
    match (out.get_mut(&key), value) {
        (Some(Value::Object(there)), Value::Object(more)) => there.extend(more),
        (Some(Value::Array(there)), Value::Array(more)) => there.extend(more),
        (Some(_), _) => {}
        (None, value) => {
            out.insert(key, value);
        }
    }
}

/// Sets the single type, and whether null is allowed.
fn kind(schema: &Map<String, Value>, out: &mut Map<String, Value>) {
    match schema.get("type") {
        Some(Value::String(kind)) => {
            out.insert("type".to_owned(), kind.as_str().into());
        }
        Some(Value::Array(kinds)) => {
            if kinds.iter().any(|kind| kind == "null") {
                out.insert("nullable".to_owned(), true.into());
            }
            let mut others = kinds.iter().filter(|kind| *kind != "null");
            match (others.next(), others.next()) {
                (Some(kind), None) => {
                    out.insert("type".to_owned(), kind.clone());
                }
                (Some(_), Some(_)) => {
                    let each = kinds.iter().filter(|kind| *kind != "null");
                    let each = each.map(|kind| json!({"type": kind}));
                    out.insert("anyOf".to_owned(), each.collect());
                }
                _ => {}
            }
        }
        _ if schema.contains_key("properties") => {
            out.insert("type".to_owned(), "object".into());
        }
        _ => {}
    }
}

/// Sets the allowed values. Gemini only allows texts.
fn choices(schema: &Map<String, Value>, out: &mut Map<String, Value>) {
    let listed = schema.get("enum").and_then(Value::as_array).cloned();
    let single = schema.get("const").map(|value| vec![value.clone()]);
    let Some(values) = listed.or(single) else {
        return;
    };
    let texts: Vec<Value> = values
        .iter()
        .filter(|value| value.is_string())
        .cloned()
        .collect();
    if values.iter().any(Value::is_null) {
        out.insert("nullable".to_owned(), true.into());
    }
    let others = values.iter().filter(|value| !value.is_null()).count();
    if !texts.is_empty() && texts.len() == others {
        out.insert("type".to_owned(), "string".into());
        out.insert("enum".to_owned(), texts.into());
    }
}

//! JSON Schemas, generated from the field tables.

use deft_model::{Choice, FailureClass, Object};
use serde_json::{Value, json};

use crate::fields::{
    AGENT, DETAILS, Field, KINDS, Kind, KindRow, LimitedPart, OPEN, POLICY, RECORD, WAIT, WORKFLOW,
};
use crate::names::KEYWORDS;

/// A name that templates and conditions can use.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// Words for true and false, ignoring case.
const TRUTH: &str =
    "[Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff]";

/// The subject of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// The frontmatter of a `SKILL.md`.
    Skill,
    /// A YAML workflow.
    Workflow,
    /// A record.
    Record,
    /// The frontmatter of an `AGENT.md`.
    Agent,
}

/// Returns a JSON Schema of draft 7, which YAML editors support. It accepts what deft accepts without a
/// diagnostic. Rules that only deft can check, such as whether a cron expression ever fires, are not
/// included.
pub fn schema(what: Schema) -> Value {
    let (title, tables): (&str, &[&[Field]]) = match what {
        Schema::Skill => ("Frontmatter of a SKILL.md", &[OPEN]),
        Schema::Workflow => ("deft workflow", &[WORKFLOW, DETAILS, POLICY]),
        Schema::Record => ("deft skill record", &[RECORD, DETAILS, POLICY]),
        Schema::Agent => ("Frontmatter of an AGENT.md", &[AGENT]),
    };
    let mut schema = table(tables, false);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!(title);
    if what == Schema::Skill {
        // Other hosts add keys of their own to the open format, and the index of a domain has no name (X10).
        schema["additionalProperties"] = json!(true);
        schema["required"] = json!(["description"]);
        schema["anyOf"] = json!([{"required": ["name"]}, {"required": ["domain"]}]);
    }
    schema
}

fn table(tables: &[&[Field]], open: bool) -> Value {
    let fields = || tables.iter().flat_map(|table| table.iter());
    let has = |key: &str| fields().any(|field| field.name == key);
    let property = |field: &Field| (field.name.to_owned(), property(field, open));
    let properties: Object = fields().map(property).collect();
    let required = fields().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": open,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if KINDS.iter().all(|row| has(row.key())) {
        let one = |row: &KindRow| json!({"required": [row.key()]});
        schema["oneOf"] = KINDS.iter().map(one).collect();
    }
    schema
}

/// Returns the schema of a field. A key without a value counts as absent. Below `metadata` every value may be
/// written as text, as the open format requires.
fn property(field: &Field, text: bool) -> Value {
    let mut forms = kind(&field.kind, field.required);
    if let Some(most) = field.most {
        limit(&field.kind, &mut forms, most);
    }
    if !field.required && !matches!(field.kind, Kind::Filled) {
        forms.push(json!({"type": "null"}));
    }
    // A field with a limit already has a form for text, with the limit.
    if text && field.most.is_none() {
        forms.push(json!({"type": "string"}));
    }
    let mut property = either(forms);
    property["description"] = json!(field.doc);
    property
}

/// Combines alternative forms; `null` as the second form is merged into the type.
fn either(mut forms: Vec<Value>) -> Value {
    match forms.as_mut_slice() {
        [only] => only.take(),
        [one, nothing] if nothing["type"] == "null" && one["type"].is_string() => {
            one["type"] = json!([one["type"], "null"]);
            one.take()
        }
        [one, nothing] if nothing["type"] == "null" && one["type"].is_array() => {
            let types = one["type"].as_array_mut();
            types
                .into_iter()
                .for_each(|types| types.push(json!("null")));
            one.take()
        }
        _ => json!({"anyOf": forms}),
    }
}

/// Returns the forms in which a value can be written.
fn kind(kind: &Kind, required: bool) -> Vec<Value> {
    let scalar = json!(["string", "number", "boolean"]);
    let texts = json!(["string", "number", "boolean", "null"]);
    match kind {
        Kind::Text if !required => vec![json!({"type": scalar})],
        Kind::Text | Kind::Filled => {
            vec![json!({"type": scalar, "minLength": 1, "pattern": r"\S"})]
        }
        Kind::Name => vec![json!({"type": "string", "pattern": NAME, "not": {"enum": KEYWORDS}})],
        Kind::Cron => vec![json!({"type": "string", "minLength": 1, "examples": ["0 8 * * 1-5"]})],
        Kind::Truth => vec![json!({"type": "boolean"}), quoted_schema(TRUTH)],
        Kind::Count => vec![
            json!({"type": "integer", "minimum": 0}),
            quoted_schema(r"\+?[0-9]+"),
        ],
        Kind::Positive => vec![
            json!({"type": "integer", "minimum": 1}),
            quoted_schema(r"\+?0*[1-9][0-9]*"),
        ],
        Kind::Integer => vec![json!({"type": "integer"}), quoted_schema("[+-]?[0-9]+")],
        Kind::Number => vec![
            json!({"type": "number", "minimum": 0}),
            quoted_schema(r"\+?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?"),
        ],
        Kind::Texts => vec![
            json!({"type": "array", "items": {"type": texts}}),
            json!({"type": scalar}),
        ],
        Kind::Duration => vec![
            json!({"type": "number", "exclusiveMinimum": 0, "examples": [30]}),
            json!({"type": "string", "minLength": 1, "examples": ["1h30m"]}),
        ],
        Kind::Any => vec![json!({})],
        Kind::Object => vec![json!({"type": "object"})],
        Kind::List => vec![json!({"type": "array"})],
        Kind::Choices => vec![json!({"type": "array", "minItems": 1})],
        Kind::Loop => vec![
            json!({"type": ["array", "object"]}),
            json!({"type": "string", "pattern": r"\{[{%]"}),
        ],
        Kind::Wait => vec![
            json!({"type": "number", "exclusiveMinimum": 0, "examples": [30]}),
            json!({"type": "string", "minLength": 1, "examples": ["2h"]}),
            table(&[WAIT], false),
        ],
        Kind::Words(words) => vec![json!({"enum": words})],
        Kind::OnError => vec![quoted_schema(
            "(fail|continue|retry: *0*([1-9][0-9]?|100))?",
        )],
        Kind::Classes => classes(),
        Kind::Open(tables) => {
            let mut open = table(tables, true);
            open["type"] = json!(["object", "string"]);
            open["pattern"] = json!(r"^\s*\{");
            vec![open]
        }
        Kind::Table(tables) => vec![
            table(tables, false),
            json!({"type": "string", "pattern": r"^\s*\{"}),
        ],
        Kind::Tables(tables) => {
            let mut list = json!({"type": "array", "items": table(tables, false)});
            if required {
                list["minItems"] = json!(1);
            }
            vec![list]
        }
    }
}

/// Adds the limit of a field to the form that it applies to.
fn limit(kind: &Kind, forms: &mut [Value], most: u32) {
    let Some(form) = forms.first_mut() else {
        return;
    };
    match kind.limited_part() {
        LimitedPart::Text => form["maxLength"] = json!(most),
        LimitedPart::Items => form["items"]["maxLength"] = json!(most),
        LimitedPart::Number | LimitedPart::Seconds => form["maximum"] = json!(most),
        LimitedPart::None => {}
    }
}

/// Returns a schema for a value in quotes, possibly with surrounding white space.
fn quoted_schema(pattern: &str) -> Value {
    json!({"type": "string", "pattern": format!(r"^\s*({pattern})\s*$")})
}

/// Returns the forms of failure classes: one, several separated by commas, or a list.
fn classes() -> Vec<Value> {
    let classes: Vec<&str> = FailureClass::WORDS.iter().map(|(word, _)| *word).collect();
    let one = format!("({})", classes.join("|"));
    vec![
        quoted_schema(&format!(r"{one}(\s*,\s*{one})*")),
        json!({"type": "array", "minItems": 1, "items": {"enum": classes}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::optional;

    #[test]
    fn limits_are_in_schemas() {
        let limited = |kind| {
            let field = Field {
                most: Some(80),
                ..optional("it", kind, "help")
            };
            property(&field, true)
        };
        let text = limited(Kind::Text);
        assert_eq!(text["maxLength"], 80, "{text}");
        let texts = limited(Kind::Texts);
        assert_eq!(texts["anyOf"][0]["items"]["maxLength"], 80, "{texts}");
        for kind in [Kind::Count, Kind::Duration] {
            let number = limited(kind);
            assert_eq!(number["anyOf"][0]["maximum"], 80, "{number}");
        }
    }
}

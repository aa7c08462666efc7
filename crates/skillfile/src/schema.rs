//! JSON Schemas and the field reference, from the tables of fields.

use deft_model::{Choice, FailureClass, Object};
use serde_json::{Value, json};

use crate::fields::{
    AGENT, BUDGET, CONFIRMATION, DETAILS, DOMAIN, EXPECT, Field, HEAL, INPUT, KINDS, Kind, KindRow,
    MANPAGE, METADATA, OPEN, PLAN_STEP, POLICY, RECORD, STEP, TRIGGER, WAIT, WORKFLOW,
};
use crate::names::KEYWORDS;

/// A name that templates and conditions can use.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// Words for true and false, in whatever case.
const TRUTH: &str =
    "[Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff]";

/// What a schema describes.
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

/// A JSON Schema of draft 7, which is what YAML editors understand. It takes
/// what deft takes without a word; what only deft can tell, such as whether a
/// cron expression ever fires, is left to deft.
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
        // Other hosts have keys of their own beside those of the open format,
        // and the index of a domain has no name (X10).
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

/// The schema of a field. A key without a value counts as absent, and below
/// `metadata` every value may be written as text, as the open format has it.
fn property(field: &Field, text: bool) -> Value {
    let mut forms = kind(&field.kind, field.required);
    if !field.required && !matches!(field.kind, Kind::Filled) {
        forms.push(json!({"type": "null"}));
    }
    if text {
        forms.push(json!({"type": "string"}));
    }
    let mut property = either(forms);
    property["description"] = json!(field.doc);
    property
}

/// One of several forms; nothing as a second one is said in the type itself.
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

/// The ways to write a value.
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
        Kind::Truth => vec![json!({"type": "boolean"}), quoted(TRUTH)],
        Kind::Count => vec![
            json!({"type": "integer", "minimum": 0}),
            quoted(r"\+?[0-9]+"),
        ],
        Kind::Positive => vec![
            json!({"type": "integer", "minimum": 1}),
            quoted(r"\+?0*[1-9][0-9]*"),
        ],
        Kind::Integer => vec![json!({"type": "integer"}), quoted("[+-]?[0-9]+")],
        Kind::Number => vec![
            json!({"type": "number", "minimum": 0}),
            quoted(r"\+?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?"),
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
        Kind::OnError => vec![quoted("(fail|continue|retry: *0*([1-9][0-9]?|100))?")],
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

/// A value that may stand in quotes, with white space around it.
fn quoted(pattern: &str) -> Value {
    json!({"type": "string", "pattern": format!(r"^\s*({pattern})\s*$")})
}

/// A failure class, several divided by commas, or a list of them.
fn classes() -> Vec<Value> {
    let classes: Vec<&str> = FailureClass::WORDS.iter().map(|(word, _)| *word).collect();
    let one = format!("({})", classes.join("|"));
    vec![
        quoted(&format!(r"{one}(\s*,\s*{one})*")),
        json!({"type": "array", "minItems": 1, "items": {"enum": classes}}),
    ]
}

/// The reference of all fields, as markdown for `docs/skill-format.md`.
pub fn field_reference() -> String {
    let tables: [(&str, &[Field]); 16] = [
        ("`SKILL.md`, frontmatter", OPEN),
        ("`SKILL.md`, below `metadata`", METADATA),
        ("Domain index, frontmatter", DOMAIN),
        ("Man page, frontmatter", MANPAGE),
        ("Workflow", WORKFLOW),
        ("Workflow, an item of `inputs`", INPUT),
        ("Workflow, an item of `steps`", STEP),
        ("Workflow, an item of `confirmations`", CONFIRMATION),
        ("Record", RECORD),
        ("Record, an item of `execution_plan`", PLAN_STEP),
        ("`trigger_config`", TRIGGER),
        ("For listings, in every dialect", DETAILS),
        ("How a skill may run, in every dialect", POLICY),
        ("An item of `heal`", HEAL),
        ("`expect`", EXPECT),
        ("`budget`", BUDGET),
    ];
    reference(&tables)
}

/// The reference of the fields of an agent, as markdown for `docs/agents.md`.
pub fn agent_reference() -> String {
    reference(&[("`AGENT.md`, frontmatter", AGENT), ("`budget`", BUDGET)])
}

fn reference(tables: &[(&str, &[Field])]) -> String {
    let mut out = String::new();
    for (title, fields) in tables {
        out.push_str(&format!(
            "### {title}\n\n| key | takes | what it is |\n| --- | --- | --- |\n"
        ));
        for field in *fields {
            let needed = if field.required { ", required" } else { "" };
            let takes = takes(&field.kind);
            out.push_str(&format!(
                "| `{}` | {takes}{needed} | {} |\n",
                field.name, field.doc
            ));
        }
        out.push('\n');
    }
    out
}

fn takes(kind: &Kind) -> String {
    match kind {
        Kind::Text | Kind::Filled | Kind::OnError => "text".to_owned(),
        Kind::Name => "name".to_owned(),
        Kind::Truth => "`true`, `false`".to_owned(),
        Kind::Count => "whole number".to_owned(),
        Kind::Positive => "whole number from 1 on".to_owned(),
        Kind::Integer => "whole number, also negative".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Duration => "length of time".to_owned(),
        Kind::Cron => "cron expression".to_owned(),
        Kind::Any => "anything".to_owned(),
        Kind::Object | Kind::Open(_) | Kind::Table(_) => "mapping".to_owned(),
        Kind::List | Kind::Choices => "list".to_owned(),
        Kind::Wait => "length of time, or a mapping with `until`".to_owned(),
        Kind::Loop => "list or mapping, or a template".to_owned(),
        Kind::Tables(_) => "list of mappings".to_owned(),
        Kind::Classes => "failure class, or a list of them".to_owned(),
        Kind::Words(words) => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

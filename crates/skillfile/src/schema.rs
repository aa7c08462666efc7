//! JSON Schemas and the field reference, from the tables of fields.

use deft_model::{Choice, FailureClass, Object};
use serde_json::{Value, json};

use crate::fields::{
    BUDGET, CONFIRMATION, DOMAIN, EXPECT, Field, HEAL, INPUT, Kind, LISTED, MANPAGE, METADATA,
    OPEN, PLAN_STEP, POLICY, RECORD, STEP, TRIGGER, WORKFLOW,
};

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// The frontmatter of a `SKILL.md`.
    Skill,
    /// A YAML workflow.
    Workflow,
    /// A record.
    Record,
}

/// A JSON Schema of draft 7, which is what YAML editors understand.
pub fn schema(what: Schema) -> Value {
    let (title, tables, open): (&str, &[&[Field]], bool) = match what {
        Schema::Skill => ("Frontmatter of a SKILL.md", &[OPEN], true),
        Schema::Workflow => ("deft workflow", &[WORKFLOW, LISTED, POLICY], false),
        Schema::Record => ("deft skill record", &[RECORD, LISTED, POLICY], false),
    };
    let mut schema = table(tables, open);
    if let Some(object) = schema.as_object_mut() {
        object.insert(
            "$schema".to_owned(),
            json!("http://json-schema.org/draft-07/schema#"),
        );
        object.insert("title".to_owned(), json!(title));
    }
    schema
}

fn table(tables: &[&[Field]], open: bool) -> Value {
    let fields = || tables.iter().flat_map(|table| table.iter());
    let property = |field: &Field| {
        let mut property = kind(&field.kind);
        if let Some(object) = property.as_object_mut() {
            object.insert("description".to_owned(), json!(field.doc));
        }
        (field.name.to_owned(), property)
    };
    let properties: Object = fields().map(property).collect();
    let required: Vec<&str> = fields()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !open {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

fn kind(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({"type": ["string", "number", "boolean"]}),
        Kind::Cron => json!({"type": "string", "examples": ["0 8 * * 1-5"]}),
        Kind::Truth => json!({"type": "boolean"}),
        Kind::Count => json!({"type": "integer", "minimum": 0}),
        Kind::Integer => json!({"type": "integer"}),
        Kind::Number => json!({"type": "number"}),
        Kind::Texts => {
            json!({"type": ["array", "string"], "items": {"type": ["string", "number"]}})
        }
        Kind::Duration => json!({"type": ["number", "string"], "examples": [30, "1h30m"]}),
        Kind::Any => json!({}),
        Kind::Object => json!({"type": "object"}),
        Kind::List => json!({"type": "array"}),
        Kind::Words(words) => json!({"enum": words}),
        Kind::OnError => {
            json!({"type": "string", "pattern": "^(fail|continue|retry:[1-9][0-9]?|retry:100)$"})
        }
        Kind::Classes => {
            let classes: Vec<&str> = FailureClass::WORDS.iter().map(|(word, _)| *word).collect();
            json!({"anyOf": [{"enum": classes}, {"type": "array", "items": {"enum": classes}}]})
        }
        Kind::Table(tables) => table(tables, is_open(tables)),
        Kind::Tables(tables) => json!({"type": "array", "items": table(tables, false)}),
    }
}

/// `metadata` may hold anything besides what deft reads.
fn is_open(tables: &[&[Field]]) -> bool {
    tables.iter().any(|table| std::ptr::eq(*table, METADATA))
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
        ("For listings, in every dialect", LISTED),
        ("How a skill may run, in every dialect", POLICY),
        ("An item of `heal`", HEAL),
        ("`expect`", EXPECT),
        ("`budget`", BUDGET),
    ];
    let mut out = String::new();
    for (title, fields) in tables {
        out.push_str(&format!(
            "### {title}\n\n| key | takes | what it is |\n| --- | --- | --- |\n"
        ));
        for field in fields {
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
        Kind::Text | Kind::OnError => "text".to_owned(),
        Kind::Truth => "`true`, `false`".to_owned(),
        Kind::Count => "whole number".to_owned(),
        Kind::Integer => "whole number, also negative".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Duration => "length of time".to_owned(),
        Kind::Cron => "cron expression".to_owned(),
        Kind::Any => "anything".to_owned(),
        Kind::Object | Kind::Table(_) => "mapping".to_owned(),
        Kind::List => "list".to_owned(),
        Kind::Tables(_) => "list of mappings".to_owned(),
        Kind::Classes => "failure class, or a list of them".to_owned(),
        Kind::Words(words) => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

//! The field reference as Markdown, generated from the field tables.

use crate::fields::{
    AGENT, BUDGET, CONFIRMATION, DETAILS, DOMAIN, EXPECT, Field, HEAL, INPUT, Kind, LimitedPart,
    MANPAGE, METADATA, OPEN, PLAN_STEP, POLICY, RECORD, STEP, TRIGGER, WORKFLOW,
};

/// Returns the reference of all fields, as Markdown for `docs/skill-format.md`.
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

/// Returns the reference of the fields of an agent, as Markdown for `docs/agents.md`.
pub fn agent_reference() -> String {
    reference(&[("`AGENT.md`, frontmatter", AGENT), ("`budget`", BUDGET)])
}

fn reference(tables: &[(&str, &[Field])]) -> String {
    let mut out = String::new();
    for (title, fields) in tables {
        out.push_str(&format!(
            "### {title}\n\n| key | type | description |\n| --- | --- | --- |\n"
        ));
        for field in *fields {
            let needed = if field.required { ", required" } else { "" };
            let takes = takes(&field.kind);
            let limit = field
                .most
                .map(|most| format!(", at most {most}{}", unit(&field.kind)));
            let limit = limit.unwrap_or_default();
            out.push_str(&format!(
                "| `{}` | {takes}{limit}{needed} | {} |\n",
                field.name, field.doc
            ));
        }
        out.push('\n');
    }
    out
}

/// Returns the unit of a field's limit.
fn unit(kind: &Kind) -> &'static str {
    match kind.limited_part() {
        LimitedPart::Text => " characters",
        LimitedPart::Items => " characters each",
        LimitedPart::Seconds => " seconds",
        LimitedPart::Number | LimitedPart::None => "",
    }
}

fn takes(kind: &Kind) -> String {
    match kind {
        Kind::Text | Kind::Filled | Kind::OnError => "text".to_owned(),
        Kind::Name => "name".to_owned(),
        Kind::Truth => "`true`, `false`".to_owned(),
        Kind::Count => "whole number".to_owned(),
        Kind::Positive => "whole number of at least 1".to_owned(),
        Kind::Integer => "whole number, also negative".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Texts => "list of strings".to_owned(),
        Kind::Duration => "duration".to_owned(),
        Kind::Cron => "cron expression".to_owned(),
        Kind::Any => "anything".to_owned(),
        Kind::Object | Kind::Open(_) | Kind::Table(_) => "mapping".to_owned(),
        Kind::List | Kind::Choices => "list".to_owned(),
        Kind::Wait => "duration, or a mapping with `until`".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::optional;

    #[test]
    fn limits_are_in_the_reference() {
        let takes = |kind| {
            let field = Field {
                most: Some(80),
                ..optional("it", kind, "help")
            };
            let page = reference(&[("table", &[field])]);
            let row = page.lines().find(|line| line.starts_with("| `it`"));
            row.map(str::to_owned)
        };
        let row = |takes: &str| Some(format!("| `it` | {takes} | help |"));
        assert_eq!(takes(Kind::Text), row("text, at most 80 characters"));
        assert_eq!(
            takes(Kind::Texts),
            row("list of strings, at most 80 characters each")
        );
        assert_eq!(takes(Kind::Count), row("whole number, at most 80"));
        assert_eq!(takes(Kind::Duration), row("duration, at most 80 seconds"));
    }
}

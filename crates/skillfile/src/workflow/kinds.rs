//! Parsing of step kinds: one parser for each row of the table of kinds ([`KINDS`]).

use deft_model::{StepKind, StepType};

use super::wait;
use crate::compute;
use crate::diagnostic::Sink;
use crate::fields::{KINDS, KindRow};
use crate::read::Fields;
use crate::rules::Rule;
use crate::span::Span;

/// Parses the kind of a step.
pub(super) fn read(
    id: &str,
    fields: &Fields<'_>,
    place: Span,
    sink: &mut Sink,
) -> Option<StepKind> {
    let given = |row: &&KindRow| fields.map.get(row.key()).is_some();
    let given: Vec<&KindRow> = KINDS.iter().filter(given).collect();
    match given.as_slice() {
        [one] => read_as(one, id, fields, sink),
        [] => {
            let message = format!("the step `{id}` does nothing");
            sink.report(Rule::StepAction, place, message)
                .help(format!("add one of {}", list_kinds()));
            None
        }
        [first, second, ..] => {
            let entry = fields.map.entry(second.key());
            let span = entry.map_or(place, |entry| entry.key_span);
            let (first, second) = (first.key(), second.key());
            let message = format!("the step `{id}` has both `{first}` and `{second}`");
            sink.report(Rule::StepAction, span, message)
                .help("make two steps of it");
            None
        }
    }
}

fn read_as(row: &KindRow, id: &str, fields: &Fields<'_>, sink: &mut Sink) -> Option<StepKind> {
    match row.step_type {
        StepType::Tool => tool(row, id, fields, sink),
        StepType::Compute => python(row, id, fields, sink),
        StepType::Agent => agent(row, id, fields, sink),
        StepType::Skill => skill(row, id, fields, sink),
        StepType::Wait => pause(row, fields, sink),
    }
}

/// Lists the keys of all kinds, for a message.
fn list_kinds() -> String {
    let keys: Vec<String> = KINDS.iter().map(|row| format!("`{}`", row.key())).collect();
    match keys.split_last() {
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

fn tool(row: &KindRow, id: &str, fields: &Fields<'_>, sink: &mut Sink) -> Option<StepKind> {
    let tool = read_kind_text(row, id, fields, sink)?;
    let args = fields.mapping_value("args");
    Some(StepKind::Tool { tool, args })
}

fn skill(row: &KindRow, id: &str, fields: &Fields<'_>, sink: &mut Sink) -> Option<StepKind> {
    let skill = read_kind_text(row, id, fields, sink)?;
    let args = fields.mapping_value("args");
    Some(StepKind::Skill { skill, args })
}

fn agent(row: &KindRow, id: &str, fields: &Fields<'_>, sink: &mut Sink) -> Option<StepKind> {
    Some(StepKind::Agent {
        instructions: read_kind_text(row, id, fields, sink)?,
        tools: fields.texts("tools", sink),
        max_steps: fields.positive("max_steps", sink),
    })
}

fn python(row: &KindRow, id: &str, fields: &Fields<'_>, sink: &mut Sink) -> Option<StepKind> {
    let node = fields.node(row.key())?;
    if node.as_mapping().is_some() {
        let message = "`compute` takes a block of Python, not a mapping";
        sink.report(Rule::WrongType, node.span, message)
            .help("write `compute: |` and the code on the next lines, such as `result = {…}`");
        return None;
    }
    let code = read_kind_text(row, id, fields, sink)?;
    compute::check(node, fields.file, sink);
    Some(StepKind::Compute { code })
}

fn pause(row: &KindRow, fields: &Fields<'_>, sink: &mut Sink) -> Option<StepKind> {
    check_keys(row, fields, sink);
    wait::read(fields, sink).map(StepKind::Wait)
}

/// Returns the text of a kind's key, and checks the other keys.
fn read_kind_text(row: &KindRow, id: &str, fields: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    let Some(text) = fields.filled_text(row.key(), sink) else {
        let entry = fields.map.entry(row.key());
        if let Some(entry) = entry.filter(|entry| entry.value.as_scalar().is_some()) {
            let message = format!("`{}` of the step `{id}` is empty", row.key());
            sink.report(Rule::StepAction, entry.key_span, message);
        }
        return None;
    };
    check_keys(row, fields, sink);
    Some(text)
}

/// Reports keys that only have an effect together with another one.
fn check_keys(row: &KindRow, fields: &Fields<'_>, sink: &mut Sink) {
    let looped = fields.node("loop").is_some();
    for entry in &fields.map.entries {
        let key = entry.key.as_str();
        let message = match key {
            "loop_var" | "loop_concurrency" if !looped => {
                format!("`{key}` without `loop` does nothing")
            }
            _ if row.ignores(key) => format!("`{key}` does nothing in `{}` steps", row.key()),
            _ => continue,
        };
        sink.report(Rule::InvalidValue, entry.key_span, message);
    }
    if let Some(node) = fields.node("args")
        && node.as_mapping().is_none()
    {
        fields.wrong::<()>("args", node, "a mapping", sink);
    }
}

#[cfg(test)]
mod tests {
    use deft_model::Choice;

    use super::*;
    use crate::fields::{STEP, sample};
    use crate::severity::Severity;
    use crate::yaml;

    fn read_text(text: &str) -> Option<StepKind> {
        let root = yaml::parse(text, 0).unwrap().unwrap();
        let fields = Fields {
            map: root.as_mapping().unwrap(),
            file: text,
            severity: Severity::Error,
        };
        read("it", &fields, Span::NONE, &mut Sink::default())
    }

    /// S3.3: every kind has a row. A step with all keys in the row parses, renders exactly these keys, and
    /// parses to the same step again.
    #[test]
    fn rows_and_kinds_agree() {
        let rows: Vec<StepType> = KINDS.iter().map(|row| row.step_type).collect();
        let kinds: Vec<StepType> = StepType::WORDS.iter().map(|(_, kind)| *kind).collect();
        assert_eq!(rows, kinds);
        for row in KINDS {
            let keys: Vec<&str> = row.keys().map(|(key, _)| key).collect();
            let field = |key: &&str| STEP.iter().find(|field| field.name == *key).unwrap();
            let line = |key: &&str| format!("{key}: {}\n", sample(field(key)));
            let text: String = keys.iter().map(line).collect();
            let kind = read_text(&text).unwrap();
            assert_eq!(kind.step_type(), row.step_type);
            let written = kind.entries();
            let again: String = written
                .iter()
                .map(|(key, value)| format!("{key}: {value}\n"))
                .collect();
            assert_eq!(
                written.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
                keys
            );
            assert_eq!(read_text(&again).unwrap(), kind);
        }
    }
}

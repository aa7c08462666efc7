//! `deft run NAME --help`: the inputs of the skill as flags.

use std::ffi::OsString;

use deft_service::skills::SkillCatalog;
use deft_wire::skill::{SkillHead, SkillView};
use deft_wire::skill_body::{FlagTakes, FlagView, InputView, SkillBody};

use crate::args::{self, Global};
use crate::output::Output;
use crate::table::{Column, Row, Table, TableStyle};
use crate::terminal::Stream;

/// Returns the help page if `words` are `deft run NAME --help` for a known skill, otherwise `None`.
pub(crate) fn page(words: &[OsString], global: &Global) -> Option<String> {
    let name = args::skill_to_explain(words)?;
    // Help never changes anything and never fails: for an unknown skill, the help of `deft run` is shown.
    let workspace = global.workspace();
    let skill = SkillCatalog::open(&workspace).ok()?.show(&name).ok()?.skill;
    let SkillView::File(skill) = skill else {
        return None;
    };
    let rows = match skill.details.as_ref()?.body.as_ref()? {
        SkillBody::Workflow { inputs, .. } => inputs.iter().map(input_row).collect(),
        SkillBody::Manual { flags, .. } => flags.iter().map(flag_row).collect(),
        SkillBody::Call { .. } | SkillBody::Text { .. } => Vec::new(),
    };
    let SkillHead {
        id, description, ..
    } = &skill.head;
    let description = description.as_deref().unwrap_or_default();
    let mut text = format!("{description}\n\nUsage: deft run {id}");
    if rows.is_empty() {
        text.push_str(" [OPTIONS]\n\nIt takes no inputs.\n");
    } else {
        let columns = [Column::keep("input"), Column::text("description")];
        let table = Table::new(columns, rows).headless();
        let width = Stream::Out
            .is_terminal()
            .then(crate::output::terminal_width)
            .flatten();
        let color = false;
        let table = table.print(TableStyle { width, color });
        text.push_str(&format!(
            " [INPUTS] [OPTIONS]\n\nInputs:\n{}",
            table.as_str()
        ));
    }
    text.push_str("\n`deft run --help` lists the options of every run.\n");
    Some(text)
}

/// Prints the help page.
pub(crate) fn print(page: &str, output: &Output) -> std::process::ExitCode {
    match output.data(page) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(failure) => output.fail(&failure),
    }
}

fn input_row(input: &InputView) -> Row {
    let mut facts = vec![input.description.clone().unwrap_or_default()];
    if input.required && input.default.is_none() {
        facts.push("[required]".to_owned());
    }
    if let Some(default) = &input.default {
        facts.push(format!("[default: {default}]"));
    }
    if !input.choices.is_empty() {
        let choices: Vec<String> = input.choices.iter().map(ToString::to_string).collect();
        facts.push(format!("[one of: {}]", choices.join(", ")));
    }
    let flag = format!("  --{} <{}>", input.name, input.kind);
    Row::new([flag.into(), facts.join(" ").trim_start().into()])
}

fn flag_row(flag: &FlagView) -> Row {
    let mut facts = vec![flag.description.clone()];
    if flag.required {
        facts.push("[required]".to_owned());
    }
    if !flag.default.is_empty() {
        facts.push(format!("[default: {}]", flag.default.join(", ")));
    }
    if let Some(values) = &flag.values {
        facts.push(format!("[one of: {}]", values.join(", ")));
    }
    let takes = match flag.takes {
        FlagTakes::Nothing => "",
        FlagTakes::Text | FlagTakes::One => " <text>",
        FlagTakes::Date => " <date>",
        FlagTakes::Some => " <text>…",
    };
    let name = flag.name.trim_start_matches('-');
    Row::new([format!("  --{name}{takes}").into(), facts.join(" ").into()])
}

//! `deft schedule simulate`.

use std::process::ExitCode;

use deft_service::schedule::{SimulationRequest, SimulationResult, simulate};
use deft_wire::schedule::SimulatedSlot;

use crate::args::{Global, Simulate};
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::table::{Column, Row, Table};

pub(super) fn run(args: &Simulate, global: &Global, output: &Output) -> Done {
    let request = SimulationRequest {
        from: args.from.clone(),
        to: args.to.clone(),
        down: args.down.clone(),
        skills: args.skills.clone(),
    };
    let result = simulate(&global.workspace_of(&args.roots), &request)?;
    if output.json {
        output.document(&result.view)?;
        return Ok(ExitCode::SUCCESS);
    }
    let slots = &result.view.rows;
    if !slots.is_empty() {
        output.page();
        let columns = [
            Column::keep("at"),
            Column::keep("skill"),
            Column::keep("what"),
            Column::extra("slot"),
            Column::text("why"),
        ];
        output.table(&Table::new(columns, slots.iter().map(row)))?;
    }
    output.note(&summary(&result));
    Ok(ExitCode::SUCCESS)
}

fn row(slot: &SimulatedSlot) -> Row {
    let slots = match &slot.until {
        Some(until) => format!("{} to {until} ({})", slot.slot, slot.count),
        // A slot on time needs no note.
        None if slot.slot == slot.at => String::new(),
        None => slot.slot.clone(),
    };
    Row::new([
        slot.at.as_str().into(),
        slot.skill.as_str().into(),
        slot.what.as_str().into(),
        slots.into(),
        slot.reason.as_deref().unwrap_or_default().into(),
    ])
}

fn summary(result: &SimulationResult) -> String {
    let slots = result.view.slots.iter();
    let parts: Vec<String> = slots
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    let mut text = if parts.is_empty() {
        "no slots".to_owned()
    } else {
        format!("slots: {}", parts.join(", "))
    };
    if result.disabled > 0 {
        let skills = format_count(result.disabled, "disabled skill");
        text.push_str(&format!("; {skills} left out"));
    }
    text
}

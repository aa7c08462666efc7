//! `deft schedule simulate`.

use std::process::ExitCode;

use deft_service::schedule::{SimulationRequest, SimulationResult, simulate};
use deft_wire::schedule::SimulatedSlot;

use crate::args::{Global, Simulate};
use crate::failure::Done;
use crate::output::{Output, counted, table};

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
        let head = ["AT", "SKILL", "WHAT", "SLOT", "WHY"]
            .map(str::to_owned)
            .to_vec();
        let lines = std::iter::once(head).chain(slots.iter().map(row));
        output.data(table(&lines.collect::<Vec<_>>(), output.width()))?;
    }
    output.note(&summary(&result));
    Ok(ExitCode::SUCCESS)
}

fn row(slot: &SimulatedSlot) -> Vec<String> {
    let slots = match &slot.until {
        Some(until) => format!("{} to {until} ({})", slot.slot, slot.count),
        None => slot.slot.clone(),
    };
    vec![
        slot.at.clone(),
        slot.skill.clone(),
        slot.what.clone(),
        slots,
        slot.reason.clone().unwrap_or_default(),
    ]
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
        let skills = counted(result.disabled, "disabled skill");
        text.push_str(&format!("; {skills} left out"));
    }
    text
}

//! `deft` without a subcommand: the state of the home, and suggested commands.
use std::process::ExitCode;

use deft_service::status::StatusReader;
use deft_wire::status::StatusView;

use super::status;
use crate::args::Global;
use crate::failure::Done;
use crate::output::Output;

/// The number of suggested commands.
const SUGGESTED: usize = 3;

pub(crate) fn run(global: &Global, output: &Output) -> Done {
    let mut reader = StatusReader::open(&global.workspace())?;
    let view = reader.read()?;
    if output.json {
        output.document(&view)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !view.home_exists {
        let home = &view.home;
        output.data(format!(
            "no home at {home} yet\n\n{}",
            list_suggestions(&NO_HOME)
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = status::text(&view, reader.zone(), output).with("\n");
    output.data(text.with(list_suggestions(&suggestions(&view))))?;
    Ok(ExitCode::SUCCESS)
}

/// A command and its description.
type Suggestion = (&'static str, &'static str);

const NO_HOME: [Suggestion; SUGGESTED] = [
    ("deft setup", "set up a model, skills and schedules"),
    ("deft init", "only create the home, with default skills"),
    ("deft --help", "all commands"),
];

/// Returns the most useful commands for the current state, the most urgent first.
fn suggestions(view: &StatusView) -> Vec<Suggestion> {
    let urgent: [(bool, Suggestion); 6] = [
        (
            !view.approvals.is_empty(),
            ("deft status --watch", "answer the pending approvals"),
        ),
        (
            view.broken > 0,
            ("deft skills doctor", "broken files and the reasons"),
        ),
        (
            !view.failed.is_empty(),
            (
                "deft runs list",
                "failed runs; `deft runs show ID` shows why",
            ),
        ),
        (
            view.models == 0,
            ("deft setup", "choose a model, import skills and servers"),
        ),
        (
            view.skills == 0,
            ("deft skills new my-skill", "write a first skill"),
        ),
        (
            !view.daemon.running,
            ("deft up", "start the daemon, which runs schedules"),
        ),
    ];
    let urgent = urgent.into_iter().filter(|(holds, _)| *holds);
    let usual = [
        ("deft remind drink water in 5m", "set a reminder"),
        ("deft chat", "talk to the assistant"),
        ("deft skills list", "all skills"),
    ];
    let all = urgent.map(|(_, suggestion)| suggestion).chain(usual);
    all.take(SUGGESTED).collect()
}

fn list_suggestions(suggestions: &[Suggestion]) -> String {
    let line = |(command, purpose): &Suggestion| format!("  {command:<31} {purpose}\n");
    suggestions.iter().map(line).collect()
}

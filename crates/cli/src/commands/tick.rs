//! `deft tick`: runs due schedules and queued jobs once, without a daemon, and resumes interrupted runs.

use std::process::ExitCode;

use serde_json::json;

use crate::args::{Global, Tick};
use crate::failure::Done;
use crate::output::{Output, format_count};
use deft_service::tick::{self, EnabledSkill, TickReport};
use deft_service::{App, time};
use deft_wire::run::RunView;

pub(crate) fn run(args: &Tick, global: &Global, output: &Output) -> Done {
    let home = global.workspace().home()?;
    let app = App::standing(&global.workspace())?;
    let at = match &args.now {
        Some(text) => Some(time::parse_instant(text, &app.zone)?),
        None => None,
    };
    if let Some(at) = at.filter(|at| tick::is_ahead(*at)) {
        let until = time::show(at, &app.zone);
        output.note(&format!(
            "warning: slots up to {until} are now marked as handled; they will not run again at their real time"
        ));
    }
    let report = tick::tick(&app, &home, at)?;
    if output.json {
        output.document(&json!(report.view()))?;
    } else if report.is_empty() {
        output.note("nothing to run");
    } else {
        output.prose(text(&report, &app))?;
    }
    app.close();
    Ok(ExitCode::from(u8::from(report.has_failures())))
}

fn text(report: &TickReport, app: &App) -> String {
    let fired = report.fired.iter().map(|run| {
        let outcome = run
            .outcome
            .map_or_else(|| run.status.to_string(), |outcome| outcome.to_string());
        let line = format!("{outcome:<12} {}  {}", run.skill, slot(run, app));
        line.trim_end().to_owned()
    });
    let passed = report.passed.iter().map(|run| {
        let outcome = run.outcome.map_or(String::new(), |o| o.to_string());
        let more = usize::try_from(run.slot_count.saturating_sub(1)).unwrap_or(usize::MAX);
        let many = match more {
            0 => String::new(),
            more => format!(" and {} more", format_count(more, "slot")),
        };
        let reason = run.error.as_ref().map_or("", |error| &error.message);
        format!(
            "{outcome:<12} {}  {}{many}: {reason}",
            run.skill,
            slot(run, app),
        )
    });
    let enabled = report
        .enabled
        .iter()
        .map(|skill| describe_enabled(skill, app));
    let lines = fired.chain(passed).chain(enabled);
    lines.collect::<Vec<_>>().join("\n")
}

/// Describes a newly enabled skill: its next fire, and whether its runs ask a model, which costs money.
fn describe_enabled(enabled: &EnabledSkill, app: &App) -> String {
    let skill = &enabled.skill;
    let next = enabled.next_at;
    let next = next.map_or(String::new(), |at| time::show(at, &app.zone));
    let cost = if enabled.asks_model {
        ", and each run asks a model"
    } else {
        ""
    };
    format!(
        "{:<12} {skill}  {next}: its tools are now available{cost}; `deft skills disable {skill}` \
         disables it",
        "enabled"
    )
}

fn slot(run: &RunView, app: &App) -> String {
    run.slot
        .map_or(String::new(), |at| time::show(at, &app.zone))
}

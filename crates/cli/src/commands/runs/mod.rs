//! `deft runs …`: history and control.

pub(crate) mod list;
mod logs;
mod prune;
mod show;

use std::process::ExitCode;

use deft_engine::ResumeWith;
use deft_store::{CancelState, RunRow};
use serde_json::Value;

use super::run::{Watch, exit_code, print};
use crate::args::{Global, Resume, Roots, RunExport, Runs};
use crate::failure::{Done, Failure};
use crate::output::Output;
use deft_service::app::{self, App};

pub(crate) fn run(command: &Runs, global: &Global, output: &Output) -> Done {
    match command {
        Runs::List(args) => list::run(args, global, output),
        Runs::Show { id } => show::run(id, global, output),
        Runs::Logs { id, follow } => logs::run(id, *follow, global, output),
        Runs::Cancel { id } => cancel(id, global, output),
        Runs::Resume(args) => resume(args, global, output),
        Runs::Rerun {
            id,
            from,
            yes,
            roots,
        } => rerun(id, from.as_deref(), *yes, roots, global, output),
        Runs::Export(args) => export(args, global, output),
        Runs::Prune(args) => prune::run(args, global, output),
    }
}

/// The run that an id, or the beginning of one, means.
fn find(app: &App, id: &str) -> Done<RunRow> {
    app.block_on(app.engine.find_run(id))
        .map_err(|error| app::failure(&error))
}

/// Says in the document of a run whether whoever drove it is gone.
fn mark_abandoned(app: &App, row: &RunRow, shown: &mut Value) {
    shown["owner_gone"] = Value::Bool(app.engine.is_abandoned(row));
}

fn cancel(id: &str, global: &Global, output: &Output) -> Done {
    let app = App::without_skills(&global.workspace())?;
    let row = find(&app, id)?;
    let state = app.block_on(app.engine.cancel(&row.id, "deft runs cancel"));
    let (row, said) = match state.map_err(|error| app::failure(&error))? {
        CancelState::Done(row) => (row, "is cancelled"),
        CancelState::Asked(row) => (row, "is asked to stop"),
        CancelState::Already(row) => (row, "was over already"),
        CancelState::Unknown => {
            let message = format!("there is no run `{id}`");
            return Err(
                Failure::input("unknown_run", message).hint("`deft runs list` shows what there is")
            );
        }
    };
    if output.json {
        output.document(&deft_engine::run_json(&row))?;
    } else {
        output.note(&format!("run {} {said}", row.id));
    }
    Ok(ExitCode::SUCCESS)
}

fn resume(args: &Resume, global: &Global, output: &Output) -> Done {
    let app = App::open(&global.workspace_of(&args.roots))?;
    let row = find(&app, &args.id)?;
    let with = ResumeWith {
        by: "deft runs resume".to_owned(),
        old_revision: args.revision.is_some(),
    };
    let engine = app.engine.clone();
    let watched = Watch {
        plan: app.block_on(app.engine.plan(&row.skill)).ok(),
        yes: args.yes,
        global,
        output,
    };
    let driven = watched.drive(&app, |attention| async move {
        engine.resume(&row, &with, attention).await
    })?;
    let code = print(&app, &driven, output);
    app.close_unless(async move {
        let mut ends = driven.ends;
        ends.next().await
    });
    code
}

fn rerun(
    id: &str,
    from: Option<&str>,
    yes: bool,
    roots: &Roots,
    global: &Global,
    output: &Output,
) -> Done {
    let app = App::open(&global.workspace_of(roots))?;
    let row = find(&app, id)?;
    let engine = app.engine.clone();
    let from = from.map(str::to_owned);
    let watched = Watch {
        plan: app.block_on(app.engine.plan(&row.skill)).ok(),
        yes,
        global,
        output,
    };
    let driven = watched.drive(&app, |attention| async move {
        engine
            .rerun(&row, from.as_deref(), "rerun", attention)
            .await
    })?;
    let code = print(&app, &driven, output);
    app.close_unless(async move {
        let mut ends = driven.ends;
        ends.next().await
    });
    code
}

fn export(args: &RunExport, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    let row = find(&app, &args.id)?;
    let shown = app.block_on(app.engine.export(&row));
    let shown = shown.map_err(|error| app::failure(&error))?;
    match &args.to {
        None => output.document(&shown)?,
        Some(path) => {
            std::fs::write(path, format!("{shown:#}\n"))
                .map_err(|problem| Failure::file(path, "write", &problem))?;
            output.note(&format!("run {} is in `{}`", row.id, path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The code of a run that is over, for commands that wait for one.
pub(crate) fn code_of(app: &App, row: &RunRow) -> Done {
    let shown = app.block_on(app.engine.show(row));
    Ok(exit_code(
        row,
        &shown.map_err(|error| app::failure(&error))?,
    ))
}

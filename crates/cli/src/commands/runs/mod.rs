//! `deft runs …`: history and control of runs.

mod list;
mod logs;
mod prune;
mod show;

use std::process::ExitCode;

use serde_json::json;

use super::run::Watch;
use crate::args::{Global, Resume, Roots, RunExport, Runs};
use crate::failure::{Done, Failure};
use crate::output::Output;
use deft_service::App;
use deft_service::runs::{self, CancelResult, RunWork};

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

fn cancel(id: &str, global: &Global, output: &Output) -> Done {
    let app = App::without_skills(&global.workspace())?;
    let (run, text) = match runs::cancel(&app, id, "deft runs cancel")? {
        CancelResult::Now(run) => (run, "is cancelled"),
        CancelResult::Asked(run) => (run, "is stopping"),
        CancelResult::Before(run) => (run, "had already finished"),
    };
    if output.json {
        output.document(&json!(run))?;
    } else {
        output.note(&format!("run {} {text}", run.id));
    }
    Ok(ExitCode::SUCCESS)
}

fn resume(args: &Resume, global: &Global, output: &Output) -> Done {
    let app = App::open(&global.workspace_of(&args.roots))?;
    let watch = Watch {
        steps: runs::remaining_steps(&app, &args.id)?,
        yes: args.yes,
        global,
        output,
    };
    let work = RunWork::Resume {
        id: args.id.clone(),
        by: "deft runs resume".to_owned(),
        old_revision: args.revision.is_some(),
    };
    watch.drive_and_close(app, work)
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
    let watch = Watch {
        steps: runs::planned_steps(&app, id)?,
        yes,
        global,
        output,
    };
    let work = RunWork::Rerun {
        id: id.to_owned(),
        from: from.map(str::to_owned),
        origin: runs::caller_origin(),
    };
    watch.drive_and_close(app, work)
}

fn export(args: &RunExport, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    let archive = runs::export(&app, &args.id)?;
    let id = archive.run.run.id.clone();
    let document = json!(archive);
    match &args.to {
        None => output.document(&document)?,
        Some(path) => {
            std::fs::write(path, format!("{document:#}\n"))
                .map_err(|problem| Failure::file(path, "write", &problem))?;
            output.note(&format!("run {id} is in `{}`", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

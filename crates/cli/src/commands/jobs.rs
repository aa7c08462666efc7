//! `deft jobs …`: background jobs (S0.77 to S0.82).

use std::mem;
use std::process::ExitCode;

use serde_json::json;

use crate::args::{Global, Jobs};
use crate::commands::tools::arguments;
use crate::failure::Done;
use crate::output::Output;
use crate::pages::{Extent, ListDocument};
use crate::table::{Cell, Column, Row, Table, Tone};
use deft_service::{App, jobs, runs, time};
use deft_wire::job::{JobDocument, JobHaltResult, JobView};

pub(crate) fn run(command: &Jobs, global: &Global, output: &Output) -> Done {
    match command {
        Jobs::List { extent } => list(&App::to_read(&global.workspace())?, *extent, output),
        Jobs::Show { id } => show(&App::to_read(&global.workspace())?, id, output),
        Jobs::Queue { pairs, all } => {
            write(global, |app| queue(app, pairs, all.as_deref(), output))
        }
        Jobs::Halt => write(global, |app| say_halted(jobs::halt(app)?, output)),
        Jobs::Resume => write(global, |app| say_halted(jobs::resume(app)?, output)),
    }
}

/// Opens the home, runs `work`, and notifies the daemon on closing.
fn write(global: &Global, work: impl FnOnce(&App) -> Done) -> Done {
    let app = App::without_skills(&global.workspace())?;
    let done = work(&app);
    app.close();
    done
}

fn queue(app: &App, pairs: &[String], given: Option<&str>, output: &Output) -> Done {
    let job = jobs::queue(app, &arguments(pairs, given)?, runs::caller_origin())?;
    if output.json {
        output.document(&json!(job))?;
    } else {
        output.data(job.task_id.as_str())?;
        output.note("hint: `deft up` runs it; `deft jobs show ID` shows its result");
    }
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App, extent: Extent, output: &Output) -> Done {
    let halted = jobs::halted_since(app)?;
    let mut pages = jobs::list(app);
    if output.json {
        let mut document = ListDocument::begin("jobs");
        let read = |wanted| pages.next(wanted);
        extent.show(output, read, |jobs| {
            jobs.iter().try_for_each(|job| document.add(&json!(job)))
        })?;
        document.end(&[("halted_since", json!(halted.map(|at| at.to_string())))])?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(since) = halted {
        let since = time::show(since, &app.zone);
        output.note(&format!(
            "jobs are halted since {since}; `deft jobs resume` resumes them"
        ));
    }
    let columns = [
        Column::id("id"),
        Column::keep("name"),
        Column::keep("status"),
    ];
    let mut head = true;
    output.page();
    let read = |wanted| pages.next(wanted);
    let shown = extent.show(output, read, |jobs| {
        let table = Table::new(columns, jobs.iter().map(row));
        output.table(&if mem::take(&mut head) {
            table
        } else {
            table.headless()
        })
    })?;
    if shown == 0 {
        output.note("no jobs");
    }
    extent.note_omitted_rows(output, shown, || pages.count())?;
    Ok(ExitCode::SUCCESS)
}

fn row(job: &JobView) -> Row {
    let tone = match job.error {
        Some(_) => Tone::Bad,
        None => Tone::Plain,
    };
    let cells = [
        job.task_id.as_str().into(),
        job.name.as_str().into(),
        Cell::with_tone(job.status.word(), tone),
    ];
    Row::new(cells).with_below(job.error.as_deref())
}

fn show(app: &App, id: &str, output: &Output) -> Done {
    let job = jobs::show(app, id)?;
    if output.json {
        output.document(&json!(JobDocument { job }))?;
    } else {
        output.prose(text(&job, app))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(job: &JobView, app: &App) -> String {
    let mut text = format!("{}  {}  {}\n", job.task_id, job.name, job.status.word());
    let queued = time::show(job.created_at, &app.zone);
    text.push_str(&format!("queued    {queued}\n"));
    if let Some(ms) = job.duration {
        text.push_str(&format!("duration  {ms} ms\n"));
    }
    if let Some(error) = &job.error {
        text.push_str(&format!("error     {error}\n"));
    }
    if !job.result.is_null() {
        text.push_str(&format!("result    {}\n", job.result));
    }
    text
}

fn say_halted(state: JobHaltResult, output: &Output) -> Done {
    if output.json {
        output.document(&json!(state))?;
    } else if state.halted {
        output.note("no job starts until `deft jobs resume`; running jobs continue");
    } else {
        output.note("jobs resumed");
    }
    Ok(ExitCode::SUCCESS)
}

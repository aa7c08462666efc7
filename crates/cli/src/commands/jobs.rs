//! `deft jobs …`: background jobs (S0.77 to S0.82).

use std::process::ExitCode;

use deft_engine::JOB_SKILL;
use deft_store::{RunFilter, RunRow};
use serde_json::{Value, json};

use crate::args::{Global, Jobs};
use crate::commands::runs::list::pages;
use crate::commands::tools::arguments;
use crate::failure::{Done, Failure};
use crate::output::{Fit, Output, table_of};
use crate::pages::{Extent, ListDocument};
use deft_service::app::{self, App};

pub(crate) fn run(command: &Jobs, global: &Global, output: &Output) -> Done {
    match command {
        Jobs::List { extent } => list(&App::to_read(&global.workspace())?, *extent, output),
        Jobs::Show { id } => show(&App::to_read(&global.workspace())?, id, output),
        Jobs::Queue { pairs, all } => {
            write(global, |app| queue(app, pairs, all.as_deref(), output))
        }
        Jobs::Halt => write(global, |app| halt(app, true, output)),
        Jobs::Resume => write(global, |app| halt(app, false, output)),
    }
}

/// Does something that a daemon wants to hear of.
fn write(global: &Global, work: impl FnOnce(&App) -> Done) -> Done {
    let app = App::without_skills(&global.workspace())?;
    let done = work(&app);
    app.close();
    done
}

fn queue(app: &App, pairs: &[String], given: Option<&str>, output: &Output) -> Done {
    let arguments = arguments(pairs, given)?;
    let queued = app.block_on(app.engine.queue_task(&arguments));
    let row = queued.map_err(|error| app::failure(&error))?;
    let job = app.block_on(app.engine.job_json(&row));
    if output.json {
        output.document(&job)?;
    } else {
        output.data(row.id.as_str())?;
        output.note("hint: `deft up` runs it; `deft jobs show ID` says how it went");
    }
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App, extent: Extent, output: &Output) -> Done {
    let halted = app.block_on(app.engine.jobs_halted());
    let halted = halted.map_err(|error| app::failure(&error))?;
    let filter = RunFilter {
        skill: Some(JOB_SKILL.to_owned()),
        ..RunFilter::default()
    };
    let job = |row: &RunRow| app.block_on(app.engine.job_json(row));
    if output.json {
        let mut document = ListDocument::begin("jobs");
        extent.show(output, pages(app, &filter), |rows| {
            rows.iter().try_for_each(|row| document.add(&job(row)))
        })?;
        document.end(&[("halted_since", json!(halted.map(|at| at.to_string())))])?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(since) = halted {
        let since = deft_schedule::show(since, &app.zone);
        output.note(&format!(
            "jobs are halted since {since}; `deft jobs resume` lets them go on"
        ));
    }
    let mut head = Some(["id", "name", "status", "error"].map(str::to_owned));
    let shown = extent.show(output, pages(app, &filter), |rows| {
        let head = head.take().map(|head| head.to_vec());
        let rows = rows.iter().map(|row| line(&job(row)));
        let lines: Vec<Vec<String>> = head.into_iter().chain(rows).collect();
        output.data(table_of(&lines, &[Fit::Id], output.width()))
    })?;
    if shown == 0 {
        output.note("there are no jobs");
    }
    extent.say_rest(output, shown, || {
        let all = app.block_on(app.engine.store().count_runs(filter.clone()));
        all.map_err(|error| app::store(&error))
    })?;
    Ok(ExitCode::SUCCESS)
}

fn line(job: &Value) -> Vec<String> {
    ["taskId", "name", "status", "error"]
        .map(|key| job[key].as_str().unwrap_or_default().replace('\n', " "))
        .to_vec()
}

fn show(app: &App, id: &str, output: &Output) -> Done {
    let row = app.block_on(app.engine.find_run(id));
    let row = row.map_err(|error| app::failure(&error))?;
    if row.skill != JOB_SKILL {
        let message = format!(
            "run `{}` is not a job, it is a run of `{}`",
            row.id, row.skill
        );
        let hint = format!("`deft runs show {}` shows it", row.id);
        return Err(Failure::input("not_a_job", message).hint(hint));
    }
    let job = app.block_on(app.engine.job_json(&row));
    if output.json {
        output.document(&json!({ "job": job }))?;
    } else {
        output.data(text(&row, &job, app))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(row: &RunRow, job: &Value, app: &App) -> String {
    let word = |key: &str| job[key].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{}  {}  {}\n", row.id, word("name"), word("status"));
    let queued = deft_schedule::show(row.admitted_at, &app.zone);
    text.push_str(&format!("queued    {queued}\n"));
    if let Some(ms) = job["duration"].as_u64() {
        text.push_str(&format!("duration  {ms} ms\n"));
    }
    if !job["error"].is_null() {
        text.push_str(&format!("error     {}\n", word("error")));
    }
    if !job["result"].is_null() {
        text.push_str(&format!("result    {}\n", job["result"]));
    }
    text
}

fn halt(app: &App, halt: bool, output: &Output) -> Done {
    let done = app.block_on(async {
        if halt {
            app.engine.halt_jobs().await
        } else {
            app.engine.resume_jobs().await
        }
    });
    done.map_err(|error| app::failure(&error))?;
    if output.json {
        output.document(&json!({ "halted": halt }))?;
    } else if halt {
        output.note("no job begins until `deft jobs resume`; what runs goes on");
    } else {
        output.note("jobs go on");
    }
    Ok(ExitCode::SUCCESS)
}

//! Background jobs (S0.77 to S0.82): queue, list, halt and resume them.

use deft_engine::JOB_SKILL;
use deft_model::{Object, RunOrigin};
use deft_store::{PageEnd, RunFilter, RunRow};
use deft_wire::job::{JobHaltResult, JobView};
use deft_wire::{Done, Failure};
use jiff::Timestamp;

use crate::app::{self, App};
use crate::ids::{self, IdKind, LAST};
use crate::runs::read_cursor;
use crate::store;

/// Pages of the jobs of a home, newest first.
pub struct JobPages<'a> {
    app: &'a App,
    end: Option<PageEnd>,
}

/// Lists jobs.
pub fn list(app: &App) -> JobPages<'_> {
    JobPages { app, end: None }
}

impl JobPages<'_> {
    /// Continues after the page that `cursor` ended.
    pub fn after_cursor(mut self, cursor: &str) -> Done<Self> {
        self.end = Some(PageEnd(read_cursor(cursor)?));
        Ok(self)
    }

    /// Returns the cursor at the end of the last page, or `None` before the first page.
    pub fn cursor(&self) -> Option<String> {
        self.end.map(|PageEnd(end)| end.to_string())
    }

    /// Returns the next page of at most `limit` jobs.
    pub fn next(&mut self, limit: u32) -> Done<Vec<JobView>> {
        let filter = RunFilter {
            limit: Some(limit),
            ..filter()
        };
        let page = self.app.engine.store().run_page(filter, self.end);
        let page = self.app.block_on(page);
        let page = page.map_err(|error| store::failure(&error))?;
        self.end = page.end.or(self.end);
        page.runs.iter().map(|row| view(self.app, row)).collect()
    }

    /// Returns the number of all jobs.
    pub fn count(&self) -> Done<u64> {
        let count = self.app.engine.store().count_runs(filter());
        self.app
            .block_on(count)
            .map_err(|error| store::failure(&error))
    }
}

fn filter() -> RunFilter {
    RunFilter {
        skill: Some(JOB_SKILL.to_owned()),
        ..RunFilter::default()
    }
}

/// Queues a job. The arguments are those of the tool `queue_task`.
pub fn queue(app: &App, arguments: &Object, origin: RunOrigin) -> Done<JobView> {
    let queued = app.block_on(app.engine.queue_task(arguments, origin));
    let row = queued.map_err(|error| app::failure(&error))?;
    view(app, &row)
}

/// Returns the job that `id` names: an id, a prefix of one, or `last`.
pub fn show(app: &App, id: &str) -> Done<JobView> {
    let row = match id {
        LAST => {
            let newest = ids::last_run(app, filter())?;
            newest.ok_or_else(|| IdKind::Job.unknown(id))?
        }
        id => ids::find_run(app, IdKind::Job, id)?,
    };
    if row.skill == JOB_SKILL {
        return view(app, &row);
    }
    let message = format!(
        "run `{}` is not a job, it is a run of `{}`",
        row.id, row.skill
    );
    let hint = format!("`deft runs show {}` shows it", row.id);
    Err(Failure::input("not_a_job", message).hint(hint))
}

/// Returns the time since which jobs are halted, or `None` if they are not halted.
pub fn halted_since(app: &App) -> Done<Option<Timestamp>> {
    let halted = app.block_on(app.engine.jobs_halted());
    halted.map_err(|error| app::failure(&error))
}

/// Halts jobs: none starts until [`resume`]. Running jobs continue.
pub fn halt(app: &App) -> Done<JobHaltResult> {
    let done = app.block_on(app.engine.halt_jobs());
    done.map_err(|error| app::failure(&error))?;
    Ok(JobHaltResult { halted: true })
}

/// Lets jobs start again.
pub fn resume(app: &App) -> Done<JobHaltResult> {
    let done = app.block_on(app.engine.resume_jobs());
    done.map_err(|error| app::failure(&error))?;
    Ok(JobHaltResult { halted: false })
}

fn view(app: &App, row: &RunRow) -> Done<JobView> {
    let job = app.block_on(app.engine.job(row));
    job.map_err(|error| app::failure(&error))
}

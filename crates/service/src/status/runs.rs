//! Active runs, and recent failures.

use deft_engine::CHAT_SKILL;
use deft_store::{RunFilter, RunRow};
use deft_wire::Done;
use deft_wire::model::{Outcome, RunStatus};
use deft_wire::status::{ActiveRun, FailedRun};
use jiff::{SignedDuration, Timestamp};

use crate::app::{self, App};
use crate::{runs, store};

/// Maximum number of runs to show of each kind.
const MAX_RUNS: u32 = 5;

/// Maximum age of failures to show.
const MAX_FAILURE_AGE: SignedDuration = SignedDuration::from_hours(24);

/// Returns the newest active runs, and their total number.
pub(super) fn active(app: &App) -> Done<(Vec<ActiveRun>, u64)> {
    let filter = RunFilter {
        statuses: vec![RunStatus::Queued, RunStatus::Running, RunStatus::Waiting],
        ..RunFilter::default()
    };
    let (rows, total) = read(app, filter)?;
    let rows = rows.iter().map(|row| active_run(app, row));
    Ok((rows.collect::<Done<_>>()?, total))
}

fn active_run(app: &App, row: &RunRow) -> Done<ActiveRun> {
    let detail = app.block_on(app.engine.show(row));
    let detail = detail.map_err(|error| app::failure(&error))?;
    Ok(ActiveRun {
        id: row.id.clone(),
        skill: row.skill.clone(),
        status: row.status,
        since: row.started_at.unwrap_or(row.admitted_at),
        position: detail.position(),
        waiting_for: detail.run.waiting_for,
        owner_gone: app.engine.is_abandoned(row),
    })
}

/// Returns the newest failed runs of the last day, and their total number. Chats are excluded, because they
/// show their own failures.
pub(super) fn failed_runs(app: &App, now: Timestamp) -> Done<(Vec<FailedRun>, u64)> {
    let filter = RunFilter {
        outcomes: vec![
            Outcome::Error,
            Outcome::Blocked,
            Outcome::Interrupted,
            Outcome::Missed,
        ],
        since: now.checked_sub(MAX_FAILURE_AGE).ok(),
        ..RunFilter::default()
    };
    let (rows, total) = read(app, filter)?;
    let rows = rows.iter().filter(|row| row.skill != CHAT_SKILL);
    let rows = rows.map(|row| {
        let run = runs::view(row)?;
        Ok(FailedRun {
            id: row.id.clone(),
            skill: row.skill.clone(),
            outcome: row.outcome.unwrap_or(Outcome::Error),
            at: row.finished_at.unwrap_or(row.admitted_at),
            message: run.error.map(|error| error.message).unwrap_or_default(),
        })
    });
    Ok((rows.collect::<Done<_>>()?, total))
}

fn read(app: &App, filter: RunFilter) -> Done<(Vec<RunRow>, u64)> {
    let store = app.engine.store();
    let total = app.block_on(store.count_runs(filter.clone()));
    let total = total.map_err(|error| store::failure(&error))?;
    let filter = RunFilter {
        limit: Some(MAX_RUNS),
        ..filter
    };
    let rows = app.block_on(store.runs(filter));
    Ok((rows.map_err(|error| store::failure(&error))?, total))
}

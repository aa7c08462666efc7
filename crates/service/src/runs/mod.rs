//! Runs: their history, their events, and control over them. `drive.rs` starts runs and continues them.

mod drive;
#[cfg(test)]
mod events_tests;
mod history;
mod progress;
#[cfg(test)]
mod progress_tests;
mod start;
#[cfg(test)]
mod view_tests;

pub use drive::{Answers, Drive, DrivenRun, RunWork, Update, drive};
pub use history::{
    CancelResult, EventStream, NewEvents, RunPages, RunQuery, cancel, detail, events, export, list,
    prune, show,
};
pub use progress::{Change, Progress};
pub use start::{
    InputName, PlannedStep, PrepareError, PreparedSkill, StartRun, dry_run, planned_steps, prepare,
    queue, read_input_file,
};

use deft_store::RunRow;
use deft_wire::Done;
use deft_wire::model::Usage;
use deft_wire::run::{RunError, RunView};
use serde_json::Value;

use crate::app::{self, App};
use crate::shape::{mask_text, mask_value, read_optional, read_stored};

/// The run that an id, or the beginning of one, means.
fn find_row(app: &App, id: &str) -> Done<RunRow> {
    app.block_on(app.engine.find_run(id))
        .map_err(|error| app::failure(&error))
}

/// A run without its steps. Secrets are shown by name only.
pub(crate) fn view(row: &RunRow) -> Done<RunView> {
    let what = format!("run `{}`", row.id);
    let mut inputs: Value = read_stored(&what, &row.inputs)?;
    mask_value(&mut inputs);
    let mut outputs = read_optional(&row.id, row.outputs.as_deref())?.unwrap_or(Value::Null);
    mask_value(&mut outputs);
    let mut error: Option<RunError> = read_optional(&row.id, row.error.as_deref())?;
    if let Some(error) = &mut error {
        mask_text(&mut error.message);
        error.hint.iter_mut().for_each(mask_text);
    }
    let mut waiting_for = row.waits_for().map(str::to_owned);
    waiting_for.iter_mut().for_each(mask_text);
    let usage: Option<Usage> = read_optional(&row.id, row.usage.as_deref())?;
    let duration = row.finished_at.zip(row.started_at).map(|(end, start)| {
        let ms = end.as_millisecond() - start.as_millisecond();
        u64::try_from(ms).unwrap_or_default()
    });
    Ok(RunView {
        id: row.id.clone(),
        skill: row.skill.clone(),
        revision: row.revision.clone(),
        tier: row.tier,
        agent_id: row.agent_id.clone(),
        cause: row.cause.clone(),
        slot: row.slot,
        slot_until: row.slot_until,
        slot_count: row.slot_count,
        key: row.key.clone(),
        parent: row.parent.clone(),
        status: row.status,
        outcome: row.outcome,
        waiting_for,
        waiting_kind: row.waiting_for.as_ref().map(|reason| reason.kind),
        inputs,
        outputs,
        error,
        usage: usage.unwrap_or_default(),
        admitted_at: row.admitted_at,
        started_at: row.started_at,
        finished_at: row.finished_at,
        duration_ms: duration,
    })
}

//! The public form of a run without its steps.

use deft_base::read_stored;
use deft_store::RunRow;
use deft_wire::run::RunView;
use deft_workflow::Mask;
use serde::de::DeserializeOwned;

use crate::Error;

/// Returns a run without its steps. Secrets are shown by name only.
pub fn run_view(row: &RunRow) -> Result<RunView, Error> {
    let duration = row.finished_at.zip(row.started_at).map(|(end, start)| {
        let ms = end.as_millisecond() - start.as_millisecond();
        u64::try_from(ms).unwrap_or_default()
    });
    let mut run = RunView {
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
        waiting_for: row.waits_for().map(str::to_owned),
        waiting_kind: row.waiting_for.as_ref().map(|reason| reason.kind),
        inputs: read_field(Some(&row.inputs), "its inputs", row)?,
        outputs: read_field(row.outputs.as_deref(), "its outputs", row)?,
        error: read_field(row.error.as_deref(), "its error", row)?,
        usage: read_field(row.usage.as_deref(), "its usage", row)?,
        admitted_at: row.admitted_at,
        started_at: row.started_at,
        finished_at: row.finished_at,
        duration_ms: duration,
    };
    run.mask();
    Ok(run)
}

/// Parses a field of a run; the default if it is absent.
pub(crate) fn read_field<T: DeserializeOwned + Default>(
    text: Option<&str>,
    field: &str,
    row: &RunRow,
) -> Result<T, Error> {
    let read = |text| read_stored(text, || format!("run `{}`: {field}", row.id));
    Ok(text.map(read).transpose()?.unwrap_or_default())
}

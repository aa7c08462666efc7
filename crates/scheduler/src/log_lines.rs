//! Log lines about runs that ended or are resumed.

use deft_base::read_or_log;
use deft_engine::{CHAT_SKILL, Engine, run_view};
use deft_model::{Outcome, RunId};
use deft_store::RunRow;

/// The maximum number of runs that one line names.
const MAX_NAMED: usize = 3;

/// Logs the end of a run, because its caller may have exited. Successful chat answers are not logged.
pub(crate) async fn log_end(engine: &Engine, row: &RunRow) {
    let (run, skill) = (&row.id, row.skill.as_str());
    let trace_id = engine.trace_id(run).await.map(|trace| trace.to_string());
    match row.outcome {
        Some(Outcome::Error | Outcome::Blocked | Outcome::Interrupted) => {
            let why = run_view(row).ok().and_then(|run| run.error);
            let why = why.map_or("no reason is stored".to_owned(), |error| error.message);
            tracing::warn!(%run, skill, trace_id, "`{skill}` failed: {why}");
        }
        Some(Outcome::Success) if skill != CHAT_SKILL => {
            tracing::info!(%run, skill, trace_id, "`{skill}` succeeded");
        }
        Some(Outcome::Cancelled) => {
            tracing::info!(%run, skill, trace_id, "`{skill}` was cancelled");
        }
        Some(Outcome::Success | Outcome::Skipped | Outcome::Missed) | None => {}
    }
}

/// Logs which interrupted runs are resumed, and their steps.
pub(crate) async fn log_recovery(engine: &Engine, runs: &[RunId]) {
    let mut named = Vec::new();
    for run in runs.iter().take(MAX_NAMED) {
        named.extend(describe(engine, run).await);
    }
    let more = runs.len() - named.len();
    if more > 0 && !named.is_empty() {
        named.push(format!("{more} more"));
    }
    let noun = if runs.len() == 1 { "run" } else { "runs" };
    let named = if named.is_empty() {
        String::new()
    } else {
        format!(": {}", named.join("; "))
    };
    tracing::info!("resuming {} interrupted {noun}{named}", runs.len());
}

/// Returns the skill of a run and its current step: "countdown, step 3 of 5". Returns `None` for a run that
/// cannot be read; the line omits it.
async fn describe(engine: &Engine, run: &RunId) -> Option<String> {
    let row = read_or_log(engine.store().run(run).await, "an interrupted run")??;
    let detail = read_or_log(engine.show(&row).await, "an interrupted run")?;
    let skill = &row.skill;
    Some(match detail.position() {
        Some(at) => format!("{skill}, step {} of {}", at.number, at.total),
        None => skill.clone(),
    })
}

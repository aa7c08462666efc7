//! Runs: their history, events and control. `drive.rs` starts and resumes runs.

mod drive;
#[cfg(test)]
mod events_tests;
mod feed;
mod history;
mod progress;
#[cfg(test)]
mod progress_tests;
mod runner;
mod start;

pub use deft_engine::EventPage;
pub use drive::{Answers, Drive, DrivenRun, RunWork, Update, begin, drive, drive_on, wait};
pub use feed::{EventBell, events_after, newest_event, version};
pub use history::{
    CancelResult, EventStream, NewEvents, PruneLimit, PruneMode, RunPages, RunQuery, cancel,
    check_skill, detail, events, export, find_id, list, prune, show,
};
pub(crate) use history::{bad_cursor, read_cursor};
pub use progress::{Change, Progress};
pub use runner::{Runner, StartedRun, Wait};
pub use start::{
    InputName, PlannedStep, PrepareError, PreparedSkill, StartRun, admit, caller_origin, dry_run,
    planned_steps, prepare, queue, read_input_file, remaining_steps,
};

use deft_store::RunRow;
use deft_wire::Done;
use deft_wire::run::RunView;

use crate::app::{self, App};
use crate::ids::{self, IdKind};

/// Returns the run for an id, a prefix of an id, or `last`.
fn find_row(app: &App, id: &str) -> Done<RunRow> {
    ids::find_run(app, IdKind::Run, id)
}

/// Returns a run without its steps. Secrets are shown by name only.
pub(crate) fn view(row: &RunRow) -> Done<RunView> {
    deft_engine::run_view(row).map_err(|error| app::failure(&error))
}

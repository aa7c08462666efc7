//! When skills fire: due slots become runs, events fire skills, and health is monitored.
//!
//! [`Scheduler`] sits above the engine: it decides what runs and when, the engine runs it. `ticker` decides
//! about due slots, `serve` runs the loops of a daemon. Not here: the maths of schedules (`deft-schedule`),
//! driving runs, and where messages go.

mod clock_check;
mod events;
mod health;
mod hooks;
mod log_lines;
mod loss;
mod model_health;
mod overdue;
mod pool;
mod ready;
mod serve;
mod start;
mod ticker;

use std::sync::Arc;

use deft_base::Clock;
use deft_engine::{Engine, Library};
use deft_library::SkillTiming;
use deft_store::{SkillRow, Store};
use jiff::Timestamp;

pub use clock_check::{ClockCheck, SkillAhead};
pub use health::{Check, CheckStatus, Checks};
pub use hooks::{HookDelivery, HookFire};
pub use pool::Pool;
pub use start::StartedRun;
pub use ticker::TickReport;

/// Fires skills when they are due. Cheap to clone.
#[derive(Clone)]
pub struct Scheduler {
    engine: Engine,
    checks: Option<Arc<dyn Checks>>,
    loss: Arc<loss::StoreLoss>,
}

impl Scheduler {
    /// Returns a scheduler that runs skills in `engine`.
    pub fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
            checks: None,
            loss: Arc::default(),
        }
    }

    /// Sets the checks of the host, for health reports.
    #[must_use]
    pub fn with_checks(mut self, checks: Arc<dyn Checks>) -> Self {
        self.checks = Some(checks);
        self
    }

    fn store(&self) -> &Arc<dyn Store> {
        self.engine.store()
    }

    fn library(&self) -> &Library {
        self.engine.library()
    }

    fn clock(&self) -> &Arc<dyn Clock> {
        self.engine.base().clock()
    }

    fn now(&self) -> Timestamp {
        self.engine.base().now()
    }
}

/// Returns the timing of a skill. Unreadable timing is logged and disables only its own skill.
fn readable_timing(row: &SkillRow) -> Option<SkillTiming> {
    SkillTiming::from_row(row).unwrap_or_else(|error| {
        tracing::error!(%error, "unreadable timing; the skill does not fire");
        None
    })
}

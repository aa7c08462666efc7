//! Stopping a run: by a request, or because its time limit or that of a nested skill is reached.
//!
//! Work in flight is cut off and recorded; no new work starts.

use deft_model::{Failure, FailureClass};
use deft_workflow::{Ask, Event};

use super::Driver;

impl Driver {
    /// Stops nested skills whose time limit is reached; returns whether there were any.
    pub(super) fn expire(&mut self) -> bool {
        let mut expired = false;
        while let Some(event) = self.machine.overdue(self.engine.now()) {
            self.record(event);
            expired = true;
        }
        if expired {
            let machine = &self.machine;
            let inside = self
                .cancel_tokens
                .iter()
                .filter(|(path, _)| machine.is_stopping(path));
            inside.for_each(|(_, halt)| halt.cancel());
        }
        expired
    }

    /// Returns why the run must stop now; `None` if it need not or is stopping already.
    pub(super) fn must_stop(&self) -> Option<Failure> {
        if self.machine.stop_reason().is_some() {
            return None;
        }
        if self.stop.token.is_cancelled() {
            return Some(self.cancel_failure());
        }
        let late = self
            .deadline
            .is_some_and(|deadline| self.engine.now() >= deadline);
        late.then(overdue_failure)
    }

    pub(super) fn halt(&mut self, failure: Failure) {
        self.record(Event::Stopped { failure });
        self.performer.halt.cancel();
    }

    /// Ends calls whose intent is stored and that will not be made.
    pub(super) fn refuse(&mut self, actions: Vec<Ask>) {
        let now = self.engine.now();
        for action in actions {
            let event = match action {
                Ask::Call { path, attempt, .. } => {
                    let failure = Err(crate::perform::cancelled_failure());
                    self.machine
                        .end_call(&path, attempt, failure, now, 0, false)
                }
                Ask::Heal { path, .. } => {
                    let failure = Err(crate::perform::cancelled_failure());
                    self.machine.heal_event(&path, failure, now, 0)
                }
                Ask::Sleep { .. } | Ask::Question { .. } => continue,
            };
            self.record(event);
        }
    }

    pub(super) fn cancel_failure(&self) -> Failure {
        let by = self.stop.by.lock().clone();
        let by = by.unwrap_or_else(|| "an unknown caller".to_owned());
        Failure::new(FailureClass::Cancelled, format!("stopped by {by}"))
    }
}

fn overdue_failure() -> Failure {
    Failure::new(
        FailureClass::Timeout,
        "the run took longer than its `timeout`",
    )
}

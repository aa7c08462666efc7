//! Builds the views of steps from the events of a run, one after the other (`step_view.rs`).
//!
//! It does not check that the events fit each other; a damaged log still gives views.

use std::collections::HashMap;
use std::sync::Arc;

use deft_wire::run::{ItemCounts, StepStatus, StepView};
use jiff::Timestamp;
use serde_json::Value;

use crate::event::{Answer, CallEnd, CallIntent, Event, Next, RunEnd};
use crate::step_view::{MAX_FAILED, StepChanges, pending_view, step_error};
use crate::{Path, Plan};

/// Maximum number of items of a loop whose inner steps are shown.
const MAX_ITEMS: usize = 50;

/// Returns the views of the steps of a run. `nested` has the plans of the skills that the run entered; if one
/// is missing, only those of its steps that have begun are shown.
pub fn step_views<'e>(
    plan: &Plan,
    nested: &[Arc<Plan>],
    events: impl IntoIterator<Item = (Timestamp, &'e Event)>,
) -> Vec<StepView> {
    let mut views = ViewBuilder::new(plan, nested);
    for (at, event) in events {
        views.take_in(at, event);
    }
    let mut placed = Vec::new();
    views.place("", &mut placed);
    placed
}

struct ViewBuilder<'a> {
    /// Plans by the prefix of their steps.
    plans: HashMap<String, &'a Plan>,
    nested: &'a [Arc<Plan>],
    seen: Vec<StepView>,
    index: HashMap<String, usize>,
}

/// The subject of an event.
enum Subject {
    Step(String),
    /// An item of this step.
    Item(String),
    /// The outputs of a skill, which are not shown.
    Outputs,
}

fn about(path: &Path) -> Subject {
    let path = Path::from_text(path.without_attempts());
    let (prefix, step, item) = path.parts();
    match item {
        _ if path.is_outputs() => Subject::Outputs,
        Some(_) => Subject::Item(format!("{prefix}{step}")),
        None => Subject::Step(path.as_str().to_owned()),
    }
}

impl<'a> ViewBuilder<'a> {
    fn new(plan: &'a Plan, nested: &'a [Arc<Plan>]) -> Self {
        Self {
            plans: HashMap::from([(String::new(), plan)]),
            nested,
            seen: Vec::new(),
            index: HashMap::new(),
        }
    }

    fn take_in(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Begun(begun) => self.begin_call(at, begun),
            Event::Ended(ended) => self.end_call(at, ended),
            Event::Listed {
                path,
                step_type,
                items,
            } => self.on_step(path, |view| {
                view.kind.clone_from(step_type);
                view.status = StepStatus::Running;
                view.reason = None;
                view.attempts = 1;
                view.started_at.get_or_insert(at);
                view.items = Some(ItemCounts {
                    total: items.len(),
                    ..ItemCounts::default()
                });
            }),
            Event::Closed {
                path,
                values,
                error,
                ms,
            } => self.on_step(path, |view| {
                match error {
                    None => view.succeed(at, Value::Array(values.clone())),
                    Some(failure) => view.fail(at, failure),
                }
                view.duration_ms = Some(*ms);
            }),
            Event::Reused {
                path, value, error, ..
            } => self.on_step(path, |view| {
                let result = value.clone().filter(|_| error.is_none());
                view.result = result.unwrap_or_default();
                view.error = error.as_ref().map(step_error);
                view.status = match (value, error) {
                    (_, Some(_)) => StepStatus::Error,
                    (Some(_), None) => StepStatus::Success,
                    (None, None) => StepStatus::Skipped,
                };
                view.reason = Some("taken over from the earlier run".to_owned());
            }),
            Event::Skipped { path, reason } => self.skip_step(path, reason),
            Event::Asked { path, message, .. } => {
                self.on_step(path, |view| view.wait(StepStatus::Waiting, message.clone()));
            }
            Event::Answered { path, answer, by } => self.on_step(path, |view| match answer {
                Answer::No => view.wait(StepStatus::Skipped, format!("declined by {by}")),
                Answer::Yes | Answer::Skip => {
                    view.status = StepStatus::Pending;
                    view.reason = None;
                }
            }),
            Event::Healed { path, next, .. } => self.on_step(path, |view| view.follow(at, next)),
            Event::Woken { path } => self.on_step(path, |view| view.status = StepStatus::Running),
            Event::Entered { path, revision, .. } => self.reset_steps(path, revision),
            Event::Continued { path, .. } => self.on_step(path, |view| {
                view.status = StepStatus::Running;
                view.reason = None;
                view.attempts += 1;
            }),
            Event::Expired { path, .. } => {
                if let Subject::Step(id) = about(path) {
                    self.end_waiting(
                        at,
                        &format!("{id}/"),
                        "its skill stopped before the approval was answered",
                    );
                }
            }
            Event::Finished(finished) => {
                self.end_waiting(at, "", "the run stopped before the approval was answered");
                self.fail_running(at, finished);
            }
            Event::Agent { .. }
            | Event::Prepared(_)
            | Event::Started(_)
            | Event::Stopped { .. }
            | Event::Recovered { .. }
            | Event::Resumed { .. } => {}
        }
    }

    fn on_step(&mut self, path: &Path, change: impl FnOnce(&mut StepView)) {
        if let Subject::Step(id) = about(path) {
            change(self.view(id));
        }
    }

    fn view(&mut self, id: String) -> &mut StepView {
        let at = match self.index.get(&id) {
            Some(at) => *at,
            None => {
                let split = id.rfind('/').map_or(0, |at| at + 1);
                let plan = self.plans.get(&id[..split]);
                let step = plan.and_then(|plan| plan.step(&id[split..]));
                let kind = step.map_or("", |step| step.kind.key());
                self.index.insert(id.clone(), self.seen.len());
                self.seen.push(pending_view(id, kind));
                self.seen.len() - 1
            }
        };
        &mut self.seen[at]
    }

    fn begin_call(&mut self, at: Timestamp, begun: &CallIntent) {
        self.on_step(&begun.path, |view| {
            view.status = StepStatus::Running;
            view.reason = None;
            if let Some(until) = begun.call.waits_until() {
                view.wait(StepStatus::Waiting, format!("until {until}"));
                view.until = Some(until);
            }
            view.started_at.get_or_insert(at);
            if !begun.call.is_judgement() {
                view.attempts += 1;
            }
        });
    }

    fn end_call(&mut self, at: Timestamp, ended: &CallEnd) {
        match about(&ended.path) {
            Subject::Outputs => {}
            Subject::Item(step) => {
                let (_, _, item) = ended.path.parts();
                if let (Some(items), true) = (&mut self.view(step).items, ended.next.is_last()) {
                    items.done += 1;
                    items.failed += usize::from(ended.error.is_some());
                    let failed = item.filter(|_| ended.error.is_some());
                    if items.failed_items.len() < MAX_FAILED {
                        items.failed_items.extend(failed);
                    }
                }
            }
            Subject::Step(id) => {
                let view = self.view(id);
                view.started_at.get_or_insert(at);
                view.error = ended.error.as_ref().map(step_error);
                match (&ended.error, &ended.next) {
                    (None, Next::Judged) => view.status = StepStatus::Pending,
                    (None, Next::Verify { .. }) => {}
                    (None, _) => {
                        let value = ended.value.as_deref();
                        view.succeed(at, value.cloned().unwrap_or_default());
                    }
                    (Some(_), next) => view.follow(at, next),
                }
                if ended.next.is_last() {
                    view.duration_ms = Some(ended.ms);
                }
            }
        }
    }

    fn skip_step(&mut self, path: &Path, reason: &str) {
        match about(path) {
            Subject::Outputs => {}
            Subject::Item(step) => {
                if let Some(items) = &mut self.view(step).items {
                    items.done += 1;
                }
            }
            Subject::Step(id) => self.view(id).wait(StepStatus::Skipped, reason.to_owned()),
        }
    }

    /// Resets the steps of a nested skill that begins, because it may have begun before.
    fn reset_steps(&mut self, path: &Path, revision: &str) {
        let prefix = format!("{}/", path.without_attempts());
        for view in &mut self.seen {
            if view.id.starts_with(&prefix) {
                let (id, kind) = (std::mem::take(&mut view.id), std::mem::take(&mut view.kind));
                let attempts = view.attempts;
                *view = StepView {
                    attempts,
                    ..pending_view(id, &kind)
                };
            }
        }
        let mut nested = self.nested.iter();
        if let Some(plan) = nested.find(|plan| plan.revision() == revision) {
            self.plans.insert(prefix, plan);
        }
    }

    /// Fails the steps that were running when a run without a driver ended.
    fn fail_running(&mut self, at: Timestamp, finished: &RunEnd) {
        let going_on = |view: &&mut StepView| view.status == StepStatus::Running;
        let Some(error) = &finished.error else {
            return;
        };
        for view in self.seen.iter_mut().filter(going_on) {
            view.fail(at, &error.failure);
        }
    }

    /// Ends the steps below a prefix that were waiting when it was stopped.
    fn end_waiting(&mut self, at: Timestamp, prefix: &str, reason: &str) {
        let inside = |view: &&mut StepView| view.id.starts_with(prefix);
        for view in self.seen.iter_mut().filter(inside) {
            match (view.status, &view.error) {
                (StepStatus::Waiting, None) => {
                    view.wait(StepStatus::Skipped, reason.to_owned());
                }
                (StepStatus::Waiting, Some(_)) => view.end(at, StepStatus::Error),
                _ => {}
            }
        }
    }

    /// Adds the steps below a prefix to `placed`, each followed by those inside it.
    pub(crate) fn place(&self, prefix: &str, placed: &mut Vec<StepView>) {
        let is_here = |view: &&StepView| {
            let rest = view.id.strip_prefix(prefix);
            rest.is_some_and(|rest| !rest.contains('/'))
        };
        let mut here: Vec<StepView> = self.seen.iter().filter(is_here).cloned().collect();
        let plan: Option<&'a Plan> = self.plans.get(prefix).copied();
        let mut behind = 0;
        for step in plan.into_iter().flat_map(Plan::steps) {
            let id = format!("{prefix}{}", step.id);
            let known = here.iter().position(|view| view.id == id);
            behind = known.unwrap_or_else(|| {
                here.insert(behind, pending_view(id, step.kind.key()));
                behind
            }) + 1;
        }
        for view in here {
            let (inner, items) = (format!("{}/", view.id), self.entered_items(&view.id));
            placed.push(view);
            self.place(&inner, placed);
            for item in items {
                self.place(&format!("{item}/"), placed);
            }
        }
    }

    /// Returns the items of a step that ran a skill, such as `each[0]`, in order.
    fn entered_items(&self, id: &str) -> Vec<String> {
        let start = format!("{id}[");
        let mut items: Vec<usize> = self
            .seen
            .iter()
            .filter_map(|view| {
                view.id
                    .strip_prefix(&start)?
                    .split_once("]/")?
                    .0
                    .parse()
                    .ok()
            })
            .collect();
        items.sort_unstable();
        items.dedup();
        items.truncate(MAX_ITEMS);
        items
            .into_iter()
            .map(|item| format!("{id}[{item}]"))
            .collect()
    }
}

//! Failure rates of tools, from the events of runs.

use std::collections::{BTreeMap, HashMap};

use deft_model::Choice;
use deft_wire::Done;
use deft_wire::event::{AgentPlace, EventBody, EventView, FailureView, StepBegin, StepEnd};
use deft_wire::model::RunId;
use deft_wire::stats::{ToolFailures, ToolStats};
use jiff::Timestamp;

use crate::app::App;
use crate::runs::{events_after, newest_event};

/// The default number of newest events to read.
const DEFAULT_EVENTS: u32 = 20_000;

/// The maximum number of events to read, which takes about a second.
const MAX_EVENTS: u32 = 200_000;

/// Number of events read at once.
const PAGE: u32 = 2_000;

/// Counts recent failures of tools, most failures first. Counting all events would take minutes in an old
/// home, so only the newest are counted, and the result says whether there are more.
pub fn tools(app: &App, events: Option<u32>) -> Done<ToolStats> {
    let mut counts = CallCounts::default();
    let most = u64::from(events.unwrap_or(DEFAULT_EVENTS).clamp(1, MAX_EVENTS));
    app.block_on(async {
        let mut after = newest_event(app).await?.saturating_sub(most);
        // Older events may have been deleted with their runs.
        counts.complete = after == 0 || events_after(app, None, 0, 1).await?.last > after;
        loop {
            let page = events_after(app, None, after, PAGE).await?;
            counts.events += u64::try_from(page.events.len()).unwrap_or(u64::MAX);
            page.events.iter().for_each(|event| counts.read(event));
            if !page.more {
                return Ok(());
            }
            after = page.last;
        }
    })?;
    Ok(counts.stats())
}

/// A call that has begun: its run, and its path in the run.
type CallKey = (RunId, String);

#[derive(Default)]
struct CallCounts {
    /// The tools of calls that have not ended.
    open: HashMap<CallKey, String>,
    tools: BTreeMap<String, ToolFailures>,
    since: Option<Timestamp>,
    events: u64,
    complete: bool,
}

impl CallCounts {
    fn read(&mut self, event: &EventView) {
        let run = &event.execution_id;
        match &event.body {
            EventBody::StepStarted(begin)
            | EventBody::StepRetried(begin)
            | EventBody::ItemStarted(begin) => self.begin_step(run, begin),
            EventBody::StepCompleted(end) | EventBody::ItemCompleted(end) => {
                self.end_step(event, end);
            }
            EventBody::StepRetrying { step_id, error, .. } => {
                self.end(event, step_id.clone(), error.as_ref());
            }
            EventBody::ToolCalled {
                turn,
                call,
                tool,
                place,
                ..
            } => {
                let key = (run.clone(), agent_call(place, *turn, *call));
                self.open.insert(key, tool.clone());
            }
            EventBody::ToolReturned {
                turn,
                call,
                error,
                place,
                ..
            } => self.end(event, agent_call(place, *turn, *call), error.as_ref()),
            // All other events concern no call of a tool.
            EventBody::SkillStarted { .. }
            | EventBody::StepSkipped(_)
            | EventBody::ItemSkipped(_)
            | EventBody::AutoHealTriggered { .. }
            | EventBody::AutoHealCompleted { .. }
            | EventBody::ConfirmationRequired(_)
            | EventBody::ConfirmationAnswered(_)
            | EventBody::SkillRecovered { .. }
            | EventBody::SkillResumed { .. }
            | EventBody::SkillCompleted { .. }
            | EventBody::SkillFailed(_)
            | EventBody::SkillSkipped(_)
            | EventBody::SkillMissed(_)
            | EventBody::SkillBlocked(_)
            | EventBody::SkillCancelled(_)
            | EventBody::AgentStarted { .. }
            | EventBody::ModelReplied { .. }
            | EventBody::ModelFailed { .. }
            | EventBody::ToolAnswered(_)
            | EventBody::ToolRefused(_)
            | EventBody::AgentDispatched { .. }
            | EventBody::AgentFinished { .. } => {}
        }
    }

    fn begin_step(&mut self, run: &RunId, begin: &StepBegin) {
        if let Some(tool) = &begin.tool {
            let key = (run.clone(), begin.step_id.clone());
            self.open.insert(key, tool.clone());
        }
    }

    fn end_step(&mut self, event: &EventView, end: &StepEnd) {
        let called = end.cached != Some(true) && end.reused != Some(true);
        if called {
            self.end(event, end.step_id.clone(), end.error.as_ref());
        }
    }

    fn end(&mut self, event: &EventView, call: String, error: Option<&FailureView>) {
        let Some(tool) = self.open.remove(&(event.execution_id.clone(), call)) else {
            return;
        };
        self.since.get_or_insert(event.at);
        let counts = self.tools.entry(tool.clone());
        let counts = counts.or_insert_with(|| ToolFailures {
            tool,
            calls: 0,
            errors: 0,
            error_rate: 0.0,
            classes: BTreeMap::new(),
            last_error: None,
            last_error_at: None,
        });
        counts.calls += 1;
        if let Some(error) = error {
            counts.errors += 1;
            let class = error.class.word().to_owned();
            *counts.classes.entry(class).or_default() += 1;
            counts.last_error = Some(error.message.clone());
            counts.last_error_at = Some(event.at);
        }
    }

    fn stats(self) -> ToolStats {
        let mut tools: Vec<ToolFailures> = self.tools.into_values().collect();
        for tool in &mut tools {
            tool.error_rate = rate(tool.errors, tool.calls);
        }
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.errors));
        ToolStats {
            since: self.since,
            events: self.events,
            complete: self.complete,
            tools,
        }
    }
}

fn rate(errors: u64, calls: u64) -> f64 {
    let number = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if calls == 0 {
        0.0
    } else {
        number(errors) / number(calls)
    }
}

fn agent_call(place: &AgentPlace, turn: u32, call: u32) -> String {
    let agent = place.agent_path.as_deref().unwrap_or_default();
    format!("{}#{agent}#{turn}.{call}", place.step_id)
}

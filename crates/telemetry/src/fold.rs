//! Conversion of a run's events to activities. A fold receives each event once, in order. It makes no
//! decisions about the run; it only pairs beginnings with ends.
//!
//! Not here: events of agents (`fold/agent.rs`), names of spans (`span.rs`), metrics (`measure.rs`).

mod agent;

use std::collections::HashMap;
use std::sync::Arc;

use deft_model::{Failure, FailureClass, Outcome, SpanId, TraceContext, TraceId, span_place};
use deft_workflow::{Call, CallEnd, CallIntent, Event, Heal, Next, Path, RunEnd, mask_value};
use jiff::Timestamp;
use serde_json::Value;

use crate::activity::{Activity, RunFacts, TraceOrigin, Work};
use agent::AgentFold;

/// State of a run after the events applied so far.
#[derive(Debug)]
pub struct RunFold {
    facts: RunFacts,
    caller: Option<Arc<TraceContext>>,
    /// Number of times the run has ended.
    ends: u32,
    started: Option<Timestamp>,
    calls: HashMap<Path, OpenCall>,
    heals: HashMap<Path, (Arc<Heal>, Timestamp)>,
    agents: AgentFold,
    has_agents: bool,
    recovered: Vec<Timestamp>,
    /// Whether to keep arguments, results and texts.
    content: bool,
}

/// A call in progress.
#[derive(Debug)]
struct OpenCall {
    attempt: u32,
    call: Arc<Call>,
    start: Timestamp,
    is_over: bool,
}

impl RunFold {
    /// Creates the state before the first event. With `content`, arguments, results and texts are kept.
    pub fn new(facts: RunFacts, content: bool) -> Self {
        Self {
            facts,
            caller: None,
            ends: 0,
            started: None,
            calls: HashMap::new(),
            heals: HashMap::new(),
            agents: AgentFold::default(),
            has_agents: false,
            recovered: Vec::new(),
            content,
        }
    }

    /// Returns the facts about the run.
    pub fn facts(&self) -> &RunFacts {
        &self.facts
    }

    /// Returns the trace that the run belongs to.
    pub fn origin(&self) -> TraceOrigin {
        let own = || TraceId::from_run(&self.facts.id);
        TraceOrigin {
            trace: self.caller.as_ref().map_or_else(own, |caller| caller.trace),
            caller: self.caller.clone(),
        }
    }

    /// Applies an event and returns the activities that end with it.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Vec<Activity> {
        match event {
            Event::Prepared(prepared) => self.caller.clone_from(&prepared.origin.trace),
            Event::Started(started) => {
                self.started = Some(at);
                self.caller.clone_from(&started.origin.trace);
            }
            Event::Begun(begun) => self.begin(at, begun),
            Event::Ended(ended) => return self.end(at, ended).into_iter().collect(),
            Event::Continued { path, attempt, .. } => {
                if let Some(open) = self.calls.get_mut(path) {
                    (open.attempt, open.start, open.is_over) = (*attempt, at, false);
                }
            }
            Event::Healed { path, error, .. } => {
                return self.heal(at, path, error.as_ref()).into_iter().collect();
            }
            Event::Agent { path, event } => {
                let parent = self.call_span(path);
                let activity = self.agents.apply(at, path, event, self.content);
                return activity
                    .map(|ended| self.place_agent(path, parent, ended))
                    .into_iter()
                    .collect();
            }
            Event::Recovered { .. } => self.recovered.push(at),
            Event::Resumed { .. } => self.reopen(at),
            Event::Finished(finished) => return self.finish(at, finished),
            Event::Reused { .. }
            | Event::Skipped { .. }
            | Event::Listed { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::Woken { .. }
            | Event::Entered { .. }
            | Event::Expired { .. }
            | Event::Closed { .. }
            | Event::Stopped { .. } => {}
        }
        Vec::new()
    }

    /// Records the beginning of a call. Checks and waits get no span.
    fn begin(&mut self, at: Timestamp, begun: &CallIntent) {
        if begun.call.is_judgement() || begun.call.waits_until().is_some() {
            return;
        }
        self.has_agents |= matches!(*begun.call, Call::Agent { .. });
        let open = OpenCall {
            attempt: begun.attempt,
            call: Arc::clone(&begun.call),
            start: at,
            is_over: false,
        };
        self.calls.insert(begun.path.clone(), open);
    }

    fn end(&mut self, at: Timestamp, ended: &CallEnd) -> Option<Activity> {
        if let Next::Heal(heal) = &ended.next {
            self.heals
                .insert(ended.path.clone(), (Arc::clone(heal), at));
        }
        let open = self.calls.get_mut(&ended.path)?;
        if open.is_over || open.attempt != ended.attempt {
            return None;
        }
        // Marked instead of removed: a nested skill may continue later, and its steps need its attempt for
        // their parent span.
        open.is_over = true;
        let (attempt, start, call) = (open.attempt, open.start, Arc::clone(&open.call));
        let work = match &*call {
            Call::Tool { tool, args } => Work::Tool {
                tool: tool.clone(),
                arguments: self.keep(|| Value::Object(args.clone())),
                result: ended
                    .value
                    .as_ref()
                    .and_then(|value| self.keep(|| (**value).clone())),
                cached: ended.cached,
            },
            Call::Compute => Work::Compute,
            Call::Skill { skill, .. } => Work::Skill {
                name: skill.clone(),
            },
            Call::Agent { .. } => {
                let agent = self.agents.take_root(&ended.path);
                Work::Agent {
                    name: agent.name,
                    conversation: agent.conversation,
                }
            }
            Call::Condition | Call::Expect { .. } | Call::Wait { .. } => return None,
        };
        let place = span_place::call(ended.path.as_str(), attempt);
        Some(Activity {
            span: self.span(&place),
            parent: Some(self.parent_of(&ended.path)),
            start,
            end: at,
            step: Some(ended.path.to_string()),
            attempt,
            error: ended.error.clone(),
            work,
        })
    }

    fn heal(&mut self, at: Timestamp, path: &Path, error: Option<&Failure>) -> Option<Activity> {
        let (heal, start) = self.heals.remove(path)?;
        Some(Activity {
            span: self.span(&span_place::heal(path.as_str(), heal.ordinal)),
            parent: Some(self.parent_of(path)),
            start,
            end: at,
            step: Some(path.to_string()),
            attempt: heal.ordinal,
            error: error.cloned(),
            work: Work::Tool {
                tool: heal.tool.clone(),
                arguments: self.keep(|| Value::Object(heal.args.clone())),
                result: None,
                cached: false,
            },
        })
    }

    fn place_agent(&self, path: &Path, root: SpanId, ended: agent::EndedWork) -> Activity {
        Activity {
            span: self.span(&ended.place),
            parent: Some(ended.parent.map_or(root, |place| self.span(&place))),
            start: ended.start,
            end: ended.end,
            step: Some(path.to_string()),
            attempt: self.calls.get(path).map_or(1, |open| open.attempt),
            error: ended.error,
            work: ended.work,
        }
    }

    /// Handles a resumed run: later spans get new ids.
    fn reopen(&mut self, at: Timestamp) {
        self.ends += 1;
        self.started = Some(at);
        self.recovered.clear();
        self.heals.clear();
    }

    /// Ends the run together with its open calls.
    fn finish(&mut self, at: Timestamp, finished: &RunEnd) -> Vec<Activity> {
        let mut open: Vec<(Path, u32)> = self
            .calls
            .iter()
            .filter(|(_, open)| !open.is_over)
            .map(|(path, open)| (path.clone(), open.attempt))
            .collect();
        // Nested steps end before the step that contains them.
        open.sort();
        let cut_off = Failure::new(FailureClass::Cancelled, "the run ended before the call");
        let mut ended: Vec<Activity> = open
            .into_iter()
            .rev()
            .filter_map(|(path, attempt)| {
                let end = CallEnd {
                    path,
                    attempt,
                    value: None,
                    error: Some(cut_off.clone()),
                    next: Next::Fail,
                    cached: false,
                    called: Vec::new(),
                    ms: 0,
                };
                self.end(at, &end)
            })
            .collect();
        ended.push(self.whole_run(at, finished));
        ended
    }

    fn whole_run(&self, at: Timestamp, finished: &RunEnd) -> Activity {
        let parent = match (self.ends, &self.caller) {
            (0, caller) => caller.as_ref().map(|caller| caller.span),
            (_, _) => Some(SpanId::derive(&self.facts.id, 0, span_place::RUN)),
        };
        let error = finished.error.as_ref().map(|error| error.failure.clone());
        Activity {
            span: self.span(span_place::RUN),
            parent,
            start: self.started.unwrap_or(at),
            end: at,
            step: None,
            attempt: self.ends + 1,
            error: error.filter(|_| finished.outcome != Outcome::Skipped),
            work: Work::Run {
                outcome: finished.outcome,
                has_agents: self.has_agents,
                recovered: self.recovered.clone(),
            },
        }
    }

    fn span(&self, place: &str) -> SpanId {
        SpanId::derive(&self.facts.id, self.ends, place)
    }

    /// Returns the span of the call at `path`.
    fn call_span(&self, path: &Path) -> SpanId {
        let attempt = self.calls.get(path).map_or(1, |open| open.attempt);
        self.span(&span_place::call(path.as_str(), attempt))
    }

    /// Returns the parent span of a step: the nested skill that it belongs to, or the run.
    fn parent_of(&self, path: &Path) -> SpanId {
        let outer = path.skill().trim_end_matches('/');
        if outer.is_empty() {
            return self.span(span_place::RUN);
        }
        let (above, last) = outer.rsplit_once('/').map_or(("", outer), |(above, last)| {
            (outer.get(..=above.len()).unwrap_or_default(), last)
        });
        let last = last.split('~').next().unwrap_or(last);
        self.call_span(&Path::from_text(format!("{above}{last}")))
    }

    /// Returns the value with secrets masked, or `None` if content is not recorded.
    fn keep(&self, value: impl FnOnce() -> Value) -> Option<Value> {
        self.content.then(|| {
            let mut value = value();
            mask_value(&mut value);
            value
        })
    }
}

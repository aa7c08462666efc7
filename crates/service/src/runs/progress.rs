//! Changes in a run that this process drives, for display. They are more detailed than public events, because
//! the tree of steps shows how failures are being handled.

use std::time::Duration;

use deft_agent::{Event as AgentEvent, EventKind, Interpretation};
use deft_engine::PublishedEvent;
use deft_model::{Failure, Object};
use deft_workflow::{CallEnd, Event, Next, Path, warning};
use jiff::Timestamp;
use serde_json::Value;

use crate::shape::{mask_text, mask_value};

/// A change in a part of a run. Texts contain secrets by name only.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The path of the step; `outer/inner` inside a nested skill. A call of an agent is below its step.
    pub path: String,
    /// The change.
    pub change: Change,
}

/// A kind of change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A step began.
    Began {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// A step sleeps.
    Waits {
        /// The end of the sleep.
        until: Timestamp,
    },
    /// A loop began.
    LoopBegan {
        /// The number of items.
        items: usize,
    },
    /// An item of the loop at this path ended.
    ItemEnded,
    /// A step failed and is tried again.
    Retries {
        /// The error.
        error: String,
        /// The time of the next attempt.
        at: Timestamp,
    },
    /// A step cannot run yet and waits.
    Postponed {
        /// The reason for the wait.
        error: String,
    },
    /// A step failed, and a tool is called to heal it.
    Heals {
        /// The error.
        error: String,
        /// The tool.
        tool: String,
    },
    /// The heal rule ended.
    Healed {
        /// Why it failed, if it did.
        error: Option<String>,
    },
    /// The condition of a step was evaluated.
    Judged,
    /// The result of a step is being checked.
    Verifies,
    /// A step succeeded.
    Done {
        /// How long it took.
        took: Duration,
        /// Whether the result comes from the cache.
        cached: bool,
        /// A warning for the user.
        warning: Option<String>,
    },
    /// A step failed, and the run continues.
    Tolerated {
        /// The error.
        error: String,
    },
    /// A step failed.
    Failed {
        /// The error.
        error: String,
    },
    /// A step was skipped.
    Skipped {
        /// The reason.
        reason: String,
    },
    /// The result of a step comes from an earlier run.
    Reused,
    /// A step asks a person for approval.
    Asked {
        /// The question.
        message: String,
    },
    /// The question was answered.
    Answered {
        /// Who answered.
        by: String,
    },
    /// An agent called a tool or a skill.
    Called {
        /// The tool or skill.
        name: String,
        /// The arguments.
        args: Object,
    },
    /// An agent started another agent.
    Dispatched {
        /// The agent.
        agent: String,
        /// The task.
        mission: String,
    },
    /// A call of an agent ended.
    Returned {
        /// How long it took.
        took: Duration,
        /// Why it failed, if it did.
        error: Option<String>,
    },
    /// An agent called a tool that it had not looked up yet.
    LookedUp {
        /// The tool.
        name: String,
    },
    /// A call of an agent was refused.
    Refused {
        /// The tool.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl Progress {
    /// Converts an event into the change it shows; `None` if it shows none.
    pub(crate) fn read(published: &PublishedEvent) -> Option<Self> {
        let (path, change) = match &published.event {
            Event::Begun(begun) => {
                let attempt = begun.attempt;
                let change = match begun.call.waits_until() {
                    Some(until) => Change::Waits { until },
                    None => Change::Began { attempt },
                };
                (&begun.path, change)
            }
            Event::Listed { path, items, .. } => {
                let items = items.len();
                (path, Change::LoopBegan { items })
            }
            Event::Ended(ended) => return step_ended(ended),
            Event::Closed {
                path, error, ms, ..
            } => (path, end_change(error.as_ref(), *ms)),
            Event::Skipped { path, reason } => {
                let reason = shorten_text(reason);
                (path, Change::Skipped { reason })
            }
            Event::Reused { path, .. } => (path, Change::Reused),
            Event::Asked { path, message, .. } => {
                let message = shorten_text(message);
                (path, Change::Asked { message })
            }
            Event::Answered { path, by, .. } => (path, Change::Answered { by: by.clone() }),
            Event::Healed { path, error, .. } => {
                let error = error.as_ref().map(message);
                (path, Change::Healed { error })
            }
            Event::Agent { path, event } => return agent_progress(path, event),
            Event::Started(_)
            | Event::Prepared(_)
            | Event::Woken { .. }
            | Event::Entered { .. }
            | Event::Expired { .. }
            | Event::Stopped { .. }
            | Event::Continued { .. }
            | Event::Recovered { .. }
            | Event::Resumed { .. }
            | Event::Finished(_) => return None,
        };
        at_step(path, change)
    }
}

/// Returns a change of a step. Items of a loop and the outputs of a skill are not shown separately.
fn at_step(path: &Path, change: Change) -> Option<Progress> {
    let shown = loop_of(path).is_none() && !path.is_outputs();
    shown.then(|| Progress {
        path: path.to_string(),
        change,
    })
}

/// Returns the path of the loop that an item belongs to.
fn loop_of(path: &Path) -> Option<&str> {
    let item = path.as_str().strip_suffix(']')?;
    item.rsplit_once('[').map(|(of, _)| of)
}

fn step_ended(ended: &CallEnd) -> Option<Progress> {
    let error = || ended.error.as_ref().map(message).unwrap_or_default();
    let change = match &ended.next {
        Next::Retry { at } => Change::Retries {
            error: error(),
            at: *at,
        },
        Next::Postponed { .. } => Change::Postponed { error: error() },
        Next::Heal(heal) => Change::Heals {
            error: error(),
            tool: heal.tool.clone(),
        },
        Next::Judged => Change::Judged,
        Next::Verify { .. } => Change::Verifies,
        Next::Tolerate => Change::Tolerated { error: error() },
        Next::Fail | Next::Interrupt | Next::Block => Change::Failed { error: error() },
        Next::Done => Change::Done {
            took: Duration::from_millis(ended.ms),
            cached: ended.cached,
            warning: ended.value.as_deref().and_then(warning),
        },
    };
    match loop_of(&ended.path) {
        Some(of) => change.ends_item().then(|| Progress {
            path: of.to_owned(),
            change: Change::ItemEnded,
        }),
        None => at_step(&ended.path, change),
    }
}

impl Change {
    /// Whether this is the last change of an item.
    fn ends_item(&self) -> bool {
        matches!(
            self,
            Self::Done { .. } | Self::Tolerated { .. } | Self::Failed { .. }
        )
    }
}

fn end_change(error: Option<&Failure>, ms: u64) -> Change {
    match error {
        Some(error) => Change::Failed {
            error: message(error),
        },
        None => Change::Done {
            took: Duration::from_millis(ms),
            cached: false,
            warning: None,
        },
    }
}

/// Converts an event of an agent. A call is placed below the step, by turn and number.
fn agent_progress(step: &Path, event: &AgentEvent) -> Option<Progress> {
    let (turn, call, change) = match &event.what {
        EventKind::Called {
            turn,
            call,
            tool,
            args,
            skill,
            ..
        } => {
            // A command is shown by the name of its skill, with its flags.
            let inputs = args.get("inputs").and_then(Value::as_object);
            let mut args = skill.as_ref().and(inputs).unwrap_or(args).clone();
            args.values_mut().for_each(mask_value);
            let name = skill.as_ref().unwrap_or(tool).clone();
            (turn, call, Change::Called { name, args })
        }
        EventKind::Dispatched {
            turn,
            call,
            dispatch,
        } => {
            let agent = dispatch.agent_id.clone();
            let mission = shorten_text(&dispatch.mission);
            (turn, call, Change::Dispatched { agent, mission })
        }
        EventKind::Returned {
            turn,
            call,
            error,
            ms,
            ..
        } => {
            let took = Duration::from_millis(*ms);
            let error = error.as_ref().map(message);
            (turn, call, Change::Returned { took, error })
        }
        EventKind::Told {
            turn,
            call,
            name,
            how,
            text,
        } => (turn, call, interpretation_change(*how, name, text)?),
        EventKind::Began(_)
        | EventKind::Asked { .. }
        | EventKind::Replied { .. }
        | EventKind::Silent { .. }
        | EventKind::Question { .. }
        | EventKind::Answered { .. }
        | EventKind::Offered { .. }
        | EventKind::Reminded { .. }
        | EventKind::Rejected { .. }
        | EventKind::Reopened
        | EventKind::Finished(_)
        | EventKind::Unable { .. } => return None,
    };
    Some(Progress {
        path: format!("{step}/{}", event.agent.child(*turn, *call)),
        change,
    })
}

fn interpretation_change(how: Interpretation, name: &str, text: &str) -> Option<Change> {
    let name = name.to_owned();
    match how {
        // Results that cost nothing are not worth a line.
        Interpretation::Text | Interpretation::Made => None,
        Interpretation::Described => Some(Change::LookedUp { name }),
        Interpretation::Refused
        | Interpretation::Mistaken
        | Interpretation::Problem
        | Interpretation::Declined => Some(Change::Refused {
            name,
            reason: shorten_text(text),
        }),
    }
}

fn message(failure: &Failure) -> String {
    shorten_text(&failure.message)
}

fn shorten_text(text: &str) -> String {
    let mut text = text.to_owned();
    mask_text(&mut text);
    text
}

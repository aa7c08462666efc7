//! The calls of agents in a run, for display: each call once, with the answer of a person and its result.
//!
//! Derived from stored events, like the views of steps; makes no decisions.

use std::collections::HashMap;

use deft_agent::{Address, EventKind, Interpretation};
use deft_model::{Object, clip};
use deft_wire::run::{CallStatus, CallView};
use deft_workflow::{Event, Path};
use jiff::Timestamp;
use serde_json::json;

/// Maximum number of characters shown of the reason of a refusal or failure.
const NOTE: usize = 300;

type CallPlace = (Path, Address, u32, u32);

/// Returns the calls of all agents of a run, in order.
pub(crate) fn calls(events: &[(Timestamp, Event)]) -> Vec<CallView> {
    let mut seen = CallList::default();
    for (_, event) in events {
        if let Event::Agent { path, event } = event {
            seen.take_in(path, &event.agent, &event.what);
        }
    }
    seen.calls
}

#[derive(Default)]
struct CallList {
    calls: Vec<CallView>,
    places: HashMap<CallPlace, usize>,
}

impl CallList {
    fn take_in(&mut self, path: &Path, agent: &Address, what: &EventKind) {
        let place = |turn: &u32, call: &u32| (path.clone(), agent.clone(), *turn, *call);
        match what {
            EventKind::Question {
                turn,
                call,
                tool,
                args,
                ..
            } => {
                let view = self.call(place(turn, call), tool);
                view.args.clone_from(args);
                view.status = CallStatus::Waiting;
            }
            EventKind::Answered { turn, call, by, .. } => {
                self.call(place(turn, call), "").answered_by = Some(by.clone());
            }
            EventKind::Told {
                turn,
                call,
                name,
                how: Interpretation::Text | Interpretation::Described | Interpretation::Made,
                text,
            } => {
                let view = self.call(place(turn, call), name);
                view.status = CallStatus::Answered;
                view.note = Some(cut(text));
            }
            EventKind::Told {
                turn,
                call,
                name,
                how:
                    Interpretation::Refused
                    | Interpretation::Mistaken
                    | Interpretation::Problem
                    | Interpretation::Declined,
                text,
            } => {
                let view = self.call(place(turn, call), name);
                view.status = CallStatus::Refused;
                view.note = Some(cut(text));
            }
            EventKind::Called {
                turn,
                call,
                tool,
                args,
                ..
            } => {
                let view = self.call(place(turn, call), tool);
                view.args.clone_from(args);
                view.status = CallStatus::Running;
            }
            EventKind::Dispatched {
                turn,
                call,
                dispatch,
            } => {
                let view = self.call(place(turn, call), deft_agents::DISPATCH_AGENT);
                let mission = json!(dispatch.mission);
                view.args = Object::from_iter([
                    ("agent_id".to_owned(), json!(dispatch.agent_id)),
                    ("mission".to_owned(), mission),
                ]);
            }
            EventKind::Returned {
                turn,
                call,
                error,
                ms,
                ..
            } => {
                let view = self.call(place(turn, call), "");
                view.status = match error {
                    None => CallStatus::Success,
                    Some(_) => CallStatus::Error,
                };
                view.note = error.as_ref().map(|failure| cut(&failure.message));
                view.duration_ms = Some(*ms);
            }
            EventKind::Began(_)
            | EventKind::Unable { .. }
            | EventKind::Asked { .. }
            | EventKind::Replied { .. }
            | EventKind::Silent { .. }
            | EventKind::Offered { .. }
            | EventKind::Reminded { .. }
            | EventKind::Rejected { .. }
            | EventKind::Finished(_)
            | EventKind::Reopened => {}
        }
    }

    /// Returns the view of a call, and creates it unless an earlier event did.
    fn call(&mut self, place: CallPlace, tool: &str) -> &mut CallView {
        let next = self.calls.len();
        let at = *self.places.entry(place.clone()).or_insert(next);
        if at == next {
            let (step_id, agent, ..) = place;
            self.calls.push(CallView {
                step_id: step_id.to_string(),
                depth: agent.depth(),
                tool: tool.to_owned(),
                args: Object::new(),
                status: CallStatus::Running,
                answered_by: None,
                note: None,
                duration_ms: None,
            });
        }
        &mut self.calls[at]
    }
}

fn cut(text: &str) -> String {
    clip(text, NOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call that deft answered itself is listed like one that was made.
    #[test]
    fn answers_of_deft_are_shown() {
        let interpreted = |call: u32, how: Interpretation| Event::Agent {
            path: Path::from_text("think"),
            event: Box::new(deft_agent::Event {
                agent: Address::root(),
                what: EventKind::Told {
                    turn: 1,
                    call,
                    name: "get_skill".to_owned(),
                    how,
                    text: "the page".to_owned(),
                },
            }),
        };
        let at = Timestamp::UNIX_EPOCH;
        let events = [
            (at, interpreted(0, Interpretation::Text)),
            (at, interpreted(1, Interpretation::Described)),
            (at, interpreted(2, Interpretation::Refused)),
        ];
        let shown = json!(calls(&events));
        let statuses: Vec<_> = shown.as_array().into_iter().flatten().collect();
        let statuses: Vec<_> = statuses.iter().map(|call| &call["status"]).collect();
        assert_eq!(statuses, ["answered", "answered", "refused"]);
        assert_eq!(shown[0]["note"], "the page");
    }
}

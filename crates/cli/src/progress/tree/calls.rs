//! What an agent does, as lines below its step: calls, and the agents that it sends out.
//!
//! Not here: what it says, which is the result of the step.

use std::time::Duration;

use deft_agent::{Event, EventKind, Interpretation};
use deft_model::Object;
use deft_workflow::Path;
use serde_json::Value;

use super::{Mark, Tree, clip, duration};
use crate::terminal::Styled;

impl Tree {
    /// Takes in what happened to an agent. A line is where a call is: turn and number.
    pub(super) fn agent(&mut self, step: &Path, event: &Event) -> Option<Styled> {
        let place = |turn: u32, call: u32| format!("{step}/{}", event.agent.child(turn, call));
        match &event.what {
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
                let given = skill.as_ref().and(inputs).unwrap_or(args);
                let name = skill.as_ref().unwrap_or(tool);
                self.begin(&place(*turn, *call), name, shown(given));
                None
            }
            EventKind::Dispatched {
                turn,
                call,
                dispatch,
            } => {
                let at = place(*turn, *call);
                self.begin(&at, &dispatch.agent_id, clip(&dispatch.mission));
                Some(self.show_at(&at))
            }
            EventKind::Returned {
                turn,
                call,
                error,
                ms,
                ..
            } => {
                let (mark, note) = match error {
                    None => (Mark::Done, duration(Duration::from_millis(*ms))),
                    Some(failure) => (Mark::Failed, clip(&failure.message)),
                };
                self.mark(&place(*turn, *call), None, mark, note)
            }
            EventKind::Told {
                turn,
                call,
                name,
                how,
                text,
            } => match how {
                // What costs nothing is not worth a line.
                Interpretation::Text | Interpretation::Made => None,
                Interpretation::Described => {
                    let note = "looked up first".to_owned();
                    self.mark(&place(*turn, *call), Some(name), Mark::Tolerated, note)
                }
                Interpretation::Refused
                | Interpretation::Mistaken
                | Interpretation::Problem
                | Interpretation::Declined => {
                    let note = format!("refused: {}", clip(text));
                    self.mark(&place(*turn, *call), Some(name), Mark::Tolerated, note)
                }
            },
            _ => None,
        }
    }

    fn begin(&mut self, at: &str, name: &str, what: String) {
        if let Some(line) = self.line_at(at) {
            line.name = Some(name.to_owned());
            line.mark = Mark::Running;
            line.what = what;
            line.started = Some(std::time::Instant::now());
        }
    }

    fn mark(&mut self, at: &str, name: Option<&str>, mark: Mark, note: String) -> Option<Styled> {
        let line = self.line_at(at)?;
        if let Some(name) = name {
            line.name = Some(name.to_owned());
        }
        (line.mark, line.note) = (mark, note);
        Some(self.show_at(at))
    }
}

fn shown(args: &Object) -> String {
    if args.is_empty() {
        return String::new();
    }
    clip(&serde_json::to_string(args).unwrap_or_default())
}

//! Collects the calls of an answer from its live events.

use deft_model::Object;
use deft_wire::chat::{CallState, ChatCall};

use super::Live;
use crate::shape::mask_value;

/// The recorded calls of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallLog(Vec<ChatCall>);

impl CallLog {
    /// Records an event.
    pub fn record(&mut self, live: &Live) {
        match live {
            Live::ToolBegun { tool, args, depth } => {
                let mut args = args.clone();
                args.values_mut().for_each(mask_value);
                self.0.push(ChatCall {
                    tool: tool.clone(),
                    args,
                    depth: *depth,
                    state: CallState::Running,
                });
            }
            Live::ToolEnded { tool, ok, ms, note } => {
                let (duration_ms, note) = (*ms, note.clone());
                self.find(tool).state = if *ok {
                    CallState::Success { duration_ms, note }
                } else {
                    CallState::Error { duration_ms, note }
                };
            }
            Live::Refused { tool, reason } => {
                let note = reason.clone();
                self.find(tool).state = CallState::Refused { note };
            }
            // The model repeats the call, which is then recorded.
            Live::Hidden { .. }
            | Live::Replied { .. }
            | Live::Text(_)
            | Live::Again
            | Live::Dispatched { .. }
            | Live::AgentEnded { .. }
            | Live::Waiting { .. } => {}
        }
    }

    /// Returns the recorded calls.
    pub fn into_calls(self) -> Vec<ChatCall> {
        self.0
    }

    /// Returns the oldest running call of a tool, adding it if necessary: a call that was refused may never
    /// have begun.
    fn find(&mut self, tool: &str) -> &mut ChatCall {
        let is_running = |call: &ChatCall| call.tool == tool && call.state == CallState::Running;
        let place = self.0.iter().position(is_running).unwrap_or_else(|| {
            self.0.push(ChatCall {
                tool: tool.to_owned(),
                args: Object::new(),
                depth: 0,
                state: CallState::Running,
            });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_in_the_json_document() {
        let begun = |path: &str| Live::ToolBegun {
            tool: "ls".to_owned(),
            args: Object::from_iter([("path".to_owned(), json!(path))]),
            depth: 0,
        };
        let ended = |ok, note: Option<&str>| Live::ToolEnded {
            tool: "ls".to_owned(),
            ok,
            ms: 7,
            note: note.map(str::to_owned),
        };
        let mut log = CallLog::default();
        for live in [
            begun("a"),
            begun("b"),
            Live::Text("x".to_owned()),
            ended(true, None),
            ended(false, Some("gone")),
            Live::Refused {
                tool: "rm".to_owned(),
                reason: "not one of its tools".to_owned(),
            },
            begun("c"),
        ] {
            log.record(&live);
        }
        let expected = json!([
            {"tool": "ls", "args": {"path": "a"}, "depth": 0, "status": "success", "duration_ms": 7, "note": null},
            {"tool": "ls", "args": {"path": "b"}, "depth": 0, "status": "error", "duration_ms": 7, "note": "gone"},
            {"tool": "rm", "args": {}, "depth": 0, "status": "refused", "note": "not one of its tools"},
            {"tool": "ls", "args": {"path": "c"}, "depth": 0, "status": "running"},
        ]);
        let calls = serde_json::to_value(log.into_calls()).unwrap();
        assert_eq!(
            calls.to_string(),
            expected.to_string(),
            "also in this order"
        );
    }
}

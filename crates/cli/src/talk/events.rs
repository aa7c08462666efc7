//! Stored events of a chat as what a listener hears.
//!
//! Not here: the text while it is written, which is stored only when it is whole.

use std::collections::HashMap;

use deft_agent::{Address, Interpretation, What};
use deft_engine::Published;
use deft_model::{CallArgs, Message};
use deft_workflow::Event;

use super::Live;

/// Remembers which calls and agents are under way.
#[derive(Default)]
pub(super) struct Teller {
    calls: HashMap<(Address, u32, u32), String>,
    agents: HashMap<Address, String>,
}

impl Teller {
    /// What an event means to a listener.
    pub(super) fn tell(&mut self, event: &Published) -> Option<Live> {
        let Event::Agent { event, .. } = &event.event else {
            return None;
        };
        let agent = &event.agent;
        match &event.what {
            What::Called {
                turn,
                call,
                tool,
                args,
                skill,
                ..
            } => {
                // A command is shown by the name of its skill.
                let tool = skill.clone().unwrap_or_else(|| tool.clone());
                self.calls
                    .insert((agent.clone(), *turn, *call), tool.clone());
                let args = match (skill, args.get("inputs")) {
                    (Some(_), Some(serde_json::Value::Object(inputs))) => inputs.clone(),
                    _ => args.clone(),
                };
                Some(Live::ToolBegun {
                    tool,
                    args,
                    depth: agent.depth(),
                })
            }
            What::Returned {
                turn,
                call,
                error,
                ms,
                ..
            } => {
                let tool = self.calls.remove(&(agent.clone(), *turn, *call))?;
                Some(Live::ToolEnded {
                    tool,
                    ok: error.is_none(),
                    ms: *ms,
                    note: error.as_ref().map(|error| error.message.clone()),
                })
            }
            What::Told {
                name, how, text, ..
            } if *how != Interpretation::Text => Some(Live::Refused {
                tool: name.clone(),
                reason: text.lines().next().unwrap_or_default().to_owned(),
            }),
            What::Dispatched {
                turn,
                call,
                dispatch,
            } => {
                let child = agent.child(*turn, *call);
                self.agents.insert(child, dispatch.agent_id.clone());
                Some(Live::Dispatched {
                    agent: dispatch.agent_id.clone(),
                    mission: dispatch.mission.clone(),
                })
            }
            What::Finished(_) => {
                let agent = self.agents.remove(agent)?;
                Some(Live::AgentEnded { agent })
            }
            _ => None,
        }
    }
}

/// A message that has no text of its own, in a line.
pub(super) fn summary(body: &str) -> String {
    match serde_json::from_str(body) {
        Ok(Message::Tool { name, text, .. }) => format!("{name}: {text}"),
        Ok(Message::Assistant { calls, .. }) => {
            let call = |call: &deft_model::ToolCall| match &call.args {
                CallArgs::Object(args) => {
                    let args = serde_json::to_string(args).unwrap_or_default();
                    format!("{} {args}", call.name)
                }
                CallArgs::Invalid(raw) => format!("{} {raw}", call.name),
            };
            let calls: Vec<String> = calls.iter().map(call).collect();
            calls.join("\n")
        }
        Ok(Message::User { text }) => text,
        Err(_) => String::new(),
    }
}

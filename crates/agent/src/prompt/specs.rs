//! The tools that every agent with skills has, as described to a model.
//!
//! The `skill` tool itself depends on the existing skills and is built by the crate that knows them.

use deft_model::ToolSpec;
use serde_json::json;

/// The tool that dispatches agents.
pub(super) const DISPATCH: &str = "dispatch_agent";

/// Maximum number of agents that the description of `dispatch_agent` names.
const MAX_NAMED: usize = 50;

/// Returns the tool `get_skill`, which lists skills in four levels (S2.24).
pub fn get_skill() -> ToolSpec {
    ToolSpec {
        name: "get_skill".to_owned(),
        description: "List skills and show their pages. Without `topic`: all domains. With a domain: its skills. With a skill (`domain.action`): its full page with flags and examples. With `DOMAIN.all`: every page of the domain. With `tag:NAME`: the skills with a tag.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "topic": {
                    "type": "string",
                    "description": "A domain, a skill, `DOMAIN.all`, or `tag:NAME`",
                },
            },
            "additionalProperties": false,
        }),
    }
}

/// Returns the tool `use_skill`, which runs a command as its page describes it (S2.50).
pub fn use_skill() -> ToolSpec {
    ToolSpec {
        name: "use_skill".to_owned(),
        description:
            "Run a skill. Look at its page with `get_skill` first if you do not know its flags."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "skill": {
                    "type": "string",
                    "description": "The skill, `domain.action`",
                },
                "arguments": {
                    "type": "object",
                    "description": "Its flags by name, without `--`",
                },
            },
            "required": ["skill"],
            "additionalProperties": false,
        }),
    }
}

/// Returns the tool `dispatch_agent`, which dispatches another agent (S2.59). `agents` are ids with
/// descriptions; any other name makes a new agent without a prompt of its own.
pub fn dispatch_agent<'a>(agents: impl IntoIterator<Item = (&'a str, &'a str)>) -> ToolSpec {
    let mut description = String::from(
        "Dispatch an agent with a mission. It sees only the mission, the context and the skills that you pass, works on its own and returns a summary. Use it for work that changes something, and for work that can run in parallel.",
    );
    let mut agents = agents.into_iter();
    let named: Vec<String> = agents
        .by_ref()
        .take(MAX_NAMED)
        .map(
            |(id, about)| match about.lines().next().unwrap_or_default().trim() {
                "" => format!("`{id}`"),
                about => format!("`{id}` ({about})"),
            },
        )
        .collect();
    if !named.is_empty() {
        description.push_str(&format!(" Available agents: {}", named.join(", ")));
        match agents.count() {
            0 => description.push('.'),
            more => description.push_str(&format!(", and {more} more.")),
        }
    }
    ToolSpec {
        name: DISPATCH.to_owned(),
        description,
        schema: json!({
            "type": "object",
            "properties": {
                "agent_id": {
                    "type": "string",
                    "description": "A name for the agent, such as `report_sender`",
                },
                "mission": {
                    "type": "string",
                    "description": "The task, in full sentences; the agent knows nothing else",
                },
                "skills": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The skills and tools it may use, by name",
                },
                "context": {
                    "type": "string",
                    "description": "Facts that it needs: names, addresses, results so far",
                },
            },
            "required": ["agent_id", "mission", "skills"],
            "additionalProperties": false,
        }),
    }
}

/// Whether a skill or a tool only reads, so that an agent may use it without dispatching another one (S2.58):
/// by the annotations of its tool, or else by the last part of its name.
pub fn is_read_only(name: &str, read_only_hint: Option<bool>) -> bool {
    read_only_hint.unwrap_or_else(|| deft_command::reads_only(name))
}

//! Definitions of the tools with which models manage skills.
//!
//! The schemas are laxer than the records: where models make mistakes, text is accepted too, and optional
//! values may be null (S0.45). They allow additional properties, because alternative names are fixed, and
//! unknown ones are rejected with a better message than a schema could give.

use serde_json::{Value, json};

/// A tool as described to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema {
    /// The name.
    pub name: &'static str,
    /// The purpose, and advice against common mistakes.
    pub description: &'static str,
    /// The JSON Schema of the arguments.
    pub input: Value,
}

/// Returns the five management tools (S0.61) and the two tools for background jobs (S0.77).
pub fn tool_schemas() -> Vec<ToolSchema> {
    vec![
        ToolSchema {
            name: "memory_store_skill",
            description: "Store a skill that runs once, on a schedule, on a keyword or on demand. \
                          For a fixed call give `execution_plan` with one step. For work that \
                          needs reading, judging or writing at run time give `instructions` and \
                          `required_tools`. Look up tools of other servers with `get_tool_catalog` \
                          first. Check the result: it describes what was stored.",
            input: object(&skill_fields(), &["name", "instructions"]),
        },
        ToolSchema {
            name: "memory_update_skill",
            description: "Change a skill. Give its `id` or its `name`, and only the fields that \
                          change; null removes a field. A new time replaces the old one entirely. \
                          To rename a skill give its `id` and the new `name`.",
            input: object(&with_id(changed_fields()), &[]),
        },
        ToolSchema {
            name: "memory_list_skills",
            description: "List skills, stored ones and those of files; filters may be combined.",
            input: object(&filters(), &[]),
        },
        ToolSchema {
            name: "memory_get_skill",
            description: "Show one skill with everything that is stored about it. Give its `id` \
                          or its `name`.",
            input: object(&with_id(name_only()), &[]),
        },
        ToolSchema {
            name: "memory_delete_skill",
            description: "Delete a skill. Give its `id` or its `name`. To stop it for a \
                          while, update it with `enabled: false` instead.",
            input: object(&with_id(name_only()), &[]),
        },
        ToolSchema {
            name: "queue_task",
            description: "Run a tool call, or several in order, in the background. Returns a \
                          `taskId` immediately; `get_job_status` returns the result.",
            input: object(&task(), &["name", "action"]),
        },
        ToolSchema {
            name: "get_job_status",
            description: "Show the state of a background task: queued, running, completed or \
                 failed.",
            input: object(
                &json!({"taskId": {"type": ["string", "integer"], "description": "What `queue_task` returned."}}),
                &["taskId"],
            ),
        },
    ]
}

fn object(properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn with_id(mut properties: Value) -> Value {
    properties["id"] = json!({
        "type": ["integer", "string", "null"],
        "description": "The number of the skill, as `memory_list_skills` shows it.",
    });
    properties
}

fn name_only() -> Value {
    json!({"name": {"type": ["string", "null"], "description": "The name of the skill."}})
}

fn filters() -> Value {
    json!({
        "enabled": {"type": ["boolean", "string", "null"], "description": "Only enabled (true) or disabled (false) ones."},
        "trigger_type": {"enum": ["cron", "event", "manual", null], "description": "Only those that fire this way."},
        "agent_id": {"type": ["string", "null"], "description": "Only those of this agent."},
    })
}

/// The fields of a new skill. Every request to a model pays for each word, so rarely used fields are accepted
/// but not listed.
fn skill_fields() -> Value {
    let mut fields = short_fields();
    fields["execution_plan"]["items"] = json!({
        "type": ["object", "string"],
        "properties": {
            "id": {"type": ["string", "integer", "null"], "description": "Such as `step1`."},
            "toolName": {"type": "string", "description": "Its exact name."},
            "parameters": {"type": ["object", "string", "null"], "description": "Its arguments."},
        },
    });
    fields
}

/// The fields of an update.
fn changed_fields() -> Value {
    let mut fields = short_fields();
    fields["enabled"] = json!({
        "type": ["boolean", "string", "null"],
        "description": "False disables the skill.",
    });
    fields
}

fn short_fields() -> Value {
    json!({
        "name": {"type": "string", "description": "A few words."},
        "instructions": {
            "type": "string",
            "description": "What to do, for a reader who has not seen this conversation.",
        },
        "trigger_type": {
            "enum": ["cron", "event", "manual", null],
            "description": "`cron` for times, `event` for keywords in messages, `manual` for on demand.",
        },
        "trigger_config": {
            "type": ["object", "string", "null"],
            "description": "When it fires, exactly one of: ONCE {\"in_minutes\": 5}, {\"in_hours\": 2}, {\"at\": \"15:00\"}, {\"at\": \"tomorrow at 9:00\"}; REPEATED {\"interval_minutes\": 5}, {\"schedule\": \"0 9 * * 1-5\"}; or the words of the user {\"when\": \"weekdays 9:00\"}. Never calculate a time yourself. `timezone` only if the user names one.",
        },
        "required_tools": {
            "type": ["array", "string", "null"],
            "items": {"type": "string"},
            "description": "Exact names of the only tools that an agent skill can use.",
        },
        "execution_plan": {
            "type": ["array", "object", "string", "null"],
            "description": "Calls with fixed arguments, in order: {id, toolName, parameters}. One step needs no model; several only if a later one uses {{ step1.result }}.",
        },
        "keywords": {
            "type": ["array", "string", "null"],
            "items": {"type": "string"},
            "description": "For `event`: keywords that activate the skill.",
        },
        "max_steps": {"type": ["integer", "string", "null"], "description": "Maximum number of model turns (default 10)."},
        "notify_on_completion": {
            "type": ["boolean", "string", "null"],
            "description": "False when the skill itself sends a message.",
        },
    })
}

fn task() -> Value {
    json!({
        "name": {"type": "string", "description": "A name for the task."},
        "action": {
            "type": ["object", "string"],
            "properties": {
                "type": {"enum": ["tool_call", "workflow", null], "description": "One call, or several in order."},
                "toolName": {"type": ["string", "null"], "description": "For `tool_call`: the exact name of the tool."},
                "parameters": {"type": ["object", "string", "null"], "description": "For `tool_call`: its arguments."},
                "workflowSteps": {
                    "type": ["array", "string", "null"],
                    "description": "For `workflow`: the calls, each {id, toolName, parameters}. A later one may use an earlier one: {{ step1.result }}.",
                },
            },
            "description": "What to do.",
        },
    })
}

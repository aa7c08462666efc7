//! The tools by which models manage skills, as they are shown to models.
//!
//! The schemas are laxer than the records they lead to: where models err, text
//! is taken too, and optional values may be null (S0.45). Closed they are not,
//! because what has another name is mended, and what is unknown is refused
//! with a better sentence than a schema could give.

use serde_json::{Value, json};

/// A tool as it is shown to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema {
    /// Its name.
    pub name: &'static str,
    /// What it does, and how not to get it wrong.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub input: Value,
}

/// The five management tools (S0.61) and the two of background jobs (S0.77).
pub fn tool_schemas() -> Vec<ToolSchema> {
    vec![
        ToolSchema {
            name: "memory_store_skill",
            description: "Store a skill: something to be done once at a time, again and again, \
                          when a message mentions a word, or on demand. For a fixed call give \
                          `execution_plan` with one step (no model, no tokens). For anything that \
                          needs reading, judging or writing give `instructions` and \
                          `required_tools`. Look tool names up with `get_tool_catalog` first. The \
                          answer says what was stored: check that it is what was asked for.",
            input: object(&skill_fields(), &["name", "instructions"]),
        },
        ToolSchema {
            name: "memory_update_skill",
            description: "Change a skill. Give its `id` or its `name`, and only the fields that \
                          change; null removes a field. A new time replaces the old one entirely. \
                          To rename a skill give its `id` and the new `name`.",
            input: object(&with_id(short_fields()), &[]),
        },
        ToolSchema {
            name: "memory_list_skills",
            description: "List stored skills; filters may be combined.",
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
            description: "Delete a skill for good. Give its `id` or its `name`. To stop it for a \
                          while, update it with `enabled: false` instead.",
            input: object(&with_id(name_only()), &[]),
        },
        ToolSchema {
            name: "queue_task",
            description: "Run a tool call, or several in order, in the background. Returns a \
                          `taskId` at once; ask `get_job_status` what became of it.",
            input: object(&task(), &["name", "action"]),
        },
        ToolSchema {
            name: "get_job_status",
            description: "What became of a background task: queued, running, completed or failed.",
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
        "enabled": {"type": ["boolean", "string", "null"], "description": "Only those that are switched on, or off."},
        "trigger_type": {"enum": ["cron", "event", "manual", null], "description": "Only those that fire this way."},
        "agent_id": {"type": ["string", "null"], "description": "Only those of this agent."},
    })
}

fn skill_fields() -> Value {
    let mut fields = short_fields();
    fields["trigger_config"]["description"] = json!(
        "When it fires: exactly one of these. \"IN 5 minutes\" is ONCE: {\"in_minutes\": 5}. \"EVERY 5 minutes\" is AGAIN AND AGAIN: {\"interval_minutes\": 5}. Never calculate a time yourself."
    );
    fields["trigger_config"]["properties"] = trigger_fields();
    fields["execution_plan"]["items"] = step();
    fields["execution_plan"]["description"] = json!(
        "Calls with fixed arguments. One step runs directly, without a model. Several run as a workflow only if a later one uses an earlier one, as in {{ step1.result }}; otherwise leave the plan out and write instructions."
    );
    fields
}

/// The same fields for whoever changes a skill: what is nested is said in a line, because nothing
/// is looked up twice and every question pays for every word.
fn short_fields() -> Value {
    json!({
        "name": {"type": "string", "description": "A few words."},
        "description": {"type": ["string", "null"], "description": "One line for listings."},
        "instructions": {
            "type": "string",
            "description": "What is to be done, complete enough for somebody who has not seen this conversation.",
        },
        "trigger_type": {
            "enum": ["cron", "event", "manual", null],
            "description": "`cron` for times, `event` for keywords in messages, `manual` for on demand. May be left out.",
        },
        "trigger_config": {
            "type": ["object", "string", "null"],
            "description": "When it fires: one of {\"in_minutes\": 5}, {\"in\": \"1h30m\"}, {\"at\": \"tomorrow at 9:00\"} for ONCE, {\"interval_minutes\": 5}, {\"schedule\": \"0 9 * * 1-5\"} for AGAIN AND AGAIN. Never calculate a time yourself.",
        },
        "required_tools": {
            "type": ["array", "string", "null"],
            "items": {"type": "string"},
            "description": "Exact names from `get_tool_catalog`: the only tools that an agent skill can use.",
        },
        "execution_plan": {
            "type": ["array", "object", "string", "null"],
            "description": "Calls with fixed arguments, in order: {id, toolName, parameters}.",
        },
        "keywords": {
            "type": ["array", "string", "null"],
            "items": {"type": "string"},
            "description": "For `event`: words in a message that call for the skill.",
        },
        "max_steps": {"type": ["integer", "string", "null"], "description": "The most turns of a model; usually 10."},
        "notify_on_completion": {
            "type": ["boolean", "string", "null"],
            "description": "Whether a finished run is reported; usually true. False when the skill itself sends a message.",
        },
        "notify_interval_minutes": {"type": ["integer", "string", "null"], "description": "The least time between reports."},
        "agent_id": {"type": ["string", "null"], "description": "Who owns it; usually `thinker`."},
        "enabled": {
            "type": ["boolean", "string", "null"],
            "description": "False stores it asleep; it wakes up when all its tools are there.",
        },
    })
}

fn trigger_fields() -> Value {
    json!({
        "in_minutes": {"type": ["number", "string", "null"], "description": "ONCE, so many minutes from now."},
        "in_hours": {"type": ["number", "string", "null"], "description": "ONCE, so many hours from now."},
        "in": {"type": ["string", "null"], "description": "ONCE, after a length of time such as `1h30m`."},
        "at": {
            "type": ["string", "number", "null"],
            "description": "ONCE, at `15:00`, `tomorrow at 9:00` or `2026-02-14T15:00:00`. Without an offset it is the user's time; do not add `Z`.",
        },
        "interval_minutes": {"type": ["number", "string", "null"], "description": "AGAIN AND AGAIN, every so many minutes."},
        "schedule": {
            "type": ["string", "null"],
            "description": "AGAIN AND AGAIN, by the clock: cron of 5 fields such as `0 9 * * 1-5`, or `every monday at 9:00`.",
        },
        "timezone": {"type": ["string", "null"], "description": "Leave it out unless the user names one; then its IANA name."},
    })
}

fn step() -> Value {
    json!({
        "type": ["object", "string"],
        "properties": {
            "id": {"type": ["string", "integer", "null"], "description": "Names its result, such as `step1`."},
            "toolName": {"type": "string", "description": "The exact name of the tool."},
            "parameters": {"type": ["object", "string", "null"], "description": "Its arguments."},
            "on_error": {"type": ["string", "null"], "description": "`fail`, `continue` or `retry:3`."},
            "timeout": {"type": ["string", "number", "null"], "description": "Such as `30s`."},
        },
    })
}

fn task() -> Value {
    json!({
        "name": {"type": "string", "description": "What the task is called."},
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
            "description": "What is to be done.",
        },
    })
}

//! The public events of an agent: its calls, its replies, its refusals.
//!
//! Texts of prompts and results stay in the journal; the public form says what happened and how
//! long it took. Not here: deciding anything.

use deft_agent::{Event, EventKind, Interpretation};
use deft_model::Object;
use serde_json::{Value, json};

use crate::Path;
use crate::public_form::{OPTIONS, failure, seconds, with_fields};

/// The public form of an event of an agent; some have none.
pub(crate) fn public(path: &Path, event: &Event) -> Option<(&'static str, Object)> {
    if matches!(event.what, EventKind::Finished(_)) && event.agent.is_root() {
        return None;
    }
    let (kind, mut fields) = public_what(&event.what)?;
    fields["step_id"] = json!(path);
    if !event.agent.is_root() {
        fields["agent_path"] = Value::String(event.agent.to_string());
    }
    with_fields(kind, fields)
}

fn public_what(what: &EventKind) -> Option<(&'static str, Value)> {
    Some(match what {
        EventKind::Began(setup) => (
            "agent_started",
            json!({ "agent": setup.agent, "model": setup.model,
                "tools": setup.tools.iter().map(|offer| &offer.tool).collect::<Vec<_>>() }),
        ),
        EventKind::Replied {
            turn,
            reply,
            model,
            cost_usd,
            ms,
            ..
        } => (
            "model_replied",
            json!({ "turn": turn, "model": model, "text": reply.text, "calls": reply.calls.len(),
                "usage": { "input_tokens": reply.usage.input, "output_tokens": reply.usage.output,
                    "cost_usd": cost_usd }, "duration": seconds(*ms) }),
        ),
        EventKind::Silent { turn, failure: why } => (
            "model_failed",
            json!({ "turn": turn, "error": failure(why) }),
        ),
        EventKind::Told {
            turn,
            call,
            name,
            how,
            text,
        } => (
            event_word(*how),
            json!({ "turn": turn, "call": call, "tool": name, "reason": text }),
        ),
        EventKind::Question {
            turn,
            call,
            tool,
            args,
            message,
            ..
        } => (
            "confirmation_required",
            json!({ "turn": turn, "call": call, "message": message, "options": OPTIONS,
                "operation": { "kind": "tool", "name": tool, "args": args } }),
        ),
        EventKind::Answered {
            turn,
            call,
            yes,
            by,
            ..
        } => (
            "confirmation_answered",
            json!({ "turn": turn, "call": call, "answer": if *yes { OPTIONS[0] } else { OPTIONS[1] },
                "by": by }),
        ),
        EventKind::Called {
            turn,
            call,
            tool,
            args,
            ..
        } => (
            "tool_called",
            json!({ "turn": turn, "call": call, "tool": tool, "args": args }),
        ),
        EventKind::Dispatched {
            turn,
            call,
            dispatch,
        } => (
            "agent_dispatched",
            json!({ "turn": turn, "call": call, "agent": dispatch.agent_id, "mission": dispatch.mission }),
        ),
        EventKind::Returned {
            turn,
            call,
            value,
            error,
            ms,
        } => (
            "tool_returned",
            json!({ "turn": turn, "call": call, "success": error.is_none(), "result": value,
                "error": error.as_ref().map(failure), "duration": seconds(*ms) }),
        ),
        EventKind::Finished(finished) => (
            "agent_finished",
            json!({ "text": finished.text, "error": finished.error.as_ref().map(failure) }),
        ),
        EventKind::Unable { .. }
        | EventKind::Asked { .. }
        | EventKind::Offered { .. }
        | EventKind::Reminded { .. }
        | EventKind::Rejected { .. }
        | EventKind::Reopened => return None,
    })
}

fn event_word(how: Interpretation) -> &'static str {
    match how {
        Interpretation::Text | Interpretation::Made => "tool_answered",
        Interpretation::Refused
        | Interpretation::Mistaken
        | Interpretation::Problem
        | Interpretation::Declined
        | Interpretation::Described => "tool_refused",
    }
}

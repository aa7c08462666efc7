//! The public form of an agent's events: its calls, its replies, its refusals.
//!
//! Texts of prompts stay in the journal; the public form reports what happened and how long it took. Not
//! here: any decisions.

use deft_agent::{Event, EventKind, Interpretation};
use deft_model::Object;
use deft_wire::approval::{ApprovalAnswer, OperationView};
use deft_wire::event::{
    AgentPlace, Confirmation, ConfirmationAnswer, EventBody, ReplyUsage, ToolReason,
};
use serde_json::Value;

use crate::Path;
use crate::public_form::{failure, object, seconds, text, value};

/// Returns the public form of an event of an agent, if it has one.
pub(crate) fn public(path: &Path, event: &Event) -> Option<EventBody> {
    let place = AgentPlace {
        step_id: path.to_string(),
        agent_path: (!event.agent.is_root()).then(|| event.agent.to_string()),
    };
    Some(match &event.what {
        EventKind::Began(setup) => EventBody::AgentStarted {
            agent: text(&setup.agent),
            model: text(&setup.model),
            tools: setup.tools.iter().map(|offer| text(&offer.tool)).collect(),
            place,
        },
        EventKind::Replied {
            turn,
            reply,
            model,
            cost_usd,
            ms,
            ..
        } => EventBody::ModelReplied {
            turn: *turn,
            model: text(model),
            text: text(&reply.text),
            calls: reply.calls.len(),
            usage: ReplyUsage {
                input_tokens: reply.usage.input,
                output_tokens: reply.usage.output,
                cost_usd: *cost_usd,
            },
            duration: seconds(*ms),
            place,
        },
        EventKind::Silent { turn, failure: why } => EventBody::ModelFailed {
            turn: *turn,
            error: failure(why),
            place,
        },
        EventKind::Told { .. }
        | EventKind::Question { .. }
        | EventKind::Answered { .. }
        | EventKind::Called { .. }
        | EventKind::Dispatched { .. }
        | EventKind::Returned { .. } => return public_call(&event.what, place),
        // The event that ends the step reports it.
        EventKind::Finished(_) if event.agent.is_root() => return None,
        EventKind::Finished(finished) => EventBody::AgentFinished {
            text: text(&finished.text),
            error: finished.error.as_ref().map(failure),
            place,
        },
        EventKind::Unable { .. }
        | EventKind::Asked { .. }
        | EventKind::Offered { .. }
        | EventKind::Reminded { .. }
        | EventKind::Rejected { .. }
        | EventKind::Reopened => return None,
    })
}

/// Returns the public form of an event of one call.
fn public_call(what: &EventKind, place: AgentPlace) -> Option<EventBody> {
    Some(match what {
        EventKind::Told {
            turn,
            call,
            name,
            how,
            text: reason,
        } => {
            let reason = ToolReason {
                turn: *turn,
                call: *call,
                tool: text(name),
                reason: text(reason),
                place,
            };
            answered_by_deft(*how, reason)
        }
        EventKind::Question {
            turn,
            call,
            tool,
            args,
            message,
            ..
        } => EventBody::ConfirmationRequired(Confirmation::Call {
            turn: *turn,
            call: *call,
            message: text(message),
            options: ApprovalAnswer::ALL.to_vec(),
            operation: tool_call(tool, args),
            place,
        }),
        EventKind::Answered {
            turn,
            call,
            yes,
            by,
            ..
        } => EventBody::ConfirmationAnswered(ConfirmationAnswer::Call {
            turn: *turn,
            call: *call,
            answer: match yes {
                true => ApprovalAnswer::Yes,
                false => ApprovalAnswer::No,
            },
            by: text(by),
            place,
        }),
        EventKind::Called {
            turn,
            call,
            tool,
            args,
            ..
        } => EventBody::ToolCalled {
            turn: *turn,
            call: *call,
            tool: text(tool),
            args: object(args),
            place,
        },
        EventKind::Dispatched {
            turn,
            call,
            dispatch,
        } => EventBody::AgentDispatched {
            turn: *turn,
            call: *call,
            agent: text(&dispatch.agent_id),
            mission: text(&dispatch.mission),
            place,
        },
        EventKind::Returned {
            turn,
            call,
            value: result,
            error,
            ms,
        } => EventBody::ToolReturned {
            turn: *turn,
            call: *call,
            success: error.is_none(),
            result: result.as_ref().map(value).unwrap_or_default(),
            error: error.as_ref().map(failure),
            duration: seconds(*ms),
            place,
        },
        EventKind::Began(_)
        | EventKind::Unable { .. }
        | EventKind::Asked { .. }
        | EventKind::Replied { .. }
        | EventKind::Silent { .. }
        | EventKind::Offered { .. }
        | EventKind::Reminded { .. }
        | EventKind::Rejected { .. }
        | EventKind::Finished(_)
        | EventKind::Reopened => return None,
    })
}

fn answered_by_deft(how: Interpretation, reason: ToolReason) -> EventBody {
    match how {
        Interpretation::Text | Interpretation::Made => EventBody::ToolAnswered(reason),
        Interpretation::Refused
        | Interpretation::Mistaken
        | Interpretation::Problem
        | Interpretation::Declined
        | Interpretation::Described => EventBody::ToolRefused(reason),
    }
}

fn tool_call(tool: &str, args: &Object) -> OperationView {
    OperationView {
        kind: "tool".to_owned(),
        name: Some(text(tool)),
        args: Some(Value::Object(object(args))),
        remember: None,
    }
}

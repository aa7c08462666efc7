//! Questions to the person behind a client: by a request from the server in older revisions, by a result that
//! asks for input in newer ones.

use deft_service::ask::{Answer, Asker, PendingResponse, Question, Response};
use deft_wire::approval::{ApprovalAnswer, ApprovalView};
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};

/// State and answers that a client sends when it repeats a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Retry {
    /// State from the last reply: the id of the run.
    pub(super) state: Option<String>,
    /// Answers by approval id.
    pub(super) responses: Option<InputResponses>,
}

/// How the person behind a client can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskMethod {
    /// With a request from the server.
    Request,
    /// With a result that asks for input.
    Reply,
    /// Not at all.
    Nothing,
}

/// Determines how the person behind a client can be asked.
pub(super) fn ask_by(context: &RequestContext<RoleServer>) -> AskMethod {
    let capability = context.client_capabilities().and_then(|it| it.elicitation);
    // Older revisions do not name the modes; their clients all support forms.
    if !capability.is_some_and(|it| it.form.is_some() || it.url.is_none()) {
        return AskMethod::Nothing;
    }
    let version = context.protocol_version();
    if version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
        AskMethod::Reply
    } else {
        AskMethod::Request
    }
}

/// Returns the client's name as stored in records.
pub(super) fn client_name(context: &RequestContext<RoleServer>) -> String {
    match context.client_info() {
        Some(client) => format!("mcp:{}", client.name),
        None => "mcp".to_owned(),
    }
}

/// Asks the person behind a client while a run is in progress.
pub(super) struct ClientAsker {
    pub(super) peer: Peer<RoleServer>,
    pub(super) name: String,
}

impl Asker for ClientAsker {
    fn ask(&self, question: Question) -> PendingResponse {
        let peer = self.peer.clone();
        Box::pin(async move {
            let answer = match ask(&peer, &question.message).await? {
                ApprovalAnswer::Yes => Answer::Yes,
                ApprovalAnswer::No => Answer::No,
                ApprovalAnswer::Skip => Answer::Skip,
            };
            Some(Response::from(answer))
        })
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Asks the person behind a client with a session. Returns `None` if the person gave no answer.
pub(super) async fn ask(peer: &Peer<RoleServer>, message: &str) -> Option<ApprovalAnswer> {
    let result = peer.create_elicitation(form(message)?).await.ok()?;
    read(&result)
}

/// Builds a result that asks for the answer to one approval.
pub(super) fn ask_again(id: &str, message: &str) -> InputRequiredResult {
    let request = form(message).map(ElicitRequest::new);
    let request = request.map(|request| (id.to_owned(), InputRequest::Elicitation(request)));
    InputRequiredResult::new(Some(request.into_iter().collect()), Some(id.to_owned()))
}

/// Builds a result that asks for the answers to the approvals of a run.
pub(super) fn input_required(run: &str, approvals: &[ApprovalView]) -> InputRequiredResult {
    InputRequiredResult::new(Some(input_requests(approvals)), Some(run.to_owned()))
}

/// Converts the approvals of a run to requests to the client, by approval id.
pub(super) fn input_requests(approvals: &[ApprovalView]) -> InputRequests {
    let requests = approvals.iter().filter_map(|approval| {
        let request = ElicitRequest::new(form(&approval.message)?);
        Some((approval.id.clone(), InputRequest::Elicitation(request)))
    });
    requests.collect()
}

/// Parses an answer from a client. Returns `None` if the person gave no answer.
pub(super) fn read_response(response: &Value) -> Option<ApprovalAnswer> {
    let result: ElicitResult = serde_json::from_value(response.clone()).ok()?;
    read(&result)
}

fn read(result: &ElicitResult) -> Option<ApprovalAnswer> {
    if result.action == ElicitationAction::Decline {
        return Some(ApprovalAnswer::No);
    }
    let accepted = result.action == ElicitationAction::Accept;
    let content = result.content.as_ref().filter(|_| accepted)?;
    serde_json::from_value(content.get("answer")?.clone()).ok()
}

fn form(message: &str) -> Option<ElicitRequestParams> {
    let words = ApprovalAnswer::ALL.map(ApprovalAnswer::word);
    let schema = json!({
        "type": "object",
        "properties": {
            "answer": {
                "type": "string",
                "title": "Answer",
                "description": "`skip` leaves the step out and continues",
                "enum": words,
            },
        },
        "required": ["answer"],
    });
    let schema = schema.as_object()?.clone();
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: ElicitationSchema::from_json_schema(schema).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_of_the_form_are_accepted() {
        for (response, expected) in [
            (
                json!({"action": "accept", "content": {"answer": "yes"}}),
                Some(ApprovalAnswer::Yes),
            ),
            (
                json!({"action": "accept", "content": {"answer": "skip"}}),
                Some(ApprovalAnswer::Skip),
            ),
            (
                json!({"action": "accept", "content": {"answer": "maybe"}}),
                None,
            ),
            (json!({"action": "accept"}), None),
            (json!({"action": "decline"}), Some(ApprovalAnswer::No)),
            (json!({"action": "cancel"}), None),
            (json!("yes"), None),
        ] {
            assert_eq!(read_response(&response), expected, "{response}");
        }
    }

    #[test]
    fn the_form_offers_every_answer() {
        let Some(ElicitRequestParams::FormElicitationParams {
            requested_schema, ..
        }) = form("send?")
        else {
            panic!("no form");
        };
        let schema = serde_json::to_value(requested_schema).unwrap();
        assert_eq!(
            schema["properties"]["answer"]["enum"],
            json!(["yes", "no", "skip"])
        );
    }
}

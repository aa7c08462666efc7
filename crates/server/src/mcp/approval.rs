//! The tool `approval_answer`: the person behind a client answers an approval.
//!
//! A model may call the tool but must not decide. Therefore the person is always asked, whatever the
//! arguments say; clients that cannot ask a person are refused.

use deft_service::doorbell::{self, Ring};
use deft_service::runs::RunWork;
use deft_service::{App, Lock, approvals};
use deft_wire::approval::{ApprovalAnswer, ApprovalDocument, ApprovalView};
use deft_wire::mcp::ApprovalAnswerRequest;
use deft_wire::{Done, Failure};
use rmcp::model::{CallToolResponse, CallToolResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::elicit::{self, AskMethod, Retry};
use super::handler::McpServer;
use super::{reply, run};

/// Asks the person and stores the answer.
pub(super) async fn answer(
    server: &McpServer,
    request: ApprovalAnswerRequest,
    retry: Retry,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let ask_by = elicit::ask_by(context);
    let id = request.id.clone();
    let found = server.ask(move |app| find(app, &id, ask_by)).await?;
    let question = match found {
        Ok(question) => question,
        Err(failure) => return Ok(reply::failure(&failure).into()),
    };
    let asked = words(&question, request.always);
    let answer = match ask_by {
        AskMethod::Request => elicit::ask(&context.peer, &asked).await,
        AskMethod::Reply => {
            let responses = retry.responses.unwrap_or_default();
            let response = responses.get(&question.id);
            match response.and_then(elicit::read_response) {
                Some(answer) if retry.state.as_ref() == Some(&question.id) => Some(answer),
                Some(_) => return Err(unknown_state()),
                None if response.is_some() => None,
                None => return Ok(elicit::ask_again(&question.id, &asked).into()),
            }
        }
        AskMethod::Nothing => None,
    };
    let Some(answer) = answer else {
        return Ok(reply::failure(&unanswered_failure()).into());
    };
    store(server, question.id, answer, request.always, context)
        .await
        .map(Into::into)
}

/// Returns the approval. Fails if the client cannot ask a person.
fn find(app: &App, id: &str, ask_by: AskMethod) -> Done<ApprovalView> {
    let question = approvals::show(app, id)?;
    match ask_by {
        AskMethod::Request | AskMethod::Reply => Ok(question),
        AskMethod::Nothing => {
            let message = "this client cannot ask a person, and only a person may approve";
            let hint = format!(
                "ask the person to run: deft approvals approve {id}, or: deft approvals reject {id}",
                id = question.id
            );
            Err(Failure::input("no_person", message).hint(hint))
        }
    }
}

fn words(question: &ApprovalView, always: bool) -> String {
    let message = &question.message;
    if always {
        return format!("{message}\n(Yes also approves the same operation in the future.)");
    }
    message.clone()
}

fn unanswered_failure() -> Failure {
    Failure::input("no_person", "the person gave no answer")
        .hint("the approval stays pending: `deft approvals list` shows it")
}

fn unknown_state() -> ErrorData {
    ErrorData::invalid_params("the request state is unknown", None)
}

/// Stores the answer. A daemon continues the run; without one, this process continues it in the background.
async fn store(
    server: &McpServer,
    id: String,
    answer: ApprovalAnswer,
    always: bool,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let by = elicit::client_name(context);
    let resumer = server.clone();
    let stored = server.ask(move |app| {
        let approval = approvals::answer(app, &id, answer, always, &by)?;
        if Lock::holder(app.home()).is_some() {
            doorbell::ring(app.home(), Ring::Work);
        } else {
            let work = RunWork::Resume {
                id: approval.run.to_string(),
                by,
                old_revision: true,
            };
            run::drive_in_background(&resumer, work);
        }
        Ok(ApprovalDocument { approval })
    });
    let stored: Done<ApprovalDocument> = stored.await?;
    Ok(stored.map_or_else(
        |failure| reply::failure(&failure),
        |document| reply::document(&document),
    ))
}

//! Requests about a task: get its state, pass on answers, cancel it.

use deft_service::doorbell::{self, Ring};
use deft_service::{App, Lock, approvals, runs};
use deft_wire::FailureKind;
use jiff::Timestamp;
use rmcp::model::{GetTaskResult, InputResponses, UpdateTaskParams};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::follow;
use super::state::{TaskRun, internal};
use crate::mcp::elicit::{self, AskMethod};
use crate::mcp::handler::McpServer;

/// Reads the current state of a task's run.
pub(super) async fn look(server: &McpServer, id: &str) -> Result<TaskRun, ErrorData> {
    let id = id.to_owned();
    server.ask(move |app| TaskRun::read(app, &id)).await?
}

/// Returns the state of a task. Without a daemon, resumes a run that no process drives.
pub(in crate::mcp) async fn get(
    server: &McpServer,
    id: &str,
    context: &RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    let run = look(server, id).await?;
    if run.lacks_driver() && server.ask(|app| Lock::holder(app.home()).is_none()).await? {
        follow::resume_task(server, id, &elicit::client_name(context)).await?;
    }
    let task = run.describe(elicit::ask_by(context), Timestamp::now());
    Ok(GetTaskResult::new(task))
}

/// Passes on the answers of the person. Answers to questions that are not open are ignored; a client that cannot ask a
/// person has no answers to give.
pub(in crate::mcp) async fn update(
    server: &McpServer,
    request: UpdateTaskParams,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let by = elicit::client_name(context);
    let (id, name) = (request.task_id.clone(), by.clone());
    let responses = request.input_responses;
    if !responses.is_empty() && elicit::ask_by(context) == AskMethod::Nothing {
        let message = "this client has not declared that it can ask a person";
        return Err(ErrorData::invalid_params(message, None));
    }
    let answered = server.ask(move |app| answer(app, &id, &responses, &name));
    if answered.await?? {
        follow::resume_task(server, &request.task_id, &by).await?;
    }
    Ok(())
}

/// Stores the answers, and returns whether at least one approval was answered.
fn answer(app: &App, id: &str, responses: &InputResponses, by: &str) -> Result<bool, ErrorData> {
    let run = TaskRun::read(app, id)?;
    let mut is_answered = false;
    for question in &run.questions {
        let response = responses.get(&question.id);
        let Some(answer) = response.and_then(elicit::read_response) else {
            continue;
        };
        match approvals::answer(app, &question.id, answer, false, by) {
            Ok(_) => is_answered = true,
            // The approval was answered in the meantime; that answer counts.
            Err(failure) if failure.kind == FailureKind::Input => {}
            Err(failure) => return Err(internal(failure)),
        }
    }
    Ok(is_answered)
}

/// Cancels the run of a task. A run that has ended stays unchanged.
pub(in crate::mcp) async fn cancel(
    server: &McpServer,
    id: String,
    by: String,
) -> Result<(), ErrorData> {
    let cancelled = server.ask(move |app| {
        if TaskRun::read(app, &id)?.has_ended() {
            return Ok(());
        }
        runs::cancel(app, &id, &by).map_err(internal)?;
        doorbell::ring(app.home(), Ring::Work);
        Ok(())
    });
    cancelled.await?
}

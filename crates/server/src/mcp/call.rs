//! Tool calls.

use std::sync::Arc;

use axum::http::request::Parts;
use deft_service::doorbell::{self, Ring};
use deft_service::runs::{self, CancelResult, RunQuery};
use deft_service::tools::{self, ToolRequest};
use deft_service::{App, approvals};
use deft_wire::Done;
use deft_wire::approval::ApprovalList;
use deft_wire::mcp::{
    ApprovalListRequest, CancelledRun, RunListRequest, RunPage, RunRequest, SkillRunRequest,
};
use deft_wire::model::{RunOrigin, TraceContext};
use deft_wire::run::RunDocument;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest,
    JsonObject, ServerResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::catalog::{Control, Target};
use super::elicit::Retry;
use super::handler::McpServer;
use super::relay::Upstream;
use super::run::{self, RunCall};
use super::{approval, elicit, relay, reply};
use crate::request_id::RequestId;

/// Default number of listed runs.
const RUNS: u32 = 20;

/// Maximum number of listed runs.
const MAX_RUNS: u32 = 200;

/// Calls a tool. Only an unknown name is a protocol error; other failures are returned as results.
pub(super) async fn call(
    server: &McpServer,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let catalog = server.catalog().await?;
    let Some(target) = catalog.find(&request.name).cloned() else {
        let message = format!("unknown tool `{}`", request.name);
        return Err(ErrorData::invalid_params(message, None));
    };
    if let Target::Relayed(upstream) = &target {
        return relay_call(server, upstream, request, context).await;
    }
    let retry = Retry {
        state: request.request_state,
        responses: request.input_responses,
    };
    let arguments = request.arguments.unwrap_or_default();
    let (skill, inputs) = match target {
        Target::Skill(id) => (id, arguments),
        Target::RunSkill => match parse::<SkillRunRequest>(arguments) {
            Ok(request) => (request.skill, request.inputs),
            Err(problem) => return Ok(reply::bad_arguments(&problem).into()),
        },
        Target::Control(Control::AnswerApproval) => {
            return match parse(arguments) {
                Ok(request) => approval::answer(server, request, retry, context).await,
                Err(problem) => Ok(reply::bad_arguments(&problem).into()),
            };
        }
        Target::Control(control) => {
            let by = elicit::client_name(context);
            let result = perform(server, control, arguments, by).await?;
            return Ok(result.into());
        }
        Target::Own(name) => return own(server, name, arguments, context).await.map(Into::into),
        Target::Relayed(_) => return Err(ErrorData::invalid_params("unknown tool", None)),
    };
    let call = RunCall {
        skill,
        inputs,
        retry,
        origin: origin(context),
    };
    run::run(server, call, context).await
}

/// Calls a tool of a server behind deft and returns its result unchanged.
async fn relay_call(
    server: &McpServer,
    upstream: &Upstream,
    mut params: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    params.name = upstream.name.clone().into();
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    match relay::forward(server, upstream, request, context).await {
        Ok(ServerResult::CallToolResult(result)) => Ok(result.into()),
        Ok(ServerResult::InputRequiredResult(input)) => Ok(input.into()),
        Ok(_) => Err(relay::unreadable(&upstream.server)),
        Err(error) => {
            let failure = relay::refusal(error)?;
            Ok(reply::tool_failure(failure).into())
        }
    }
}

/// Returns the origin of a request, as stored in journals of runs: over HTTP, its id is the one in the
/// response; over stdio, it is derived from the id of the message.
fn origin(context: &RequestContext<RoleServer>) -> RunOrigin {
    let parts = context.extensions.get::<Parts>();
    let id = parts.and_then(|parts| parts.extensions.get::<RequestId>());
    let id = id.map_or_else(|| message_id(context), |id| id.0.clone());
    let (meta, state) = (&context.meta, context.meta.get_tracestate());
    let trace = meta.get_traceparent();
    let trace = trace.and_then(|parent| TraceContext::parse(parent, state).ok());
    RunOrigin {
        request_id: Some(id),
        trace: trace.map(Arc::new),
    }
}

/// Returns the id of a request that came without an HTTP request.
pub(super) fn message_id(context: &RequestContext<RoleServer>) -> String {
    format!("mcp:{}", context.id)
}

/// Calls a tool that controls runs or approvals.
async fn perform(
    server: &McpServer,
    control: Control,
    arguments: JsonObject,
    by: String,
) -> Result<CallToolResult, ErrorData> {
    match control {
        Control::ListRuns => request(server, arguments, list_runs).await,
        Control::ShowRun => {
            let show = |app: &App, request: RunRequest| {
                let run = runs::show(app, &request.id)?;
                Ok(RunDocument { run })
            };
            request(server, arguments, show).await
        }
        Control::CancelRun => {
            let cancel = move |app: &App, request: RunRequest| cancel_run(app, &request.id, &by);
            request(server, arguments, cancel).await
        }
        Control::ListApprovals => {
            let list = |app: &App, request: ApprovalListRequest| {
                let approvals = approvals::list(app, request.answered)?;
                Ok(ApprovalList { approvals })
            };
            request(server, arguments, list).await
        }
        // Handled by `call`, because it needs the person behind the client.
        Control::AnswerApproval => Err(ErrorData::invalid_params("unknown tool", None)),
    }
}

/// Parses the arguments of a tool.
fn parse<T: DeserializeOwned>(arguments: JsonObject) -> serde_json::Result<T> {
    serde_json::from_value(Value::Object(arguments))
}

/// Parses `arguments`, runs `work` with the engine, and returns its result as a tool result.
async fn request<T, R>(
    server: &McpServer,
    arguments: JsonObject,
    work: impl FnOnce(&App, T) -> Done<R> + Send + 'static,
) -> Result<CallToolResult, ErrorData>
where
    T: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
{
    let arguments = match parse(arguments) {
        Ok(arguments) => arguments,
        Err(problem) => return Ok(reply::bad_arguments(&problem)),
    };
    let done = server.ask(move |app| work(app, arguments)).await?;
    Ok(done.map_or_else(
        |failure| reply::failure(&failure),
        |document| reply::document(&document),
    ))
}

fn list_runs(app: &App, request: RunListRequest) -> Done<RunPage> {
    let query = RunQuery {
        skill: request.skill,
        status: request.status,
        outcome: request.outcome,
        chats: false,
    };
    let limit = request.limit.unwrap_or(RUNS).clamp(1, MAX_RUNS);
    let runs = runs::list(app, query).next(limit)?;
    Ok(RunPage { runs })
}

fn cancel_run(app: &App, id: &str, by: &str) -> Done<CancelledRun> {
    let (is_over, run) = match runs::cancel(app, id, by)? {
        CancelResult::Now(run) | CancelResult::Before(run) => (true, run),
        CancelResult::Asked(run) => (false, run),
    };
    doorbell::ring(app.home(), Ring::Work);
    Ok(CancelledRun { is_over, run })
}

/// Calls one of deft's own tools. The call is aborted if the client cancels the request.
async fn own(
    server: &McpServer,
    tool: String,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let cancel = context.ct.clone();
    let request = ToolRequest {
        tool,
        arguments,
        origin: origin(context),
        ..ToolRequest::default()
    };
    let interrupt = async move { cancel.cancelled().await };
    let called = server.drive(move |app| tools::call_open(app, request, interrupt));
    let called = called.await?;
    // The call may have stored, changed or deleted a skill.
    server.note_change();
    let needs_daemon = called.needs_daemon;
    Ok(match called.result {
        Ok(replied) => {
            let mut result = reply::value(replied.value);
            if needs_daemon {
                reply::add_note(
                    &mut result,
                    "no daemon is running: `deft up` runs schedules and jobs",
                );
            }
            result
        }
        Err(failure) => reply::tool_failure(failure),
    })
}

//! `/api/v1/tools`, and `/tools/list` of the seeds (S0.58).

use std::time::Duration;

use axum::http::StatusCode;
use deft_service::tools::{self, CallFailure, ToolQuery, ToolRequest};
use deft_wire::api::{ToolCallRequest, ToolListQuery};
use deft_wire::token::TokenScope as Scope;
use deft_wire::tool::{
    ForgottenTools, ToolCatalog, ToolDocument, ToolList, ToolRefusal, ToolReply,
};
use deft_wire::{Done, Failure, FailureKind};
use futures_util::future::BoxFuture;

use crate::answer::Answer;
use crate::route::{Call, MAX_WAIT, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read, Run};
    use Verb::{Delete, Get, Post};
    vec![
        Route::new(Get, "/api/v1/tools", "List tools", Read, list),
        Route::new(
            Get,
            "/api/v1/tools/catalog",
            "Show the overview of tools that models get",
            Read,
            catalog,
        ),
        Route::new(
            Get,
            "/tools/list",
            "Show the overview of tools that models get, with an `ETag`",
            Read,
            catalog,
        ),
        Route::new(Get, "/api/v1/tools/{name}", "Show a tool", Read, show),
        Route::new_waiting::<_, _, ToolReply>(
            Post,
            "/api/v1/tools/{name}/call",
            "Call a tool; no run is recorded",
            Run,
            call_tool,
        )
        .always_ok()
        .with_refusal::<ToolRefusal>(),
        Route::new(
            Delete,
            "/api/v1/tools/{name}/approval",
            "Revoke every `always` grant for a tool",
            Admin,
            forget,
        ),
    ]
}

fn list(call: &Call<ToolListQuery>) -> Done<ToolList> {
    let words = call.query.search.as_deref().unwrap_or_default();
    let query = ToolQuery {
        words: words.split_whitespace().map(str::to_owned).collect(),
        server: call.query.server.clone(),
        ..ToolQuery::default()
    };
    tools::list_live(&call.server.app, &call.server.workspace, &query)
}

fn show(call: &Call) -> Done<ToolDocument> {
    let tool = tools::show_live(&call.server.app, call.param())?;
    Ok(ToolDocument { tool })
}

fn catalog(call: &Call) -> Done<ToolCatalog> {
    tools::catalog_live(&call.server.app)
}

fn forget(call: &Call) -> Done<ForgottenTools> {
    let server = &call.server;
    let forgotten = tools::forget(&server.workspace, call.param());
    server.app.block_on(forgotten)
}

fn call_tool(call: Call<Nothing, ToolCallRequest>) -> BoxFuture<'static, Done<Answer>> {
    Box::pin(async move {
        let time = call
            .body
            .timeout
            .map(|seconds| Duration::from_secs(seconds.into()));
        let tool = call.param().to_owned();
        let request = ToolRequest {
            tool: tool.clone(),
            arguments: call.body.arguments.clone(),
            texts: Vec::new(),
            timeout: time.map(|time| time.min(MAX_WAIT)),
            origin: call.origin.clone(),
        };
        // A separate task, so that a call which has begun completes even if the client disconnects.
        let server = call.server;
        let called = tokio::spawn(async move { tools::call_live(&server.app, request).await });
        match called.await {
            Ok(Ok(reply)) => Answer::json(StatusCode::OK, &reply),
            Ok(Err(failure)) => call_failure(tool, failure),
            Err(problem) => {
                let message = format!("the call failed: {problem}");
                Err(Failure::internal("engine", message))
            }
        }
    })
}

/// Converts a failed call to a response: a call that the tool refused is a result, with the JSON output of
/// `deft tools call`; a call that could not be made is an error of the caller.
fn call_failure(tool: String, failure: CallFailure) -> Done<Answer> {
    let CallFailure { kind, error } = failure;
    if kind == FailureKind::Input {
        let known = Failure::input("invalid_call", error.message);
        return Err(known.maybe_hint(error.hint));
    }
    let document = ToolRefusal {
        ok: false,
        tool,
        error,
    };
    Answer::json(StatusCode::UNPROCESSABLE_ENTITY, &document)
}

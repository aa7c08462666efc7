//! Manual calls of tools. No run is recorded, and nothing is retried.

use std::time::Duration;

use deft_model::{
    Choice, Failure as ToolFailure, FailureClass, Object, ProblemCode, RunOrigin, TraceContext,
};
use deft_tools::{Call, Reply, Router, ToolLookup};
use deft_wire::tool::{ToolError, ToolReply};
use deft_wire::{Done, FailureKind};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::WithWarnings;
use crate::app::App;
use crate::daemon;
use crate::doorbell::{self, Ring};
use crate::lock::Lock;
use crate::router::CatalogRouter;
use crate::runtime;
use crate::workspace::Workspace;

/// A request to call a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRequest {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Object,
    /// Further arguments as text, parsed by the schema of the tool.
    pub texts: Vec<(String, String)>,
    /// The timeout of the call.
    pub timeout: Option<Duration>,
    /// The request that makes the call.
    pub origin: RunOrigin,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CalledTool {
    /// The reply, or the failure.
    pub result: Result<ToolReply, CallFailure>,
    /// Whether the call planned work for later, and no daemon is running to do it.
    pub needs_daemon: bool,
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// Who has to act; determines the exit code.
    pub kind: FailureKind,
    /// The error.
    pub error: ToolError,
}

/// Calls a tool. The call is cancelled when `interrupt` completes.
pub fn call(
    workspace: &Workspace,
    request: ToolRequest,
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Done<WithWarnings<CalledTool>> {
    if deft_engine::needs_engine(&request.tool) {
        return call_in_engine(workspace, request, interrupt);
    }
    let home = workspace.home()?;
    runtime::start()?.block_on(async {
        let opened = CatalogRouter::to_ask(&home, workspace.tell).await?;
        let name = request.tool.clone();
        let result = send(&opened.router, request, interrupt).await;
        // An unknown name is a mistake of the caller, like invalid arguments.
        let found = opened.router.find(&name);
        let misnamed = matches!(found, ToolLookup::Missing { .. } | ToolLookup::Ambiguous(_));
        let called = CalledTool {
            result: finish(result, misnamed),
            needs_daemon: false,
        };
        Ok(WithWarnings::close(called, opened).await)
    })
}

fn call_in_engine(
    workspace: &Workspace,
    request: ToolRequest,
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Done<WithWarnings<CalledTool>> {
    let app = App::open(workspace)?;
    let value = call_open(&app, request, interrupt);
    app.close();
    Ok(WithWarnings {
        value,
        warnings: Vec::new(),
    })
}

/// Calls a tool with an open engine, and notifies a running daemon of new work.
pub fn call_open(
    app: &App,
    request: ToolRequest,
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> CalledTool {
    let plans = daemon::plans(&request.tool);
    let result = app.block_on(send(app.engine.router(), request, interrupt));
    let is_up = Lock::holder(app.home()).is_some();
    if plans && is_up {
        doorbell::ring(app.home(), Ring::Work);
    }
    CalledTool {
        needs_daemon: result.is_ok() && plans && !is_up,
        result: finish(result, false),
    }
}

/// Calls a tool with the servers of this daemon.
pub async fn call_live(app: &App, request: ToolRequest) -> Result<ToolReply, CallFailure> {
    let router = app.engine.router();
    let name = request.tool.clone();
    let result = send(router, request, std::future::pending()).await;
    let found = router.find(&name);
    let misnamed = matches!(found, ToolLookup::Missing { .. } | ToolLookup::Ambiguous(_));
    finish(result, misnamed)
}

async fn send(
    router: &Router,
    request: ToolRequest,
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Result<Reply, ToolFailure> {
    let arguments = read_texts(request.arguments, request.texts, router, &request.tool).await;
    let mut call = Call::new(&request.tool, arguments);
    // Each manual call has its own key.
    let now = Timestamp::now().as_nanosecond();
    call.key = format!("cli:{}:{now}", std::process::id());
    call.deadline = request.timeout;
    call.request_id = request.origin.request_id;
    call.trace = request
        .origin
        .trace
        .map(|trace| TraceContext::clone(&trace));
    let cancel = call.cancel.clone();
    let stop = tokio::spawn(async move {
        interrupt.await;
        cancel.cancel();
    });
    let result = Box::pin(router.call(call)).await;
    stop.abort();
    result
}

/// Adds the arguments given as text, parsed by the schema of the tool. The server is queried for the schema
/// only if there are such arguments.
async fn read_texts(
    mut arguments: Object,
    texts: Vec<(String, String)>,
    router: &Router,
    tool: &str,
) -> Object {
    if texts.is_empty() {
        return arguments;
    }
    let schema = schema(router, tool).await;
    for (name, text) in texts {
        let value = cast(&text, &schema["properties"][&name]);
        arguments.insert(name, value);
    }
    arguments
}

async fn schema(router: &Router, tool: &str) -> Value {
    if !matches!(router.find(tool), ToolLookup::Tool(_)) {
        // The call itself reports why a server cannot be queried.
        drop(router.list_servers().await);
    }
    match router.find(tool) {
        ToolLookup::Tool(tool) => Value::clone(&tool.input_schema),
        ToolLookup::Ambiguous(_) | ToolLookup::Missing { .. } | ToolLookup::Unknown { .. } => {
            Value::Null
        }
    }
}

/// Parses a value without a schema: JSON if it is valid JSON, else a string.
pub fn read_value(text: &str) -> Value {
    cast(text, &Value::Null)
}

/// Parses a value: a string if the schema requires one; else JSON if it is valid JSON.
fn cast(text: &str, schema: &Value) -> Value {
    let is_text = match &schema["type"] {
        Value::String(name) => name == "string",
        Value::Array(names) => names.iter().all(|name| name == "string" || name == "null"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if is_text {
        return json!(text);
    }
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn finish(result: Result<Reply, ToolFailure>, misnamed: bool) -> Result<ToolReply, CallFailure> {
    match result {
        Ok(reply) => Ok(ToolReply {
            ok: true,
            tool: reply.tool,
            server: reply.server,
            value: reply.value,
            duration_ms: u64::try_from(reply.took.as_millis()).unwrap_or(u64::MAX),
        }),
        Err(failure) => Err(explain(failure, misnamed)),
    }
}

/// Converts the failure of a call for front ends.
pub fn explain(failure: ToolFailure, misnamed: bool) -> CallFailure {
    // Invalid arguments are a mistake of the caller; other failures are results.
    let kind = match failure.class {
        FailureClass::Cancelled => FailureKind::Interrupted,
        FailureClass::Invalid => FailureKind::Input,
        _ if misnamed => FailureKind::Input,
        FailureClass::Network
        | FailureClass::Auth
        | FailureClass::Quota
        | FailureClass::NotFound
        | FailureClass::Timeout
        | FailureClass::Limit
        | FailureClass::Budget
        | FailureClass::Interrupted
        | FailureClass::Other => FailureKind::Unsuccessful,
    };
    let code = failure.code.map(ProblemCode::word);
    CallFailure {
        kind,
        error: ToolError {
            code: code.unwrap_or(failure.class.word()).to_owned(),
            class: failure.class,
            message: failure.message,
            hint: failure.hint,
            in_doubt: failure.in_doubt,
            blocked: failure.blocked,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cast_by_the_schema() {
        for (text, schema, expected) in [
            ("42", json!({"type": "string"}), json!("42")),
            ("42", json!({"type": "integer"}), json!(42)),
            ("42", json!({"type": ["string", "null"]}), json!("42")),
            ("[1]", json!({"type": "array"}), json!([1])),
            ("true", json!({}), json!(true)),
            ("two words", Value::Null, json!("two words")),
            ("x", json!({"type": "integer"}), json!("x")),
        ] {
            assert_eq!(cast(text, &schema), expected, "{text} as {schema}");
        }
    }
}

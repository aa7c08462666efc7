//! `deft tools call`: a single call, without a run.

use std::process::ExitCode;

use deft_service::Workspace;
use deft_service::runs::caller_origin;
use deft_service::tools::{self, CallFailure, ToolRequest, read_value};
use deft_wire::model::{Choice, Object};
use deft_wire::tool::{ToolRefusal, ToolReply};
use serde_json::Value;

use crate::args::ToolCall;
use crate::commands::NOT_RUNNING_HINT;
use crate::failure::{Done, Failure, exit_code};
use crate::output::Output;

pub(super) fn run(args: &ToolCall, workspace: &Workspace, output: &Output) -> Done {
    let pairs = args.pairs.iter().map(|pair| split(pair));
    let pairs = pairs.map(|pair| pair.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let request = ToolRequest {
        tool: args.name.clone(),
        arguments: read_arguments(args.args.as_deref())?,
        texts: pairs.collect::<Done<_>>()?,
        timeout: args.timeout,
        origin: caller_origin(),
    };
    let called = tools::call(workspace, request, interrupt())?;
    output.warn(called.warnings);
    match called.value.result {
        Ok(reply) => {
            let done = print(&reply, output);
            if called.value.needs_daemon {
                output.note(NOT_RUNNING_HINT);
            }
            done
        }
        Err(failure) => refuse(failure, &args.name, output),
    }
}

/// Waits for ctrl-c; forever if its handler cannot be installed.
async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Combines arguments given as pairs and as JSON, without a schema that tells which are strings.
pub(crate) fn arguments(pairs: &[String], text: Option<&str>) -> Done<Object> {
    let mut object = read_arguments(text)?;
    for pair in pairs {
        let (name, text) = split(pair)?;
        object.insert(name.to_owned(), read_value(text));
    }
    Ok(object)
}

/// Parses the arguments of `--args`.
fn read_arguments(text: Option<&str>) -> Done<Object> {
    let Some(text) = text else {
        return Ok(Object::new());
    };
    let wrong = |message: String| {
        Failure::input("invalid_input", message)
            .hint("write it as `--args '{\"name\": \"value\"}'`")
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(wrong("`--args` takes a JSON object".to_owned())),
        Err(problem) => Err(wrong(format!("`--args` is not JSON: {problem}"))),
    }
}

fn split(pair: &str) -> Done<(&str, &str)> {
    pair.split_once('=').ok_or_else(|| {
        let message = format!("`{pair}` is not of the form `name=value`");
        Failure::input("invalid_input", message)
            .hint("put quotes around a value with spaces: `text='two words'`")
    })
}

fn print(reply: &ToolReply, output: &Output) -> Done {
    if output.json {
        output.document(reply)?;
    } else {
        match &reply.value {
            Value::String(text) => output.data(text)?,
            value @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => output.document(value)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn refuse(CallFailure { kind, error }: CallFailure, tool: &str, output: &Output) -> Done {
    if output.json {
        output.document(&ToolRefusal {
            ok: false,
            tool: tool.to_owned(),
            error,
        })?;
        return Ok(exit_code(kind));
    }
    let class = error.class.word();
    Err(Failure {
        code: class,
        message: format!("{} ({class})", error.message),
        hint: error.hint,
        kind,
    })
}

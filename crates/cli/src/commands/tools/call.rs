//! `deft tools call`: one call, with nothing around it. No run is recorded, and
//! nothing is tried twice.

use std::process::ExitCode;
use std::time::Duration;

use deft_model::{Choice, Failure as ToolFailure, FailureClass, Object, ProblemCode};
use deft_tools::{Call, Found, Reply, Router};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::args::{Global, ToolCall};
use crate::commands::{NOBODY_IS_UP, PLANS};
use crate::failure::{Done, Failure, exit_code};
use crate::output::Output;
use crate::progress::say_above;
use deft_config::Home;
use deft_service::app::App;
use deft_service::daemon::Lock;
use deft_service::tools::Opened;
use deft_wire::FailureKind;

pub(super) async fn run(args: &ToolCall, home: &Home, output: &Output) -> Done {
    let object = given(args.args.as_deref())?;
    let opened = Opened::to_ask(home, say_above).await?;
    let arguments = add_pairs(object, &args.pairs, &opened.router, &args.name).await?;
    let result = call(args, arguments, &opened.router).await;
    // A name that means no tool is a misuse like arguments that do not fit.
    let found = opened.router.find(&args.name);
    let misnamed = matches!(found, Found::Missing { .. } | Found::Ambiguous(_));
    output.warn(opened.close().await);
    match result {
        Ok(reply) => print(&reply, output),
        Err(failure) => refused(&failure, misnamed, &args.name, output),
    }
}

/// A tool that needs the engine.
pub(super) fn run_own(args: &ToolCall, global: &Global, output: &Output) -> Done {
    let object = given(args.args.as_deref())?;
    let app = App::open(&global.workspace())?;
    let result = app.block_on(async {
        let router = app.engine.router();
        let arguments = add_pairs(object, &args.pairs, router, &args.name).await?;
        Done::Ok(call(args, arguments, router).await)
    });
    let up = Lock::holder(app.home()).is_some();
    app.close();
    match result? {
        Ok(reply) => {
            let done = print(&reply, output);
            if PLANS.contains(&args.name.as_str()) && !up {
                output.note(NOBODY_IS_UP);
            }
            done
        }
        Err(failure) => refused(&failure, false, &args.name, output),
    }
}

/// Arguments as pairs and as JSON, where no schema says what is a text.
pub(crate) fn arguments(pairs: &[String], text: Option<&str>) -> Done<Object> {
    let mut object = given(text)?;
    for pair in pairs {
        let (name, text) = split(pair)?;
        object.insert(name.to_owned(), cast(text, &Value::Null));
    }
    Ok(object)
}

async fn call(args: &ToolCall, arguments: Object, router: &Router) -> Result<Reply, ToolFailure> {
    let mut call = Call::new(&args.name, arguments);
    // Each call by hand is one of its own.
    let now = Timestamp::now().as_nanosecond();
    call.key = format!("cli:{}:{now}", std::process::id());
    call.deadline = args.timeout.map(Duration::from_secs);
    let cancel = call.cancel.clone();
    let stop = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
        }
    });
    let result = Box::pin(router.call(call)).await;
    stop.abort();
    result
}

/// The arguments of `--args`.
fn given(text: Option<&str>) -> Done<Object> {
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

/// Arguments as `name=value`, read as the tool's schema says. A server is asked
/// for it only if there are such arguments.
async fn add_pairs(
    mut object: Object,
    pairs: &[String],
    router: &Router,
    tool: &str,
) -> Done<Object> {
    if pairs.is_empty() {
        return Ok(object);
    }
    let schema = schema(router, tool).await;
    for pair in pairs {
        let (name, text) = split(pair)?;
        let value = cast(text, &schema["properties"][name]);
        object.insert(name.to_owned(), value);
    }
    Ok(object)
}

fn split(pair: &str) -> Done<(&str, &str)> {
    pair.split_once('=').ok_or_else(|| {
        let message = format!("`{pair}` is not of the form `name=value`");
        Failure::input("invalid_input", message)
            .hint("put quotes around a value with blanks: `text='two words'`")
    })
}

async fn schema(router: &Router, tool: &str) -> Value {
    if !matches!(router.find(tool), Found::Tool(_)) {
        // Why a server cannot be asked is said when the call fails.
        drop(router.listed().await);
    }
    match router.find(tool) {
        Found::Tool(tool) => Value::clone(&tool.input_schema),
        Found::Ambiguous(_) | Found::Missing { .. } | Found::Unknown { .. } => Value::Null,
    }
}

/// A text where the schema has a text; else JSON if it is any.
fn cast(text: &str, schema: &Value) -> Value {
    let is_text = match &schema["type"] {
        Value::String(name) => name == "string",
        Value::Array(names) => names.iter().all(|name| name == "string" || name == "null"),
        _ => false,
    };
    if is_text {
        return json!(text);
    }
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn print(reply: &Reply, output: &Output) -> Done {
    if output.json {
        output.document(&json!({
            "ok": true,
            "tool": reply.tool,
            "server": reply.server,
            "value": reply.value,
            "duration_ms": millis(reply.took),
        }))?;
    } else {
        match &reply.value {
            Value::String(text) => output.data(text)?,
            value => output.document(value)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The tool was asked, or could not be: that is an answer. Arguments that it does not take are
/// a misuse.
fn refused(failure: &ToolFailure, misnamed: bool, tool: &str, output: &Output) -> Done {
    let kind = match failure.class {
        FailureClass::Cancelled => FailureKind::Interrupted,
        FailureClass::Invalid => FailureKind::Input,
        _ if misnamed => FailureKind::Input,
        _ => FailureKind::Unsuccessful,
    };
    if output.json {
        let code = failure.code.map(ProblemCode::word);
        output.document(&json!({
            "ok": false,
            "tool": tool,
            "error": {
                "code": code.unwrap_or(failure.class.word()),
                "class": failure.class,
                "message": failure.message,
                "hint": failure.hint,
                "in_doubt": failure.in_doubt,
                "blocked": failure.blocked,
            },
        }))?;
        return Ok(exit_code(kind));
    }
    Err(Failure {
        code: failure.class.word(),
        message: format!("{} ({})", failure.message, failure.class.word()),
        hint: failure.hint.clone(),
        kind,
    })
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
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

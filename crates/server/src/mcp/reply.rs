//! Results of tool calls: structured content, and the same as text. Failures are results too.

use deft_service::tools::CallFailure;
use deft_wire::mcp::{CallError, SkillRun};
use deft_wire::model::{Choice, FailureClass, Outcome};
use deft_wire::{Failure, FailureKind};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde::Serialize;
use serde_json::{Value, json};

/// Key in `_meta` that holds the class and the code of a failure.
const ERROR: &str = "deft/error";

/// Builds a result from a value. Clients expect an object, so any other value is wrapped in one.
pub(super) fn value(value: Value) -> CallToolResult {
    let text = value_as_text(&value);
    let structured = if value.is_object() {
        value
    } else {
        json!({ "result": value })
    };
    with_text(structured, text, false)
}

/// Builds a result from a type of `wire`.
pub(super) fn document(document: &impl Serialize) -> CallToolResult {
    value(serde_json::to_value(document).unwrap_or_default())
}

/// Returns the text for people and models: a string unchanged, any other value as JSON.
fn value_as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "done".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{value:#}")
        }
    }
}

fn with_text(structured: Value, text: String, is_error: bool) -> CallToolResult {
    let mut result = if is_error {
        CallToolResult::error(Vec::new())
    } else {
        CallToolResult::success(Vec::new())
    };
    result.content = vec![ContentBlock::text(text)];
    result.structured_content = Some(structured);
    result
}

/// Builds the result of a run: its outputs, its error, or what it waits for.
pub(super) fn run(run: &SkillRun) -> CallToolResult {
    let is_error = run
        .outcome
        .is_some_and(|outcome| !matches!(outcome, Outcome::Success | Outcome::Skipped));
    let mut result = with_text(json!(run), run_text(run), is_error);
    if let Some(error) = &run.error {
        result.meta = Some(meta(&CallError {
            code: error
                .code
                .map_or(error.class.word(), Choice::word)
                .to_owned(),
            class: error.class,
            message: error.message.clone(),
            hint: error.hint.clone(),
        }));
    }
    result
}

fn run_text(run: &SkillRun) -> String {
    let id = &run.run;
    match (&run.error, run.outcome) {
        (Some(error), _) => {
            let text = error_text(error.class, &error.message, error.hint.as_deref());
            format!("{text}\nrun: {id}")
        }
        (None, Some(Outcome::Success)) => value_as_text(&run.outputs),
        (None, Some(outcome)) => format!("run {id} ended: {outcome}"),
        (None, None) => {
            let what = run.waiting_for.as_deref().unwrap_or("its turn");
            let questions = run.approvals.iter();
            let questions = questions.map(|it| format!("\n{}: {}", it.id, it.message));
            format!("run {id} waits for {what}{}", questions.collect::<String>())
        }
    }
}

/// Builds the result of a request that could not be carried out.
pub(super) fn failure(failure: &Failure) -> CallToolResult {
    let class = match failure.kind {
        FailureKind::Input => FailureClass::Invalid,
        FailureKind::Interrupted => FailureClass::Cancelled,
        FailureKind::Unsuccessful | FailureKind::Internal => FailureClass::Other,
    };
    error(&CallError {
        code: failure.code.to_owned(),
        class,
        message: failure.message.clone(),
        hint: failure.hint.clone(),
    })
}

/// Builds the result of a tool that failed.
pub(super) fn tool_failure(failure: CallFailure) -> CallToolResult {
    let failure = failure.error;
    error(&CallError {
        code: failure.code,
        class: failure.class,
        message: failure.message,
        hint: failure.hint,
    })
}

/// Builds the result for invalid arguments.
pub(super) fn bad_arguments(problem: &serde_json::Error) -> CallToolResult {
    error(&CallError {
        code: "invalid_input".to_owned(),
        class: FailureClass::Invalid,
        message: problem.to_string(),
        hint: Some("see the input schema of the tool".to_owned()),
    })
}

/// Builds a failed result. The failure is in `_meta`, because structured content has to match the schema of a
/// success.
fn error(error: &CallError) -> CallToolResult {
    let text = error_text(error.class, &error.message, error.hint.as_deref());
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.meta = Some(meta(error));
    result
}

fn error_text(class: FailureClass, message: &str, hint: Option<&str>) -> String {
    let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
    format!("error ({class}): {message}{hint}")
}

fn meta(error: &CallError) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert(ERROR.to_owned(), json!(error));
    meta
}

/// Adds a line for people.
pub(super) fn add_note(result: &mut CallToolResult, note: &str) {
    result.content.push(ContentBlock::text(note));
}

//! Short summaries of runs: for notices, and for the summary of the last run in a skill's row. The full
//! result stays with the run.
//!
//! Not here: who is notified, and when.

use deft_model::clip;
use deft_workflow::RunEnd;
use serde_json::Value;

/// Maximum number of characters of a summary.
const SUMMARY: usize = 500;

/// Maximum number of characters of one of several values.
const VALUE: usize = 100;

/// The summary of a run without text.
const DONE: &str = "done";

/// Keys under which results of tools have text for people, best first.
const TEXTS: [&str; 6] = ["text", "message", "summary", "answer", "result", "stdout"];

/// Returns why a run failed, or its outputs in short.
pub(crate) fn summary(finished: &RunEnd) -> String {
    let text = match &finished.error {
        Some(error) => error.failure.message.clone(),
        None => words(&finished.outputs).unwrap_or_else(|| DONE.to_owned()),
    };
    let masked = deft_workflow::mask(&text).unwrap_or(text);
    clip(&masked, SUMMARY)
}

/// Returns the readable part of a value; `None` if it has none.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => list(items),
        Value::Object(map) => {
            let has_text = |key: &&str| map.get(*key).is_some_and(Value::is_string);
            let known = TEXTS.iter().find(|key| has_text(key));
            match (known, map.len()) {
                (Some(key), _) => map.get(*key).and_then(words),
                (None, 1) => map.values().next().and_then(words),
                (None, _) => fields(map),
            }
        }
        // These values tell a person no more than that the run has ended.
        Value::Bool(_) | Value::Null => None,
    }
}

fn list(items: &[Value]) -> Option<String> {
    let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    match (texts, items.len()) {
        (_, 0) => None,
        (Some(texts), _) => Some(texts.join(", ")),
        (None, 1) => words(&items[0]),
        (None, count) => Some(format!("{count} items")),
    }
}

/// Returns one line for each readable value.
fn fields(map: &deft_model::Object) -> Option<String> {
    let line = |(key, value): (&String, &Value)| {
        let text = match value {
            Value::Bool(truth) => truth.to_string(),
            other @ (Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => words(other)?,
        };
        let first = text.lines().next().unwrap_or_default();
        Some(format!("{key}: {}", clip(first, VALUE)))
    };
    let lines: Vec<String> = map.iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use deft_model::Outcome;
    use serde_json::json;

    use super::*;

    #[test]
    fn outputs_are_summarised() {
        let shell =
            json!({"stdout": "3 files\n", "stderr": "", "exit_code": 0, "truncated": false});
        let cases = [
            (json!(null), "done"),
            (json!(true), "done"),
            (json!({"result": true}), "done"),
            (json!({}), "done"),
            (json!([]), "done"),
            (json!("  sent.  "), "sent."),
            (json!({"count": 3}), "3"),
            (json!(["ada", "bob"]), "ada, bob"),
            (json!([{"id": 1}, {"id": 2}]), "2 items"),
            (shell.clone(), "3 files"),
            (json!({"only": shell}), "3 files"),
            (json!({"stdout": "", "stderr": "", "exit_code": 0}), "done"),
            (
                json!({"mails": [{}, {}], "sent": true, "to": "ada", "nothing": null}),
                "mails: 2 items\nsent: true\nto: ada",
            ),
        ];
        for (outputs, text) in cases {
            let finished = RunEnd {
                outcome: Outcome::Success,
                outputs: outputs.clone(),
                error: None,
                ms: 0,
            };
            assert_eq!(summary(&finished), text, "{outputs}");
        }
    }
}

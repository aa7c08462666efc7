//! The text of a question at the terminal: the operation and its arguments.
//!
//! Arguments are shown as readable lines, not as JSON. Long arguments are truncated; the full text is shown
//! on request.

use deft_service::ask::Question;
use deft_service::words::mask_secrets;
use deft_wire::approval::{ApprovalView, OperationView};
use deft_wire::model::{value_text, visible, without_arguments};
use serde_json::Value;

use crate::output::clip;

/// The maximum number of argument lines shown without a request.
const LINES: usize = 8;

/// The text of a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QuestionText {
    /// The question itself.
    pub(crate) heading: String,
    /// The arguments, truncated to one line each and to `LINES` lines.
    pub(crate) short: Vec<String>,
    /// The arguments in full.
    pub(crate) full: Vec<String>,
}

impl QuestionText {
    /// Formats a question for a terminal with `width` columns.
    pub(crate) fn new(question: &Question, width: usize) -> Self {
        let args = question.operation.args.as_ref().and_then(Value::as_object);
        let Some(args) = args.filter(|args| !args.is_empty()) else {
            return Self {
                heading: question.message.clone(),
                short: Vec::new(),
                full: Vec::new(),
            };
        };
        let mut full = Vec::new();
        let mut short = Vec::new();
        for (name, value) in args {
            let text = text_of(value);
            let mut lines = text.lines();
            let first = format!("  {}: {}", visible(name), lines.next().unwrap_or_default());
            let more = lines.clone().count();
            let cut = match more {
                0 => clip(&first, width),
                _ => {
                    let mark = format!(" … {more} more lines");
                    clip(&first, width.saturating_sub(mark.chars().count())) + &mark
                }
            };
            short.push(cut);
            full.push(first);
            full.extend(lines.map(|line| format!("    {line}")));
        }
        if short.len() > LINES {
            let more = short.len() - (LINES - 1);
            short.truncate(LINES - 1);
            short.push(format!("  … {more} more arguments"));
        }
        Self {
            heading: without_arguments(&question.message, &Value::Object(args.clone())),
            short,
            full,
        }
    }

    /// Whether the arguments are truncated.
    pub(crate) fn is_cut(&self) -> bool {
        self.short != self.full
    }
}

/// Returns a pending question and its call, one line each, for lists.
pub(crate) fn question_lines(approval: &ApprovalView) -> (String, Option<String>) {
    let operation = &approval.operation;
    let args = operation.args.as_ref();
    let heading = args.map(|args| without_arguments(&approval.message, args));
    let heading = heading.unwrap_or_else(|| approval.message.clone());
    let heading = mask_secrets(&heading).unwrap_or(heading);
    (heading, call_line(operation))
}

/// Formats a call as `post(count: 3, text: one)`; without parentheses if the arguments are not known yet.
fn call_line(operation: &OperationView) -> Option<String> {
    let name = visible(operation.name.as_deref()?);
    let Some(args) = operation.args.as_ref().and_then(Value::as_object) else {
        return Some(name);
    };
    let one = |(name, value): (&String, &Value)| {
        let value = text_of(value).replace('\n', " ");
        format!("{}: {value}", visible(name))
    };
    let args: Vec<String> = args.iter().map(one).collect();
    Some(format!("{name}({})", args.join(", ")))
}

/// Formats a value: a string as it is, any other value as JSON.
fn text_of(value: &Value) -> String {
    let text = value_text(value);
    let text = mask_secrets(&text).unwrap_or(text);
    let lines: Vec<String> = text.lines().map(visible).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use deft_service::ask::{Operation, StepPath};
    use deft_wire::model::RunId;
    use serde_json::json;

    use super::*;

    fn question(message: &str, args: Value) -> Question {
        Question {
            approval: "apr_1".to_owned(),
            run: RunId::new("run_1"),
            path: StepPath::from_text("agent"),
            message: message.to_owned(),
            default: false,
            operation: Operation {
                kind: "tool".to_owned(),
                name: Some("post".to_owned()),
                args: Some(args),
                remember: None,
            },
        }
    }

    #[test]
    fn arguments_are_lines() {
        let args = json!({"count": 3, "text": "one\ntwo\nthree"});
        let message = format!("Call `post` with {args}? Its server says nothing.");
        let shown = QuestionText::new(&question(&message, args), 60);
        assert_eq!(shown.heading, "Call `post`? Its server says nothing.");
        assert_eq!(shown.short, ["  count: 3", "  text: one … 2 more lines"]);
        assert_eq!(
            shown.full,
            ["  count: 3", "  text: one", "    two", "    three"]
        );
        assert!(shown.is_cut());
    }

    #[test]
    fn long_arguments_are_cut() {
        let args = json!({"text": "word ".repeat(80)});
        let cut: String = args.to_string().chars().take(200).collect();
        let shown = QuestionText::new(&question(&format!("Call `post` with {cut}…?"), args), 30);
        assert_eq!(shown.heading, "Call `post`?");
        assert_eq!(shown.short, ["  text: word word word word w…"]);
        assert!(shown.is_cut());
        let many: serde_json::Map<String, Value> =
            (0..12).map(|n| (format!("k{n:02}"), json!(n))).collect();
        let shown = QuestionText::new(&question("Really?", Value::Object(many)), 30);
        assert_eq!(
            (shown.heading.as_str(), shown.short.len()),
            ("Really?", LINES)
        );
        assert_eq!(shown.short[7], "  … 5 more arguments");
    }

    #[test]
    fn a_question_without_arguments_is_one_line() {
        let shown = QuestionText::new(&question("Really with all?", json!({})), 80);
        assert_eq!(shown.heading, "Really with all?");
        assert!(!shown.is_cut() && shown.short.is_empty());
    }
}

//! Answers and questions of chats through the outbox: for messengers, where no process waits for the answer.
//!
//! The transaction that ends a run also stores its answer, no matter which process drives the run. So the
//! answer is neither lost nor duplicated up to the channel. If deft crashes after the receiver took the
//! answer and before the receipt is stored, the courier sends it again.
//!
//! Not here: delivery (the courier), and how the receiver shows it.

use deft_agents::{answer_to, text_of};
use deft_base::{run_failure, run_outputs};
use deft_model::{Failure, RunId, RunStatus, clip, has_arguments};
use deft_outbox::{Kind, Notice};
use deft_store::{NoticeFilter, RunRow, Write};
use deft_workflow::RunEnd;
use jiff::Timestamp;
use serde_json::Value;

use crate::engine::Inner;
use crate::question::Question;
use crate::{Engine, Error};

/// Maximum number of characters of a call's arguments that a question shows.
const ARGS: usize = 600;

/// Key of the answer of a run in the outbox.
const ANSWER: &str = "answer";

/// Formats an answer: its text, and the failure if any.
pub fn answer_text(text: &str, failure: Option<&Failure>) -> String {
    let failure = failure.map(|failure| match &failure.hint {
        Some(hint) => format!("✗ {}\n{hint}", failure.message),
        None => format!("✗ {}", failure.message),
    });
    match (text.trim(), failure) {
        ("", None) => "(no answer)".to_owned(),
        ("", Some(failure)) => failure,
        (text, None) => text.to_owned(),
        (text, Some(failure)) => format!("{text}\n\n{failure}"),
    }
}

/// Returns the notice with the answer of a run; `None` if the run has no receiver for it.
pub(crate) fn answer(
    run: &RunRow,
    finished: &RunEnd,
    at: Timestamp,
) -> Result<Option<Write>, Error> {
    let Some(to) = answer_to(run)? else {
        return Ok(None);
    };
    let text = answer_text(&text_of(&finished.outputs), finished.failure());
    Ok(Some(Write::Notice {
        key: ANSWER.to_owned(),
        body: notice(run, to, text).body(),
        at,
    }))
}

fn notice(run: &RunRow, to: String, text: String) -> Notice {
    let text = deft_workflow::mask(&text).unwrap_or(text);
    Notice {
        target: Some(to),
        ..Notice::about_run(Kind::Answer, "", text, &run.skill, run.id.as_str())
    }
}

impl Engine {
    /// Adds the answer of an ended run to the outbox, unless it was added before. A driven run does that
    /// itself; a run that was stopped while it waited does not.
    pub async fn see_to_answer(&self, run: &RunId, to: &str) -> Result<(), Error> {
        let row = self.store().run(run).await?;
        let row = row.ok_or_else(|| Error::UnknownRun {
            id: run.to_string(),
        })?;
        let filter = NoticeFilter {
            run: Some(run.clone()),
            ..NoticeFilter::default()
        };
        let left = self.store().notices(filter).await?;
        if row.status != RunStatus::Done || left.iter().any(|row| row.key == ANSWER) {
            return Ok(());
        }
        let text = run_outputs(&row)?.as_ref().map(text_of);
        let text = text.unwrap_or_default();
        let error = run_failure(&row)?;
        let notice = notice(&row, to.to_owned(), answer_text(&text, error.as_ref()));
        self.inner
            .outbox
            .post(format!("{ANSWER} {run}"), &notice)
            .await?;
        Ok(())
    }

    /// Sends a question to a chat. Returns false if it was sent before.
    pub async fn tell_question(&self, question: &Question, to: &str) -> Result<bool, Error> {
        self.inner.send_question(question, to).await
    }
}

impl Inner {
    /// Sends a question with its arguments to a receiver that can answer directly. Returns false if it was
    /// sent before.
    pub(crate) async fn send_question(&self, question: &Question, to: &str) -> Result<bool, Error> {
        let notice = Notice {
            kind: Kind::Question,
            title: String::new(),
            text: format!("{}{}", question.message, args(question)),
            skill: None,
            run: Some(question.run.to_string()),
            target: Some(to.to_owned()),
            approval: Some(question.approval.clone()),
            always: question.operation.remember.is_some(),
        };
        let key = question_key(&question.approval);
        self.outbox.post(key, &notice).await
    }
}

/// Returns the key of a question in the outbox.
pub fn question_key(approval: &str) -> String {
    format!("question {approval}")
}

/// Formats the arguments of the call, unless the question contains them already.
fn args(question: &Question) -> String {
    let args = question.operation.args.as_ref();
    let is_new = |args: &&Value| !has_arguments(&question.message, args);
    let Some(args) = args.filter(is_new) else {
        return String::new();
    };
    let args = serde_json::to_string_pretty(args).unwrap_or_default();
    format!("\n{}", clip(&args, ARGS))
}

#[cfg(test)]
mod tests {
    use deft_model::FailureClass;

    use super::*;

    #[test]
    fn an_answer_contains_the_failure() {
        let failure = Failure::new(FailureClass::Budget, "used up");
        let hinted = failure.clone().hint("wait");
        for (text, failure, expected) in [
            ("Hi.\n", None, "Hi."),
            (" ", None, "(no answer)"),
            ("", Some(&failure), "✗ used up"),
            ("So far", Some(&hinted), "So far\n\n✗ used up\nwait"),
        ] {
            assert_eq!(answer_text(text, failure), expected);
        }
    }
}

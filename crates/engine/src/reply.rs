//! Answers of chats, and questions in them, by way of the outbox: for chats in a messenger, where no
//! process waits for the answer.
//!
//! The transaction that ends a run also stores its answer, whichever process drives the run. So the
//! answer is neither lost nor duplicated up to the channel. A crash after the receiver took it and
//! before the receipt is stored makes the courier send it again.
//!
//! Not here: how it is carried (the courier), and what it looks like where it arrives.

use deft_agents::{answer_to, text_of};
use deft_base::{run_failure, run_outputs};
use deft_model::{Failure, RunId, RunStatus};
use deft_outbox::{Kind, Notice};
use deft_store::{NoticeFilter, RunRow, Write};
use deft_workflow::RunEnd;
use jiff::Timestamp;
use serde_json::Value;

use crate::ask::Question;
use crate::engine::Inner;
use crate::{Engine, Error, finish};

/// The most characters of a call's arguments that the question shows.
const ARGS: usize = 600;

/// What the outbox calls the answer of a run.
const ANSWER: &str = "answer";

/// An answer in words: what was said, and what went wrong.
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

/// The answer of a run that ends, if it goes anywhere.
pub(crate) fn answer(
    run: &RunRow,
    finished: &RunEnd,
    at: Timestamp,
) -> Result<Option<Write>, Error> {
    let Some(to) = answer_to(run)? else {
        return Ok(None);
    };
    let text = answer_text(&text_of(&finished.outputs), finish::failure(finished));
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
    /// Sees to it that the answer of a run that is over is on its way, once. Runs that end while they
    /// are driven have seen to that themselves; those that are stopped while they wait have not.
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

    /// Asks the people in a chat, once however often it is wanted. Says whether it was not before.
    pub async fn tell_question(&self, question: &Question, to: &str) -> Result<bool, Error> {
        self.inner.leave_question(question, to).await
    }
}

impl Inner {
    /// A question with what it is about, for a place where it can be answered at once.
    pub(crate) async fn leave_question(
        &self,
        question: &Question,
        to: &str,
    ) -> Result<bool, Error> {
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

/// What the outbox calls a question.
pub fn question_key(approval: &str) -> String {
    format!("question {approval}")
}

/// What the call would be made with, unless the question says so itself.
fn args(question: &Question) -> String {
    let args = question.operation.args.as_ref();
    let told = |args: &&Value| !question.message.contains(&args.to_string());
    let Some(args) = args.filter(told) else {
        return String::new();
    };
    let args = serde_json::to_string_pretty(args).unwrap_or_default();
    match args.char_indices().nth(ARGS) {
        Some((at, _)) => format!("\n{}…", &args[..at]),
        None => format!("\n{args}"),
    }
}

#[cfg(test)]
mod tests {
    use deft_model::FailureClass;

    use super::*;

    #[test]
    fn an_answer_says_what_went_wrong() {
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

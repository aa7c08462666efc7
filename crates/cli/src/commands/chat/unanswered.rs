//! Earlier messages without an answer: the process that worked on one was killed, or another process still
//! works on it. They are answered before anything else is asked, so that a conversation stays in order.
//!
//! Not here: resuming an answer, which is the engine's part.

use std::sync::Arc;

use super::lines::words;
use super::turn::{Company, TurnRequest};
use crate::failure::Done;
use crate::output::{Output, clip};
use deft_service::talk::{AnswerState, UnansweredMessage};

/// How much of a question is shown.
const QUESTION: usize = 60;

/// Whether it can be answered now; what waits is left waiting.
pub(super) fn is_to_go_on(open: &UnansweredMessage) -> bool {
    open.state != AnswerState::Waiting
}

/// Describes the state of the answer.
pub(super) fn describe(open: &UnansweredMessage) -> String {
    let question = clip(&words(&open.text), QUESTION);
    let run = &open.run;
    match open.state {
        AnswerState::Interrupted => {
            format!("the answer to \"{question}\" was interrupted; going on with it first")
        }
        AnswerState::Elsewhere => {
            format!("the answer to \"{question}\" is being worked on elsewhere; waiting for it")
        }
        AnswerState::Waiting => {
            let what = open.waits_for.as_deref().unwrap_or("something");
            let what = words(what);
            format!(
                "the answer to \"{question}\" waits for {what}; `deft runs resume {run}` continues it"
            )
        }
    }
}

/// Resumes all of it for a script, which sees only that it happens.
pub(super) async fn go_on(company: &mut Company, conversation: &str, output: &Output) -> Done<()> {
    for open in company.talk.unanswered(conversation).await? {
        output.note(&describe(&open));
        if is_to_go_on(&open) {
            let unheard = Arc::new(|_| {});
            company.hear(TurnRequest::GoOn(open.run), unheard).await?;
            company.view.leave();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use deft_wire::model::RunId;

    use super::*;

    #[test]
    fn how_it_stands_is_said_in_a_line() {
        for (state, waits_for, expected) in [
            (
                AnswerState::Interrupted,
                None,
                "the answer to \"Why? Really\" was interrupted; going on with it first",
            ),
            (
                AnswerState::Elsewhere,
                None,
                "the answer to \"Why? Really\" is being worked on elsewhere; waiting for it",
            ),
            (
                AnswerState::Waiting,
                Some("an answer: Call notify?"),
                "the answer to \"Why? Really\" waits for an answer: Call notify?; `deft runs resume run_1` continues it",
            ),
        ] {
            let open = UnansweredMessage {
                run: RunId::new("run_1"),
                text: "Why?\nReally".to_owned(),
                state,
                waits_for: waits_for.map(str::to_owned),
            };
            assert_eq!(describe(&open), expected);
        }
    }
}

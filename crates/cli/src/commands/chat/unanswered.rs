//! Earlier messages without an answer, because the process answering them was killed or another process is
//! still at work. They are answered before the next message is sent, which keeps a conversation in order.
//!
//! Not here: resuming an answer, which the engine does.

use std::sync::Arc;

use super::lines::words;
use super::turn::{TurnParticipants, TurnRequest};
use crate::failure::Done;
use crate::output::{Output, clip};
use deft_service::talk::{AnswerState, UnansweredMessage};

/// The maximum width of a quoted message, in columns.
const QUESTION: usize = 60;

/// Whether the message can be answered now. Answers waiting for an approval or a time are not resumed.
pub(super) fn can_resume(open: &UnansweredMessage) -> bool {
    open.state != AnswerState::Waiting
}

/// Describes the state of an answer.
pub(super) fn describe(open: &UnansweredMessage) -> String {
    let question = clip(&words(&open.text), QUESTION);
    let run = &open.run;
    match open.state {
        AnswerState::Abandoned => {
            format!("the answer to \"{question}\" was interrupted; resuming it first")
        }
        AnswerState::Elsewhere => {
            format!("another process is answering \"{question}\"; waiting for it")
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

/// Resumes all unanswered messages for a script, printing only a note for each.
pub(super) async fn resume_all(
    participants: &mut TurnParticipants,
    conversation: &str,
    output: &Output,
) -> Done<()> {
    for open in participants.talk.unanswered_messages(conversation).await? {
        output.note(&describe(&open));
        if can_resume(&open) {
            let ignore = Arc::new(|_| {});
            participants
                .run_turn(TurnRequest::Resume(open.run), ignore)
                .await?;
            participants.view.leave();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use deft_wire::model::RunId;

    use super::*;

    #[test]
    fn the_state_of_an_answer_is_one_line() {
        for (state, waits_for, expected) in [
            (
                AnswerState::Abandoned,
                None,
                "the answer to \"Why? Really\" was interrupted; resuming it first",
            ),
            (
                AnswerState::Elsewhere,
                None,
                "another process is answering \"Why? Really\"; waiting for it",
            ),
            (
                AnswerState::Waiting,
                Some("approval: Call notify?"),
                "the answer to \"Why? Really\" waits for approval: Call notify?; `deft runs resume run_1` continues it",
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

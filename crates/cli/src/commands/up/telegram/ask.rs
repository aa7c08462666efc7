//! Questions to the people in a chat: a message with buttons, and the answer that is pressed.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deft_engine::{Asker, Question};
use deft_tools::telegram::{Button, Client};
use deft_workflow::Answer;
use tokio::sync::oneshot;

use crate::output::harmless;

/// How much of the arguments is shown.
const ARGS: usize = 600;

/// Questions that wait, by the approval's id.
#[derive(Clone, Default)]
pub(super) struct Open(Arc<Mutex<HashMap<String, Waiting>>>);

struct Waiting {
    chat: String,
    message: Option<i64>,
    text: String,
    reply: oneshot::Sender<Answer>,
}

/// What to show in the place of a question that was answered.
pub(super) struct Settled {
    pub message: Option<i64>,
    pub text: String,
}

impl Open {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a question of a chat; none if nobody waits for it here.
    pub(super) fn settle(
        &self,
        approval: &str,
        chat: &str,
        answer: Answer,
        by: &str,
    ) -> Option<Settled> {
        let mut open = self.lock();
        if open.get(approval)?.chat != chat {
            return None;
        }
        let waiting = open.remove(approval)?;
        waiting.reply.send(answer).ok()?;
        Some(Settled {
            message: waiting.message,
            text: decided(&waiting.text, answer, by),
        })
    }

    /// The only question of a chat, for answers in words.
    pub(super) fn only(&self, chat: &str) -> Option<String> {
        let open = self.lock();
        let mut own = open.iter().filter(|(_, waiting)| waiting.chat == chat);
        match (own.next(), own.next()) {
            (Some((approval, _)), None) => Some(approval.clone()),
            _ => None,
        }
    }
}

/// A question with its answer.
pub(super) fn decided(question: &str, answer: Answer, by: &str) -> String {
    let mark = match answer {
        Answer::Yes => "✓ approved",
        Answer::No => "✗ rejected",
        Answer::Skip => "– skipped",
    };
    format!("{question}\n\n{mark} by {by}")
}

/// What a button says to us, and back.
pub(super) fn data(approval: &str, answer: Answer) -> String {
    format!("{} {approval}", answer.word())
}

pub(super) fn read(data: &str) -> Option<(Answer, &str)> {
    let (word, approval) = data.split_once(' ')?;
    let answer = match word {
        "yes" => Answer::Yes,
        "no" => Answer::No,
        "skip" => Answer::Skip,
        _ => return None,
    };
    Some((answer, approval))
}

/// An answer in words, to a question that is the only one.
pub(super) fn in_words(text: &str) -> Option<Answer> {
    match text.trim().to_lowercase().as_str() {
        "yes" | "y" | "ok" => Some(Answer::Yes),
        "no" | "n" => Some(Answer::No),
        _ => None,
    }
}

/// The people in a chat.
pub(super) struct People {
    pub client: Client,
    pub chat: String,
    pub open: Open,
}

impl Asker for People {
    fn name(&self) -> String {
        format!("telegram chat {}", self.chat)
    }

    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Option<Answer>> + Send>> {
        let (client, chat, open) = (self.client.clone(), self.chat.clone(), self.open.clone());
        Box::pin(async move {
            let text = words(&question);
            let approval = question.approval;
            let (reply, answer) = oneshot::channel();
            // Before it is sent: somebody may be quick.
            let waiting = Waiting {
                chat: chat.clone(),
                message: None,
                text: text.clone(),
                reply,
            };
            open.lock().insert(approval.clone(), waiting);
            let gone = Gone {
                open: &open,
                approval: &approval,
            };
            let button = |label: &str, answer| Button {
                label: label.to_owned(),
                data: data(&approval, answer),
            };
            let buttons = [button("Approve", Answer::Yes), button("Reject", Answer::No)];
            match client.send_buttons(&chat, &text, &buttons).await {
                Ok(message) => {
                    if let Some(waiting) = open.lock().get_mut(&approval) {
                        waiting.message = Some(message);
                    }
                }
                Err(refused) => {
                    let why = refused.failure.message;
                    tracing::warn!(%why, approval, "a question did not reach the chat");
                }
            }
            let answer = answer.await.ok();
            drop(gone);
            answer
        })
    }
}

/// A question that nobody waits for any more is none.
struct Gone<'a> {
    open: &'a Open,
    approval: &'a str,
}

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.open.lock().remove(self.approval);
    }
}

fn words(question: &Question) -> String {
    let operation = &question.operation;
    let args = operation.args.as_ref().map(|args| {
        let args = serde_json::to_string_pretty(args).unwrap_or_default();
        match args.char_indices().nth(ARGS) {
            Some((at, _)) => format!("\n{}…", &args[..at]),
            None => format!("\n{args}"),
        }
    });
    harmless(&format!("{}{}", question.message, args.unwrap_or_default()))
}

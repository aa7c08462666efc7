//! Questions to the people in a chat: messages with buttons, and the answers.
//!
//! Not here: delivering the messages, which the outbox does.

use std::collections::HashMap;
use std::sync::Arc;

use deft_engine::{question_key, read_or_log};
use deft_store::{NoticeFilter, NoticeStatus, Store};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::ask::{Answer, Asker, PendingResponse, Question, Response};
use crate::talk::Talk;

/// Number of latest notices searched for the message of a question that was answered in words.
const LATEST: u32 = 200;

/// Open questions, by the id of the approval.
#[derive(Clone, Default)]
pub(super) struct OpenQuestions(Arc<Mutex<HashMap<String, OpenQuestion>>>);

struct OpenQuestion {
    chat: String,
    text: String,
    reply: oneshot::Sender<Answer>,
}

impl OpenQuestions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, OpenQuestion>> {
        self.0.lock()
    }

    /// Passes the stored answer to the task that waits for it, and returns the text of the question.
    pub(super) fn pass_answer(&self, approval: &str, answer: Answer) -> Option<String> {
        let waiting = self.lock().remove(approval)?;
        waiting.reply.send(answer).ok()?;
        Some(waiting.text)
    }

    /// Returns the only open question of a chat, for answers in words.
    pub(super) fn only(&self, chat: &str) -> Option<String> {
        let open = self.lock();
        let mut own = open.iter().filter(|(_, waiting)| waiting.chat == chat);
        match (own.next(), own.next()) {
            (Some((approval, _)), None) => Some(approval.clone()),
            _ => None,
        }
    }
}

/// Formats a question with its answer.
pub(super) fn format_decision(question: &str, answer: Answer, by: &str) -> String {
    let mark = match answer {
        Answer::Yes => "✓ approved",
        Answer::No => "✗ rejected",
        Answer::Skip => "– skipped",
    };
    format!("{question}\n\n{mark} by {by}")
}

/// Parses an answer in words.
pub(super) fn in_words(text: &str) -> Option<Response> {
    match text.trim().to_lowercase().as_str() {
        "yes" | "y" | "ok" => Some(Answer::Yes.into()),
        "no" | "n" => Some(Answer::No.into()),
        _ => None,
    }
}

/// Returns the id of the message with the question, from its receipt.
pub(super) async fn message_of(store: &dyn Store, approval: &str) -> Option<i64> {
    let filter = NoticeFilter {
        status: Some(NoticeStatus::Sent),
        limit: Some(LATEST),
        ..NoticeFilter::default()
    };
    let key = question_key(approval);
    let sent = read_or_log(store.notices(filter).await, "the message with a question")?;
    let row = sent.into_iter().find(|row| row.key == key)?;
    deft_channels::first_message(&row.receipt?)
}

/// The people in a chat.
pub(super) struct People {
    pub talk: Arc<dyn Talk>,
    pub chat: String,
    /// The chat's name in the outbox.
    pub place: String,
    pub open: OpenQuestions,
}

impl Asker for People {
    fn name(&self) -> String {
        format!("telegram chat {}", self.chat)
    }

    fn ask(&self, question: Question) -> PendingResponse {
        let (talk, chat, open) = (Arc::clone(&self.talk), self.chat.clone(), self.open.clone());
        let place = self.place.clone();
        Box::pin(async move {
            let approval = question.approval.clone();
            let (reply, answer) = oneshot::channel();
            // Insert it before the question is sent, because the answer may come immediately.
            let waiting = OpenQuestion {
                chat,
                text: question.message.clone(),
                reply,
            };
            open.lock().insert(approval.clone(), waiting);
            let gone = QuestionGuard {
                open: &open,
                approval: &approval,
            };
            if let Err(failure) = talk.ask(question, &place).await {
                let why = failure.message;
                tracing::warn!(%why, approval, "cannot send an approval to the chat");
            }
            let answer = answer.await.ok();
            drop(gone);
            // The handler of the button has stored everything else.
            answer.map(Response::from)
        })
    }
}

/// Removes an open question when no task waits for it any more.
struct QuestionGuard<'a> {
    open: &'a OpenQuestions,
    approval: &'a str,
}

impl Drop for QuestionGuard<'_> {
    fn drop(&mut self) {
        self.open.lock().remove(self.approval);
    }
}

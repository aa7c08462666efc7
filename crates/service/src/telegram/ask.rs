//! Questions to the people in a chat: a message with buttons, and the answer that is pressed.
//!
//! Not here: how the message gets there, which is the part of the outbox.

use std::collections::HashMap;
use std::sync::Arc;

use deft_engine::question_key;
use deft_store::{NoticeFilter, NoticeStatus, Store};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::ask::{Answer, Asker, Question, Responds, Response};
use crate::talk::Talk;

/// A question that is answered in words is among so many of the latest notices.
const LATEST: u32 = 200;

/// Questions that wait, by the approval's id.
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

    /// Passes the stored answer to the task that waits for it, and returns the question.
    pub(super) fn settle(&self, approval: &str, answer: Answer) -> Option<String> {
        let waiting = self.lock().remove(approval)?;
        waiting.reply.send(answer).ok()?;
        Some(waiting.text)
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

/// An answer in words, to a question that is the only one.
pub(super) fn in_words(text: &str) -> Option<Response> {
    match text.trim().to_lowercase().as_str() {
        "yes" | "y" | "ok" => Some(Answer::Yes.into()),
        "no" | "n" => Some(Answer::No.into()),
        _ => None,
    }
}

/// The message that asks a question, as its receipt says.
pub(super) async fn message_of(store: &dyn Store, approval: &str) -> Option<i64> {
    let filter = NoticeFilter {
        status: Some(NoticeStatus::Sent),
        limit: Some(LATEST),
        ..NoticeFilter::default()
    };
    let key = question_key(approval);
    let sent = store.notices(filter).await.ok()?;
    let row = sent.into_iter().find(|row| row.key == key)?;
    deft_channels::first_message(&row.receipt?)
}

/// The people in a chat.
pub(super) struct People {
    pub talk: Arc<dyn Talk>,
    pub chat: String,
    /// The same as the outbox knows it.
    pub place: String,
    pub open: OpenQuestions,
}

impl Asker for People {
    fn name(&self) -> String {
        format!("telegram chat {}", self.chat)
    }

    fn ask(&self, question: Question) -> Responds {
        let (talk, chat, open) = (Arc::clone(&self.talk), self.chat.clone(), self.open.clone());
        let place = self.place.clone();
        Box::pin(async move {
            let approval = question.approval.clone();
            let (reply, answer) = oneshot::channel();
            // Before the question is sent, because a person may answer at once.
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
                tracing::warn!(%why, approval, "a question did not reach the chat");
            }
            let answer = answer.await.ok();
            drop(gone);
            // The press itself has stored everything else.
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

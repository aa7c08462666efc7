//! Messages sent by programs, which wait for the answer up to a deadline.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deft_model::{RunId, RunStatus};
use deft_wire::chat::{ChatAnswer, ChatReply};
use deft_wire::{Done, Failure};
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{
    Attention, CallLog, Conversation, ConversationQuery, Listener, Live, NewChatMessage, Talk,
};

/// Interval between checks whether a message is stored.
const STORED: Duration = Duration::from_millis(5);

/// Returns a conversation by its id, a prefix of it, or `last`: the latest one, of `channel` if given.
pub async fn find_conversation(
    talk: &dyn Talk,
    id: &str,
    channel: Option<&str>,
) -> Done<Conversation> {
    let found = match id {
        "last" => {
            let latest = talk
                .conversations(ConversationQuery::latest(channel))
                .await?;
            let view = latest.into_iter().next();
            view.map(|view| Conversation { view, open: None })
        }
        id => talk.conversation(id).await?,
    };
    found.ok_or_else(|| {
        let message = match id {
            "last" => "no conversation to continue".to_owned(),
            id => format!("unknown conversation `{id}`"),
        };
        Failure::input("unknown_conversation", message).hint(
            "`deft chat list` shows all \
             conversations",
        )
    })
}

/// Sends a message and waits for the answer, for at most `at_most`. Questions before calls wait among the
/// approvals.
pub async fn say_and_wait(
    talk: Arc<dyn Talk>,
    mut say: NewChatMessage,
    at_most: Duration,
) -> Done<ChatReply> {
    if say.text.trim().is_empty() {
        return Err(Failure::input("no_text", "the message is empty"));
    }
    if let Some(agent) = &say.agent {
        talk.check_agent(agent).await?;
    }
    if let Some(id) = &say.conversation {
        say.conversation = Some(find_conversation(&*talk, id, None).await?.view.id);
    }
    let work = AnswerWork::new();
    let (attention, listener) = (work.attention(), work.listener());
    let answer = tokio::spawn(async move { talk.say(say, attention, listener).await });
    work.wait(answer, at_most).await
}

/// Resumes the oldest incomplete answer of a conversation, and waits for it, for at most `at_most`.
pub async fn resume_and_wait(
    talk: Arc<dyn Talk>,
    conversation: &str,
    at_most: Duration,
) -> Done<ChatReply> {
    let id = find_conversation(&*talk, conversation, None).await?.view.id;
    let unanswered = talk.unanswered_messages(&id).await?;
    let Some(first) = unanswered.into_iter().next() else {
        let message = format!("conversation `{id}` has no unanswered message");
        return Err(Failure::input("not_resumable", message)
            .hint("send a message with `conversation` to continue it"));
    };
    let work = AnswerWork::new();
    drop(work.run.set(first.run.clone()));
    let (attention, listener) = (work.attention(), work.listener());
    let answer = tokio::spawn(async move { talk.resume(first.run, attention, listener).await });
    work.wait(answer, at_most).await
}

/// An answer in progress.
struct AnswerWork {
    run: Arc<OnceLock<RunId>>,
    calls: Arc<Mutex<CallLog>>,
}

impl AnswerWork {
    fn new() -> Self {
        Self {
            run: Arc::default(),
            calls: Arc::default(),
        }
    }

    fn attention(&self) -> Attention {
        Attention {
            parks: true,
            admitted: Some(Arc::clone(&self.run)),
            ..Attention::default()
        }
    }

    fn listener(&self) -> Listener {
        let calls = Arc::clone(&self.calls);
        Arc::new(move |live: Live| calls.lock().record(&live))
    }

    async fn wait(
        self,
        mut task: JoinHandle<Done<ChatAnswer>>,
        at_most: Duration,
    ) -> Done<ChatReply> {
        let deadline = Instant::now() + at_most;
        loop {
            let look = deadline.max(Instant::now() + STORED);
            if let Ok(ended) = tokio::time::timeout_at(look, &mut task).await {
                return self.finish(ended);
            }
            // The run continues without its caller.
            if let Some(run) = self.run.get() {
                return Ok(ChatReply {
                    run: run.clone(),
                    status: RunStatus::Running,
                    answer: None,
                });
            }
        }
    }

    fn finish(self, ended: Result<Done<ChatAnswer>, tokio::task::JoinError>) -> Done<ChatReply> {
        let answer = ended.unwrap_or_else(|problem| {
            let message = format!("the answer failed: {problem}");
            Err(Failure::internal("engine", message))
        })?;
        let calls = std::mem::take(&mut *self.calls.lock());
        let answer = ChatAnswer {
            calls: calls.into_calls(),
            ..answer
        };
        Ok(ChatReply {
            run: answer.run.clone(),
            status: answer.status,
            answer: Some(answer),
        })
    }
}

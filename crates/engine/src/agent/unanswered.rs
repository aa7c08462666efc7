//! Chat messages that have no answer yet: their process has exited, or another process still works on them.
//!
//! Not here: runs that are not chats, which the daemon resumes (`recover.rs`).

use deft_agents::chat_inputs;
use deft_model::{RunId, RunStatus};
use deft_store::{RunFilter, RunRow};

use super::say::ChatAnswer;
use crate::{Attention, CHAT_SKILL, Engine, Error};

/// A message without an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct UnansweredMessage {
    /// The run that should answer it.
    pub run: RunRow,
    /// The text of the message.
    pub text: String,
    /// The state of its answer.
    pub state: AnswerState,
}

/// The state of an answer that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerState {
    /// No process works on it: its process has exited, or its turn has not come.
    Abandoned,
    /// Another process works on it.
    Elsewhere,
    /// The run is parked until an answer, a time or a tool arrives.
    Waiting,
}

impl Engine {
    /// Returns the messages of a conversation that have no answer yet, oldest first.
    pub async fn unanswered_messages(
        &self,
        conversation: &str,
    ) -> Result<Vec<UnansweredMessage>, Error> {
        let filter = RunFilter {
            skill: Some(CHAT_SKILL.to_owned()),
            statuses: vec![RunStatus::Queued, RunStatus::Running, RunStatus::Waiting],
            ..RunFilter::default()
        };
        let mut runs = Vec::new();
        for run in self.store().runs(filter).await? {
            let inputs = chat_inputs(&run)?.unwrap_or_default();
            if inputs.conversation.as_deref() == Some(conversation) {
                runs.push((run, inputs.message.unwrap_or_default()));
            }
        }
        runs.sort_by(|(one, _), (other, _)| {
            (one.admitted_at, &one.id).cmp(&(other.admitted_at, &other.id))
        });
        let state = |run: &RunRow| match run.status {
            RunStatus::Waiting => AnswerState::Waiting,
            RunStatus::Running if !self.is_abandoned(run) => AnswerState::Elsewhere,
            RunStatus::Queued | RunStatus::Running | RunStatus::Done => AnswerState::Abandoned,
        };
        let unanswered = runs.into_iter().map(|(run, text)| UnansweredMessage {
            text,
            state: state(&run),
            run,
        });
        Ok(unanswered.collect())
    }

    /// Resumes an answer here, or waits until the process that works on it has ended it.
    pub async fn resume_chat(
        &self,
        run: &RunId,
        attention: Attention,
    ) -> Result<ChatAnswer, Error> {
        let row = self.store().run(run).await?;
        let owner = row.and_then(|row| row.owner);
        if let Some(owner) = owner.filter(|owner| self.inner.owner.is_dead(owner)) {
            self.release_dead(owner).await?;
        }
        attention.note(run);
        Box::pin(self.drive_when_due(run, attention)).await?;
        let ended = self.finished_row(run).await?;
        ChatAnswer::from_run(ended.run().clone(), String::new())
    }
}

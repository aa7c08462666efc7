//! Chats of a home, answered by its engine.
//!
//! Not here: displaying answers, and building prompts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use deft_engine::{Engine, Notice, NoticeKind};
use deft_model::{Choice, RunId, RunStatus, SpendSubject, Usd};
use deft_store::{ConversationFilter, ConversationRow, SpendScope, SpentFilter, SpentRow};
use jiff::Timestamp;

use super::live::EventForwarder;
use super::{
    Attention, Conversation, ConversationQuery, DecidedQuestion, Listener, Live, NewChatMessage,
    OpenRun, Talk, TalkFuture, UnansweredMessage, live,
};
use crate::app::{App, failure};
use crate::ask::{Question, Response};
use crate::ids::IdKind;
use crate::shape::read_word;
use crate::trash;
use deft_wire::budget::{PauseEnd, PausedAgent, ScopeUsage, Spending};
use deft_wire::chat::{ChatAnswer, ChatMessage, ConversationView, PromptView};
use deft_wire::{Done, Failure};

/// Maximum number of messages of a conversation that are read.
const MAX_MESSAGES: u32 = 10_000;

/// Returns the chats of a home.
pub fn host(app: &App) -> Arc<dyn Talk> {
    Arc::new(Host {
        engine: app.engine.clone(),
        home: app.home().to_path_buf(),
    })
}

/// The work on an answer.
type Work<'a> =
    Pin<Box<dyn Future<Output = Result<deft_engine::ChatAnswer, deft_engine::Error>> + Send + 'a>>;

pub(super) struct Host {
    pub(super) engine: Engine,
    home: PathBuf,
}

impl Host {
    async fn answer(
        &self,
        say: NewChatMessage,
        attention: Attention,
        listener: Listener,
    ) -> Done<ChatAnswer> {
        self.follow(attention, listener, |attention| {
            Box::pin(self.engine.say(say, attention))
        })
        .await
    }

    /// Does the work on an answer, passes its live events to `listener`, and returns the answer.
    async fn follow<'a, F>(
        &'a self,
        attention: Attention,
        listener: Listener,
        work: F,
    ) -> Done<ChatAnswer>
    where
        F: FnOnce(Attention) -> Work<'a>,
    {
        let (engine, tell) = (self.engine.clone(), listener);
        let listener: Listener = Arc::new(move |live| {
            let ended = matches!(live, Live::ToolEnded { .. });
            tell(live);
            if ended {
                // The tool may have left a notice, which is then delivered without delay.
                engine.ring();
            }
        });
        let started = attention.admitted.clone().unwrap_or_default();
        let events = self.engine.subscribe();
        let forwarder = EventForwarder::new(
            self.engine.subscribe(),
            Arc::clone(&started),
            Arc::clone(&listener),
        );
        let delta_forwarder = Arc::clone(&forwarder);
        let attention = Attention {
            admitted: Some(started),
            listener: Some(Arc::new(move |delta| delta_forwarder.handle_delta(delta))),
            ..attention
        };
        let answer = forwarder.follow(events, work(attention)).await;
        let answer = answer.map_err(|error| failure(&error))?;
        if let Some(reason) = answer.run.waits_for() {
            listener(Live::Waiting {
                reason: reason.to_owned(),
            });
        }
        let shown = self.engine.show(&answer.run).await;
        let run = shown.map_err(|error| failure(&error))?.run;
        Ok(live::answer(answer.conversation, answer.text, run))
    }

    async fn find(&self, id: &str) -> Done<Option<Conversation>> {
        let store = self.engine.store();
        if let Some(row) = store.conversation(id).await.map_err(store_failure)? {
            return self.whole(row).await.map(Some);
        }
        let all = ConversationFilter {
            archived: true,
            ..ConversationFilter::default()
        };
        let rows = store.conversations(all).await.map_err(store_failure)?;
        let describe = |row: &ConversationRow| (row.id.clone(), row.title.clone());
        match IdKind::Conversation.find(id, rows, describe)? {
            Some(row) => self.whole(row).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns a conversation with the state of its last run.
    async fn whole(&self, row: ConversationRow) -> Done<Conversation> {
        let run = match &row.run {
            Some(run) => self.engine.store().run(run).await.map_err(store_failure)?,
            None => None,
        };
        let open = run.filter(|run| run.status != RunStatus::Done);
        let open = open.map(|run| OpenRun {
            state: match run.waits_for() {
                Some(reason) => format!("waits for {reason}"),
                None => format!("is {}", run.status.word()),
            },
            run: run.id,
        });
        Ok(Conversation {
            view: conversation(row),
            open,
        })
    }

    async fn list_spent(&self, filter: SpentFilter) -> Done<Vec<SpentRow>> {
        let rows = self.engine.store().list_spent(filter).await;
        rows.map_err(store_failure)
    }

    async fn spent_today(&self) -> Done<Spending> {
        let zone = self.engine.base().host_zone();
        let day = Timestamp::now().to_zoned(zone).date();
        let suffix = format!("@{day}");
        let filter = SpentFilter {
            suffix: Some(suffix.clone()),
            ..SpentFilter::default()
        };
        let rows = self.list_spent(filter).await?;
        let scope = |row: SpentRow| {
            Ok(ScopeUsage {
                scope: read_word("the ledger", row.scope.trim_end_matches(&suffix))?,
                calls: row.calls,
                estimated_calls: row.estimated_calls,
                estimated_tokens: row.estimated_tokens,
                input_tokens: row.tokens_in,
                output_tokens: row.tokens_out,
                cost_usd: Usd::from_micros(row.micros),
                reserved_tokens: row.reserved_tokens,
                reserved_usd: Usd::from_micros(row.reserved_micros),
            })
        };
        Ok(Spending {
            day: day.to_string(),
            scopes: rows.into_iter().map(scope).collect::<Done<_>>()?,
            paused: self.paused_agents().await?,
        })
    }

    /// Returns the agents that are paused, including those paused on an earlier day.
    async fn paused_agents(&self) -> Done<Vec<PausedAgent>> {
        let filter = SpentFilter {
            prefix: Some(SpendSubject::Agent(String::new()).to_string()),
            ..SpentFilter::default()
        };
        let rows = self.list_spent(filter).await?;
        let name = |row: &SpentRow| match SpendScope::from_name(&row.scope)?.subject {
            SpendSubject::Agent(agent) => Some(agent),
            SpendSubject::All | SpendSubject::Skill(_) | SpendSubject::Run(_) => None,
        };
        let agents: BTreeSet<String> = rows.iter().filter_map(name).collect();
        let mut paused = Vec::new();
        for agent in agents {
            let pause = self.engine.agents().agent_paused(&agent).await;
            if let Some(pause) = pause.map_err(|error| failure(&error))? {
                paused.push(PausedAgent {
                    agent,
                    since: pause.since,
                    reason: pause.why,
                    until: if pause.lifts_itself {
                        PauseEnd::Limit
                    } else {
                        PauseEnd::Resume
                    },
                });
            }
        }
        Ok(paused)
    }
}

impl Talk for Host {
    fn say(
        &self,
        say: NewChatMessage,
        attention: Attention,
        listener: Listener,
    ) -> TalkFuture<'_, ChatAnswer> {
        Box::pin(self.answer(say, attention, listener))
    }

    fn unanswered_messages<'a>(
        &'a self,
        conversation: &'a str,
    ) -> TalkFuture<'a, Vec<UnansweredMessage>> {
        Box::pin(async move {
            let found = self.engine.unanswered_messages(conversation).await;
            let found = found.map_err(|error| failure(&error))?;
            let found = found.into_iter().map(|one| UnansweredMessage {
                run: one.run.id,
                text: one.text,
                state: one.state,
                waits_for: one.run.waiting_for.map(|reason| reason.text),
            });
            Ok(found.collect())
        })
    }

    fn resume(
        &self,
        run: RunId,
        attention: Attention,
        listener: Listener,
    ) -> TalkFuture<'_, ChatAnswer> {
        Box::pin(self.follow(attention, listener, move |attention| {
            Box::pin(async move { self.engine.resume_chat(&run, attention).await })
        }))
    }

    fn ensure_answer_sent<'a>(&'a self, answer: &'a ChatAnswer, to: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            let seen = self.engine.see_to_answer(&answer.run, to).await;
            seen.map_err(|error| failure(&error))
        })
    }

    fn post_text<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            let notice = Notice {
                kind: NoticeKind::Answer,
                title: String::new(),
                text: text.to_owned(),
                skill: None,
                run: None,
                target: Some(to.to_owned()),
                approval: None,
                always: false,
            };
            let left = self.engine.outbox().post(key, &notice).await;
            left.map(drop).map_err(|error| failure(&error))
        })
    }

    fn ask<'a>(&'a self, question: Question, to: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            let left = self.engine.tell_question(&question, to).await;
            left.map(drop).map_err(|error| failure(&error))
        })
    }

    fn stop<'a>(&'a self, run: &'a RunId, by: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            let stopped = self.engine.cancel(run, by).await;
            stopped.map(drop).map_err(|error| failure(&error))
        })
    }

    fn prompt(&self, say: NewChatMessage) -> TalkFuture<'_, PromptView> {
        Box::pin(async move {
            let shown = self.engine.show_prompt(&say).await;
            shown.map_err(|error| failure(&error))
        })
    }

    fn decide<'a>(
        &'a self,
        approval: &'a str,
        response: Response,
        by: &'a str,
    ) -> TalkFuture<'a, Option<DecidedQuestion>> {
        Box::pin(async move {
            let row = self.engine.store().approval(approval).await;
            let Some(row) = row.map_err(store_failure)? else {
                return Ok(None);
            };
            let question = row.asked.message.clone();
            let Response { answer, always } = response;
            let answered = self.engine.answer(&row, answer, by, always).await;
            // Wake a daemon in this process, so that it does not wait for its next round.
            self.engine.ring();
            let row = match answered.map_err(|error| failure(&error))? {
                deft_engine::AnswerReceipt::Accepted(row)
                | deft_engine::AnswerReceipt::Already(row) => row,
                deft_engine::AnswerReceipt::Gone => return Ok(None),
            };
            let Some(decision) = row.decision else {
                return Ok(None);
            };
            let what = format!("the answer to `{}`", row.asked.id);
            Ok(Some(DecidedQuestion {
                question,
                answer: read_word(&what, &decision.answer)?,
                by: decision.by,
            }))
        })
    }

    fn skills<'a>(&'a self, agent: Option<&'a str>) -> TalkFuture<'a, Vec<(String, String)>> {
        Box::pin(async move { Ok(self.engine.skills_of(agent).await) })
    }

    fn check_model<'a>(&'a self, agent: Option<&'a str>) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            let Err(unable) = self.engine.check_model(agent) else {
                return Ok(());
            };
            let failure = Failure::input("no_model", unable.message);
            Err(match unable.hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        })
    }

    fn check_agent<'a>(&'a self, agent: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            let checked = self.engine.check_agent(agent);
            checked.map_err(|error| failure(&error))
        })
    }

    fn conversations(&self, query: ConversationQuery) -> TalkFuture<'_, Vec<ConversationView>> {
        Box::pin(async move {
            let rows = self.engine.store().conversations(query.filter()?).await;
            let rows = rows.map_err(store_failure)?;
            Ok(rows.into_iter().map(conversation).collect())
        })
    }

    fn conversation<'a>(&'a self, id: &'a str) -> TalkFuture<'a, Option<Conversation>> {
        Box::pin(self.find(id))
    }

    fn messages<'a>(&'a self, id: &'a str) -> TalkFuture<'a, Vec<ChatMessage>> {
        Box::pin(async move {
            let store = self.engine.store();
            let rows = store
                .messages(id, 0, MAX_MESSAGES)
                .await
                .map_err(store_failure)?;
            let messages = rows.into_iter().map(|row| ChatMessage {
                role: row.role.into(),
                conversation: row.conversation,
                seq: row.seq,
                text: if row.text.is_empty() {
                    live::summary(&row.body)
                } else {
                    row.text
                },
                at: row.at,
            });
            Ok(messages.collect())
        })
    }

    fn search<'a>(&'a self, words: &'a str, limit: u32) -> TalkFuture<'a, Vec<ChatMessage>> {
        Box::pin(async move {
            let hits = self.engine.store().search_conversations(words, limit).await;
            let messages = hits
                .map_err(store_failure)?
                .into_iter()
                .map(|hit| ChatMessage {
                    role: hit.role.into(),
                    conversation: hit.conversation,
                    seq: hit.seq,
                    text: hit.snippet,
                    at: hit.at,
                });
            Ok(messages.collect())
        })
    }

    fn delete<'a>(&'a self, id: &'a str) -> TalkFuture<'a, bool> {
        Box::pin(async move {
            trash::put_conversation(&self.engine, &self.home, id).await?;
            let deleted = self.engine.store().delete_conversation(id).await;
            deleted.map_err(store_failure)
        })
    }

    fn spending(&self) -> TalkFuture<'_, Spending> {
        Box::pin(self.spent_today())
    }

    fn resume_agent<'a>(&'a self, agent: &'a str) -> TalkFuture<'a, bool> {
        Box::pin(async move {
            let resumed = self.engine.agents().resume_agent(agent).await;
            resumed.map_err(|error| failure(&error))
        })
    }
}

fn store_failure(error: deft_store::Error) -> Failure {
    failure(&deft_engine::Error::from(error))
}

fn conversation(row: ConversationRow) -> ConversationView {
    ConversationView {
        id: row.id,
        agent: row.agent,
        channel: row.channel,
        title: row.title,
        created_at: row.created_at,
        updated_at: row.updated_at,
        message_count: row.message_count,
    }
}

//! A [`Talk`] with scripted answers.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};

use deft_wire::Failure;
use deft_wire::budget::{PauseEnd, PausedAgent, ScopeUsage, Spending};
use deft_wire::chat::{
    ChatAnswer, ChatError, ChatMessage, ChatUsage, ConversationView, MessageRole, PromptMode,
    PromptSection, PromptTool, PromptView, SystemPart,
};
use deft_wire::model::{
    FailureClass, Message, Object, Outcome, RunId, RunStatus, SpendSubject, Usd,
};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::Notify;

use super::{
    Attention, ChatControls, ChatModel, Conversation, ConversationQuery, DecidedQuestion, Listener,
    Live, NewChatMessage, Operation, Question, Response, StepPath, Talk, TalkFuture,
    UnansweredMessage, UndoneExchange,
};

/// An action of the fake while it works on a message.
#[derive(Clone, Debug)]
pub(crate) enum FakeAction {
    Live(Live),
    /// Asks a person; the answer is appended to the text.
    Ask(&'static str),
    /// Waits until the answer is stopped.
    Hang,
    /// Waits until the test notifies [`Fake::go`].
    Wait,
}

#[derive(Default)]
pub(crate) struct Fake {
    script: Mutex<VecDeque<(Vec<FakeAction>, ChatAnswer)>>,
    pub said: Mutex<Vec<NewChatMessage>>,
    pub stopped: Mutex<Vec<String>>,
    /// The failures of the next decisions.
    pub failures: Mutex<VecDeque<Failure>>,
    pub decided: Mutex<Vec<String>>,
    pub unanswered: Mutex<Vec<UnansweredMessage>>,
    stop: Notify,
    pub go: Notify,
    /// Notified when a message arrives.
    pub heard: Notify,
    /// The outbox for answers and questions, if any.
    pub outbox: OnceLock<Box<dyn Outbox>>,
}

/// The future of queueing a message for a chat.
pub(crate) type Leaves<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// An outbox for answers and questions.
pub(crate) trait Outbox: Send + Sync + 'static {
    fn answer<'a>(&'a self, answer: &'a ChatAnswer, to: &'a str) -> Leaves<'a>;
    fn post_text<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> Leaves<'a>;
    fn ask<'a>(&'a self, question: &'a Question, to: &'a str) -> Leaves<'a>;
}

impl Fake {
    /// Scripts the answer to the next message. Without a script, the message is repeated.
    pub(crate) fn then(
        self: &Arc<Self>,
        events: impl IntoIterator<Item = FakeAction>,
        text: &str,
    ) -> Arc<Self> {
        self.ends(events, succeeded(text))
    }

    pub(crate) fn ends(
        self: &Arc<Self>,
        events: impl IntoIterator<Item = FakeAction>,
        said: ChatAnswer,
    ) -> Arc<Self> {
        self.script
            .lock()
            .unwrap()
            .push_back((events.into_iter().collect(), said));
        Arc::clone(self)
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.said
            .lock()
            .unwrap()
            .iter()
            .map(|say| say.text.clone())
            .collect()
    }
}

/// Returns an answer without text.
pub(crate) fn answer(status: RunStatus, outcome: Option<Outcome>) -> ChatAnswer {
    ChatAnswer {
        conversation: String::new(),
        run: RunId::new(""),
        status,
        outcome,
        text: String::new(),
        usage: ChatUsage::default(),
        calls: Vec::new(),
        error: None,
    }
}

fn succeeded(text: &str) -> ChatAnswer {
    ChatAnswer {
        text: text.to_owned(),
        ..answer(RunStatus::Done, Some(Outcome::Success))
    }
}

/// Returns the answer of a failed run.
pub(crate) fn failed(class: FailureClass, message: &str) -> ChatAnswer {
    ChatAnswer {
        error: Some(ChatError {
            class,
            message: message.to_owned(),
            hint: None,
        }),
        ..answer(RunStatus::Done, Some(Outcome::Error))
    }
}

/// Returns a tool call and its end.
pub(crate) fn call(tool: &str, args: Value, ok: bool) -> [FakeAction; 2] {
    let args = match args {
        Value::Object(args) => args,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Object::new()
        }
    };
    let note = (!ok).then(|| "it broke".to_owned());
    [
        FakeAction::Live(Live::ToolBegun {
            tool: tool.to_owned(),
            args,
            depth: 0,
        }),
        FakeAction::Live(Live::ToolEnded {
            tool: tool.to_owned(),
            ok,
            ms: 120,
            note,
        }),
    ]
}

fn question(message: &str, run: &RunId) -> Question {
    Question {
        approval: "apr_1".to_owned(),
        run: run.clone(),
        path: StepPath::from_text("chat".to_owned()),
        message: message.to_owned(),
        default: false,
        operation: Operation::default(),
    }
}

impl ChatControls for Fake {
    fn models<'a>(&'a self, _: Option<&'a str>) -> TalkFuture<'a, Vec<ChatModel>> {
        let model = |name: &str, usual| ChatModel {
            name: name.to_owned(),
            model: format!("{name}-1"),
            provider: "openai".to_owned(),
            usual,
        };
        Box::pin(async move { Ok(vec![model("local", true), model("big", false)]) })
    }

    fn chosen_model<'a>(&'a self, _: &'a str) -> TalkFuture<'a, Option<String>> {
        Box::pin(async { Ok(None) })
    }

    fn undo<'a>(&'a self, _: &'a str) -> TalkFuture<'a, Option<UndoneExchange>> {
        Box::pin(async {
            let said = self.said.lock().unwrap();
            Ok(said.last().map(|say| UndoneExchange {
                run: Some(RunId::new("run_1")),
                text: say.text.clone(),
                called: vec!["notify".to_owned()],
            }))
        })
    }
}

impl Talk for Fake {
    fn say(
        &self,
        say: NewChatMessage,
        attention: Attention,
        listener: Listener,
    ) -> TalkFuture<'_, ChatAnswer> {
        Box::pin(async move {
            let nth = {
                let mut all = self.said.lock().unwrap();
                all.push(say.clone());
                all.len()
            };
            let run = RunId::new(format!("run_{nth}"));
            if let Some(admitted) = &attention.admitted {
                admitted.set(run.clone()).ok();
            }
            let usual = || (Vec::new(), succeeded(&format!("you said: {}", say.text)));
            let script = self.script.lock().unwrap().pop_front();
            let (events, mut said) = script.unwrap_or_else(usual);
            // The script for this message has been taken, so the test may prepare the next one.
            self.heard.notify_one();
            for event in events {
                match event {
                    FakeAction::Live(live) => listener(live),
                    FakeAction::Wait => self.go.notified().await,
                    FakeAction::Hang => {
                        self.stop.notified().await;
                        said = failed(FailureClass::Cancelled, "stopped");
                        said.outcome = Some(Outcome::Cancelled);
                    }
                    FakeAction::Ask(message) => match &attention.asker {
                        Some(asker) => {
                            let response = asker.ask(question(message, &run)).await;
                            let word = response.map_or("no answer", |given| given.answer.word());
                            said.text.push_str(word);
                        }
                        None => {
                            said.status = RunStatus::Waiting;
                            said.outcome = None;
                        }
                    },
                }
            }
            said.conversation = say.conversation.unwrap_or_else(|| format!("conv_{nth}"));
            said.run = run;
            said.usage = ChatUsage {
                input_tokens: 100,
                output_tokens: 10,
                cost_usd: Some(Usd::from_dollars(0.001)),
                llm_calls: 1,
            };
            Ok(said)
        })
    }

    fn unanswered_messages<'a>(&'a self, _: &'a str) -> TalkFuture<'a, Vec<UnansweredMessage>> {
        let open = std::mem::take(&mut *self.unanswered.lock().unwrap());
        Box::pin(async move { Ok(open) })
    }

    fn resume(
        &self,
        _: RunId,
        attention: Attention,
        listener: Listener,
    ) -> TalkFuture<'_, ChatAnswer> {
        let again = NewChatMessage {
            text: "(again)".to_owned(),
            ..NewChatMessage::default()
        };
        self.say(again, attention, listener)
    }

    fn ensure_answer_sent<'a>(&'a self, answer: &'a ChatAnswer, to: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            self.outbox.get().unwrap().answer(answer, to).await;
            Ok(())
        })
    }

    fn post_text<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            self.outbox.get().unwrap().post_text(key, to, text).await;
            Ok(())
        })
    }

    fn ask<'a>(&'a self, question: Question, to: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            self.outbox.get().unwrap().ask(&question, to).await;
            Ok(())
        })
    }

    fn stop<'a>(&'a self, run: &'a RunId, by: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            self.stopped.lock().unwrap().push(format!("{run} by {by}"));
            self.stop.notify_one();
            Ok(())
        })
    }

    fn prompt(&self, say: NewChatMessage) -> TalkFuture<'_, PromptView> {
        let part = |text: &str, stable| SystemPart {
            text: text.to_owned(),
            stable,
        };
        let section = |section: &str, chars| PromptSection {
            section: section.to_owned(),
            chars,
        };
        let tool = |name: &str, description: &str, tokens| PromptTool {
            name: name.to_owned(),
            description: description.to_owned(),
            tool: name.to_owned(),
            approve: false,
            tokens,
        };
        Box::pin(async move {
            Ok(PromptView {
                agent: say.agent.unwrap_or_else(|| "thinker".to_owned()),
                model: "local".to_owned(),
                mode: PromptMode::Tools,
                system: vec![part("You help.", true), part("It is noon.", false)],
                sections: vec![section("agent", 9), section("now", 11)],
                messages: vec![Message::User { text: say.text }],
                tools: vec![
                    tool("log", "Writes a line.", 7),
                    tool("http_request", "Asks a web server. More.", 120),
                ],
                shelf: vec!["notify".to_owned()],
                tokens: 140,
                notes: vec!["2 skills were left out".to_owned()],
            })
        })
    }

    fn decide<'a>(
        &'a self,
        approval: &'a str,
        response: Response,
        by: &'a str,
    ) -> TalkFuture<'a, Option<DecidedQuestion>> {
        Box::pin(async move {
            if let Some(failure) = self.failures.lock().unwrap().pop_front() {
                return Err(failure);
            }
            let decided = format!("{approval} {} by {by}", response.answer.word());
            self.decided.lock().unwrap().push(decided);
            let (question, by) = ("delete it?".to_owned(), by.to_owned());
            Ok((approval == "apr_1").then_some(DecidedQuestion {
                question,
                answer: response.answer,
                by,
            }))
        })
    }

    fn skills<'a>(&'a self, _: Option<&'a str>) -> TalkFuture<'a, Vec<(String, String)>> {
        Box::pin(async { Ok(vec![("mail.send".to_owned(), "Sends a mail".to_owned())]) })
    }

    fn check_model<'a>(&'a self, _: Option<&'a str>) -> TalkFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn check_agent<'a>(&'a self, agent: &'a str) -> TalkFuture<'a, ()> {
        Box::pin(async move {
            match agent {
                "nobody" => Err(Failure::input("no_such_agent", "unknown agent `nobody`")),
                _ => Ok(()),
            }
        })
    }

    fn conversations(&self, _: ConversationQuery) -> TalkFuture<'_, Vec<ConversationView>> {
        Box::pin(async { Ok(vec![conversation()]) })
    }

    fn conversation<'a>(&'a self, id: &'a str) -> TalkFuture<'a, Option<Conversation>> {
        let found = || Conversation {
            view: conversation(),
            open: None,
        };
        Box::pin(async move { Ok("conv_old".starts_with(id).then(found)) })
    }

    fn messages<'a>(&'a self, _: &'a str) -> TalkFuture<'a, Vec<ChatMessage>> {
        Box::pin(async {
            Ok(vec![
                message(1, MessageRole::User, "hello **you**"),
                message(2, MessageRole::Tool, "{}"),
                message(3, MessageRole::Assistant, "good **day**"),
            ])
        })
    }

    fn search<'a>(&'a self, words: &'a str, _: u32) -> TalkFuture<'a, Vec<ChatMessage>> {
        Box::pin(async move {
            let all = vec![message(3, MessageRole::Assistant, "good day")];
            Ok(if words == "day" { all } else { Vec::new() })
        })
    }

    fn delete<'a>(&'a self, id: &'a str) -> TalkFuture<'a, bool> {
        Box::pin(async move { Ok(id == "conv_old") })
    }

    fn spending(&self) -> TalkFuture<'_, Spending> {
        let used = |scope: SpendSubject, input_tokens, cost| ScopeUsage {
            scope,
            calls: 3,
            input_tokens,
            output_tokens: 50,
            cost_usd: Usd::from_micros(cost),
            reserved_tokens: 7,
            ..ScopeUsage::default()
        };
        Box::pin(async move {
            Ok(Spending {
                day: "2026-11-15".to_owned(),
                scopes: vec![
                    used(SpendSubject::Agent("thinker".to_owned()), 1000, 1200),
                    used(SpendSubject::All, 3000, 2_500_000),
                ],
                paused: vec![PausedAgent {
                    agent: "scout".to_owned(),
                    since: Timestamp::UNIX_EPOCH,
                    reason: "10 times its usual hour".to_owned(),
                    until: PauseEnd::Resume,
                }],
            })
        })
    }

    fn resume_agent<'a>(&'a self, agent: &'a str) -> TalkFuture<'a, bool> {
        Box::pin(async move { Ok(agent == "scout") })
    }
}

fn conversation() -> ConversationView {
    ConversationView {
        id: "conv_old".to_owned(),
        agent: "thinker".to_owned(),
        channel: "cli".to_owned(),
        title: "hello you".to_owned(),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        message_count: 3,
    }
}

fn message(seq: u64, role: MessageRole, text: &str) -> ChatMessage {
    ChatMessage {
        conversation: "conv_old".to_owned(),
        seq,
        role,
        text: text.to_owned(),
        at: Timestamp::UNIX_EPOCH,
    }
}

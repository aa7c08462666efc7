//! Somebody who answers as a test tells them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

use deft_engine::{Attention, Notice, NoticeKind, Question, Response, answer_text, question_key};
use deft_model::{Failure as Fault, FailureClass, Object, RunId, Usd};
use deft_store::{NewNotice, Store};
use deft_wire::budget::{PauseEnd, PausedAgent, ScopeUsage, Spending};
use deft_workflow::{Operation, Path};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    Conversation, Decided, Later, Line, Listener, Live, Said, Say, Talk, Unanswered, Usage,
};

/// What happens when something is said.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    Live(Live),
    /// A person is asked; the answer is put at the end of the text.
    Ask(&'static str),
    /// Nothing goes on until somebody stops it.
    Hang,
    /// Nothing goes on until the test rings [`Fake::go`].
    Wait,
}

#[derive(Default)]
pub(crate) struct Fake {
    script: Mutex<VecDeque<(Vec<Do>, Said)>>,
    pub said: Mutex<Vec<Say>>,
    pub stopped: Mutex<Vec<String>>,
    pub unanswered: Mutex<Vec<Unanswered>>,
    stop: Notify,
    pub go: Notify,
    /// Rung when something is said.
    pub heard: Notify,
    /// Where answers and questions are left for chats.
    pub outbox: OnceLock<Arc<dyn Store>>,
}

impl Fake {
    /// What comes of the next thing that is said. Without a script it is repeated.
    pub(crate) fn then(
        self: &Arc<Self>,
        events: impl IntoIterator<Item = Do>,
        text: &str,
    ) -> Arc<Self> {
        self.ends(
            events,
            Said {
                text: text.to_owned(),
                outcome: Some("success".to_owned()),
                status: "done".to_owned(),
                ..Said::default()
            },
        )
    }

    pub(crate) fn ends(
        self: &Arc<Self>,
        events: impl IntoIterator<Item = Do>,
        said: Said,
    ) -> Arc<Self> {
        self.script
            .lock()
            .unwrap()
            .push_back((events.into_iter().collect(), said));
        Arc::clone(self)
    }

    async fn leave(&self, key: String, to: &str, text: &str, approval: Option<String>) {
        let notice = Notice {
            kind: NoticeKind::Answer,
            title: String::new(),
            text: text.to_owned(),
            skill: None,
            run: None,
            target: Some(to.to_owned()),
            approval,
            always: false,
        };
        let new = NewNotice {
            key,
            skill: None,
            body: serde_json::to_string(&notice).unwrap(),
            at: Timestamp::now(),
        };
        self.outbox.get().unwrap().add_notice(new).await.unwrap();
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

/// A failure of a run.
pub(crate) fn failed(class: FailureClass, message: &str) -> Said {
    Said {
        status: "done".to_owned(),
        outcome: Some("error".to_owned()),
        error: Some(Fault::new(class, message)),
        ..Said::default()
    }
}

/// A call of a tool, and its end.
pub(crate) fn call(tool: &str, args: Value, ok: bool) -> [Do; 2] {
    let args = match args {
        Value::Object(args) => args,
        _ => Object::new(),
    };
    let note = (!ok).then(|| "it broke".to_owned());
    [
        Do::Live(Live::ToolBegun {
            tool: tool.to_owned(),
            args,
            depth: 0,
        }),
        Do::Live(Live::ToolEnded {
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
        path: Path::from_text("chat".to_owned()),
        message: message.to_owned(),
        default: false,
        operation: Operation::default(),
    }
}

impl Talk for Fake {
    fn say(&self, say: Say, attention: Attention, listener: Listener) -> Later<'_, Said> {
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
            let usual = || {
                let text = format!("you said: {}", say.text);
                (
                    Vec::new(),
                    Said {
                        text,
                        outcome: Some("success".to_owned()),
                        status: "done".to_owned(),
                        ..Said::default()
                    },
                )
            };
            let script = self.script.lock().unwrap().pop_front();
            let (events, mut said) = script.unwrap_or_else(usual);
            // What comes of the next thing is settled.
            self.heard.notify_one();
            for event in events {
                match event {
                    Do::Live(live) => listener(live),
                    Do::Wait => self.go.notified().await,
                    Do::Hang => {
                        self.stop.notified().await;
                        said = failed(FailureClass::Cancelled, "stopped");
                        said.outcome = Some("cancelled".to_owned());
                    }
                    Do::Ask(message) => match &attention.asker {
                        Some(asker) => {
                            let response = asker.ask(question(message, &run)).await;
                            let word = response.map_or("no answer", |given| given.answer.word());
                            said.text.push_str(word);
                        }
                        None => {
                            said.status = "waiting".to_owned();
                            said.outcome = None;
                        }
                    },
                }
            }
            said.conversation = say.conversation.unwrap_or_else(|| format!("conv_{nth}"));
            said.run = run.to_string();
            said.usage = Usage {
                input_tokens: 100,
                output_tokens: 10,
                cost_usd: Some(deft_model::Usd::from_dollars(0.001)),
                llm_calls: 1,
            };
            Ok(said)
        })
    }

    fn unanswered<'a>(&'a self, _: &'a str) -> Later<'a, Vec<Unanswered>> {
        let open = std::mem::take(&mut *self.unanswered.lock().unwrap());
        Box::pin(async move { Ok(open) })
    }

    fn go_on(&self, _: RunId, attention: Attention, listener: Listener) -> Later<'_, Said> {
        let again = Say {
            text: "(again)".to_owned(),
            ..Say::default()
        };
        self.say(again, attention, listener)
    }

    fn see_to_answer<'a>(&'a self, said: &'a Said, to: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            let text = answer_text(&said.text, said.error.as_ref());
            let key = format!("answer {}", said.run);
            self.leave(key, to, &text, None).await;
            Ok(())
        })
    }

    fn tell<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            self.leave(key.to_owned(), to, text, None).await;
            Ok(())
        })
    }

    fn ask<'a>(&'a self, question: Question, to: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            // Every run asks anew, under the only name that there is here.
            let key = format!("{} of {}", question_key(&question.approval), question.run);
            let approval = Some(question.approval);
            self.leave(key, to, &question.message, approval).await;
            Ok(())
        })
    }

    fn stop<'a>(&'a self, run: &'a RunId, by: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            self.stopped.lock().unwrap().push(format!("{run} by {by}"));
            self.stop.notify_one();
            Ok(())
        })
    }

    fn prompt(&self, say: Say) -> Later<'_, Value> {
        Box::pin(async move {
            Ok(json!({
                "agent": say.agent.unwrap_or_else(|| "thinker".to_owned()),
                "model": "local",
                "system": [{"text": "You help.", "stable": true}, {"text": "It is noon.", "stable": false}],
                "messages": [{"role": "user", "text": say.text}],
                "sections": [{"section": "agent", "chars": 9}, {"section": "now", "chars": 11}],
                "tools": [
                    {"name": "log", "description": "Writes a line.", "tokens": 7},
                    {"name": "http_request", "description": "Asks a web server. More.", "tokens": 120},
                ],
                "shelf": ["notify"],
                "tokens": 140,
                "notes": ["2 skills were left out"],
            }))
        })
    }

    fn decide<'a>(
        &'a self,
        approval: &'a str,
        response: Response,
        by: &'a str,
    ) -> Later<'a, Option<Decided>> {
        Box::pin(async move {
            let (question, by) = ("delete it?".to_owned(), by.to_owned());
            Ok((approval == "apr_1").then_some(Decided {
                question,
                answer: response.answer,
                by,
            }))
        })
    }

    fn skills<'a>(&'a self, _: Option<&'a str>) -> Later<'a, Vec<(String, String)>> {
        Box::pin(async { Ok(vec![("mail.send".to_owned(), "Sends a mail".to_owned())]) })
    }

    fn check_model<'a>(&'a self, _: Option<&'a str>) -> Later<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn check_agent<'a>(&'a self, agent: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            match agent {
                "nobody" => Err(deft_wire::Failure::input(
                    "no_such_agent",
                    "there is no agent `nobody`",
                )),
                _ => Ok(()),
            }
        })
    }

    fn conversations<'a>(
        &'a self,
        _: Option<&'a str>,
        _: Option<u32>,
    ) -> Later<'a, Vec<Conversation>> {
        Box::pin(async { Ok(vec![conversation()]) })
    }

    fn conversation<'a>(&'a self, id: &'a str) -> Later<'a, Option<Conversation>> {
        Box::pin(async move { Ok("conv_old".starts_with(id).then(conversation)) })
    }

    fn messages<'a>(&'a self, _: &'a str) -> Later<'a, Vec<Line>> {
        Box::pin(async {
            Ok(vec![
                line(1, "user", "hello **you**"),
                line(2, "tool", "{}"),
                line(3, "assistant", "good **day**"),
            ])
        })
    }

    fn search<'a>(&'a self, words: &'a str, _: u32) -> Later<'a, Vec<Line>> {
        Box::pin(async move {
            let all = vec![line(3, "assistant", "good day")];
            Ok(if words == "day" { all } else { Vec::new() })
        })
    }

    fn delete<'a>(&'a self, id: &'a str) -> Later<'a, bool> {
        Box::pin(async move { Ok(id == "conv_old") })
    }

    fn spending(&self) -> Later<'_, Spending> {
        let used = |scope: &str, input_tokens, cost| ScopeUsage {
            scope: scope.to_owned(),
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
                    used("agent:thinker", 1000, 1200),
                    used("all", 3000, 2_500_000),
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

    fn resume_agent<'a>(&'a self, agent: &'a str) -> Later<'a, bool> {
        Box::pin(async move { Ok(agent == "scout") })
    }
}

fn conversation() -> Conversation {
    Conversation {
        id: "conv_old".to_owned(),
        agent: "thinker".to_owned(),
        channel: "cli".to_owned(),
        title: "hello you".to_owned(),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        message_count: 3,
        open: None,
    }
}

fn line(seq: u64, role: &str, text: &str) -> Line {
    Line {
        conversation: "conv_old".to_owned(),
        seq,
        role: role.to_owned(),
        text: text.to_owned(),
        at: Timestamp::UNIX_EPOCH,
    }
}

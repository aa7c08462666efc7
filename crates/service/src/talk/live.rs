//! Converts published events of a run into live events of a chat, and the end of a run into an answer.
//!
//! Text comes from the model as it is generated, before it is stored; all other events are stored first.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use deft_agent::{Address, Event as AgentEvent, EventKind, Interpretation};
use deft_engine::{PublishedEvent, read_or_log};
use deft_llm::Delta;
use deft_model::{CallArgs, Failure, Message, RunId};
use deft_wire::chat::{ChatAnswer, ChatError};
use deft_wire::run::RunView;
use deft_workflow::Event;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::{Listener, Live};

/// Passes the events of a run to a listener in their order.
///
/// Pieces of an answer arrive directly, events through a queue. Events published before a piece are passed
/// first; otherwise the text after a call would appear above the call.
pub(super) struct EventForwarder {
    queue: Mutex<(Receiver<Arc<PublishedEvent>>, News)>,
    run: Arc<OnceLock<RunId>>,
    listener: Listener,
}

impl EventForwarder {
    pub(super) fn new(
        events: Receiver<Arc<PublishedEvent>>,
        run: Arc<OnceLock<RunId>>,
        listener: Listener,
    ) -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::new((events, News::default())),
            run,
            listener,
        })
    }

    /// Passes on a piece of an answer.
    pub(super) fn handle_delta(&self, delta: Delta) {
        self.catch_up();
        if let Some(live) = piece(delta) {
            (self.listener)(live);
        }
    }

    /// Passes on all events published so far.
    fn catch_up(&self) {
        let mut queue = self.queue.lock();
        let (events, news) = &mut *queue;
        loop {
            let published = match events.try_recv() {
                Ok(published) => published,
                // A slow listener misses events, but still gets the answer.
                Err(TryRecvError::Lagged(_)) => continue,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            };
            let own = self.run.get() == Some(&published.run);
            if let (true, Event::Agent { event, .. }) = (own, &published.event)
                && let Some(live) = news.live_event(event)
            {
                (self.listener)(live);
            }
        }
    }

    /// Passes on events until `work` is done. `bell` receives the same events and only wakes this task.
    pub(super) async fn follow<T>(
        &self,
        mut bell: Receiver<Arc<PublishedEvent>>,
        work: impl Future<Output = T>,
    ) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                rung = bell.recv() => {
                    self.catch_up();
                    if matches!(rung, Err(RecvError::Closed)) {
                        return work.await;
                    }
                }
                done = &mut work => {
                    self.catch_up();
                    return done;
                }
            }
        }
    }
}

/// Converts a piece of an answer.
fn piece(delta: Delta) -> Option<Live> {
    match delta {
        Delta::Text(text) => Some(Live::Text(text)),
        Delta::Again => Some(Live::Again),
        // The call is reported when it is made.
        Delta::Call { .. } => None,
    }
}

/// Running calls and agents.
#[derive(Default)]
struct News {
    calls: HashMap<(Address, u32, u32), String>,
    agents: HashMap<Address, String>,
}

impl News {
    /// Returns the event for the end of a dispatched agent.
    fn agent_ended(&mut self, agent: &Address, failure: Option<&Failure>) -> Option<Live> {
        Some(Live::AgentEnded {
            agent: self.agents.remove(agent)?,
            depth: agent.depth().saturating_sub(1),
            note: failure.map(|failure| failure.message.clone()),
        })
    }

    fn live_event(&mut self, event: &AgentEvent) -> Option<Live> {
        let agent = &event.agent;
        let place = |turn: &u32, call: &u32| (agent.clone(), *turn, *call);
        match &event.what {
            EventKind::Called {
                turn,
                call,
                tool,
                args,
                skill,
                ..
            } => {
                // A command is shown by the name of its skill, with its flags.
                let tool = skill.as_ref().unwrap_or(tool);
                let inputs = args.get("inputs").and_then(Value::as_object);
                let args = skill.as_ref().and(inputs).unwrap_or(args);
                self.calls.insert(place(turn, call), tool.clone());
                Some(Live::ToolBegun {
                    tool: tool.clone(),
                    args: args.clone(),
                    depth: agent.depth(),
                })
            }
            EventKind::Returned {
                turn,
                call,
                error,
                ms,
                ..
            } => {
                // The result of a dispatched agent is not the end of a tool call.
                let tool = self.calls.remove(&place(turn, call))?;
                Some(Live::ToolEnded {
                    tool,
                    ok: error.is_none(),
                    ms: *ms,
                    note: error.as_ref().map(|error| error.message.clone()),
                })
            }
            EventKind::Told {
                name, how, text, ..
            } => untaken_call(name, *how, text),
            EventKind::Dispatched {
                turn,
                call,
                dispatch,
            } => {
                let name = dispatch.agent_id.clone();
                self.agents.insert(agent.child(*turn, *call), name.clone());
                Some(Live::Dispatched {
                    agent: name,
                    mission: dispatch.mission.clone(),
                    depth: agent.depth(),
                })
            }
            EventKind::Finished(finished) => self.agent_ended(agent, finished.error.as_ref()),
            EventKind::Unable { failure } => self.agent_ended(agent, Some(failure)),
            EventKind::Replied { reply, .. } => Some(Live::Replied {
                input_tokens: reply.usage.input,
                output_tokens: reply.usage.output,
            }),
            EventKind::Began(_)
            | EventKind::Asked { .. }
            | EventKind::Silent { .. }
            | EventKind::Question { .. }
            | EventKind::Answered { .. }
            | EventKind::Offered { .. }
            | EventKind::Reminded { .. }
            | EventKind::Rejected { .. }
            | EventKind::Reopened => None,
        }
    }
}

/// Returns the event for a call that is not made. Calls that cost nothing are not worth a line.
fn untaken_call(name: &str, how: Interpretation, text: &str) -> Option<Live> {
    match how {
        Interpretation::Text | Interpretation::Made => None,
        Interpretation::Described => Some(Live::Hidden {
            tool: name.to_owned(),
            reason: "not offered yet; the model now gets its description".to_owned(),
        }),
        Interpretation::Refused
        | Interpretation::Mistaken
        | Interpretation::Problem
        | Interpretation::Declined => Some(Live::Refused {
            tool: name.to_owned(),
            reason: text.lines().next().unwrap_or_default().to_owned(),
        }),
    }
}

/// Converts the current state of a run into an answer.
pub(super) fn answer(conversation: String, text: String, run: RunView) -> ChatAnswer {
    ChatAnswer {
        conversation,
        run: run.id,
        status: run.status,
        outcome: run.outcome,
        text,
        usage: run.usage.into(),
        calls: Vec::new(),
        error: run.error.map(|error| ChatError {
            class: error.class,
            message: error.message,
            hint: error.hint,
        }),
    }
}

/// Summarises a message without text in one line.
pub(super) fn summary(body: &str) -> String {
    match read_or_log(serde_json::from_str(body), "a message of a chat") {
        Some(Message::Tool { name, text, .. }) => format!("{name}: {text}"),
        Some(Message::Assistant { calls, .. }) => {
            let call = |call: &deft_model::ToolCall| match &call.args {
                CallArgs::Object(args) => {
                    let args = serde_json::to_string(args).unwrap_or_default();
                    format!("⚙ {} {args}", call.name)
                }
                CallArgs::Invalid(raw) => format!("⚙ {} {raw}", call.name),
            };
            let calls: Vec<String> = calls.iter().map(call).collect();
            calls.join("\n")
        }
        Some(Message::User { text }) => text,
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use deft_model::{FailureClass, Outcome, RunStatus, Usd};
    use deft_wire::chat::ChatUsage;
    use serde_json::json;

    use super::*;

    /// Stored events, and the line shown for each.
    #[test]
    fn events_become_lines() {
        let mut news = News::default();
        let tool = |name: &str, depth| Live::ToolBegun {
            tool: name.to_owned(),
            args: deft_model::Object::from_iter([("q".to_owned(), json!(1))]),
            depth,
        };
        let scout = || "scout".to_owned();
        for (event, expected) in [
            (json!({"what": {"asked": {"turn": 1}}}), None),
            (
                json!({"what": {"called": {"turn": 1, "call": 0, "tool": "a", "args": {"q": 1}, "effects": "none"}}}),
                Some(tool("a", 0)),
            ),
            (
                json!({"what": {"dispatched": {"turn": 1, "call": 1, "dispatch": {"agent_id": "scout", "mission": "look"}}}}),
                Some(Live::Dispatched {
                    agent: scout(),
                    mission: "look".to_owned(),
                    depth: 0,
                }),
            ),
            (
                json!({"agent": "1.1", "what": {"called": {"turn": 1, "call": 0, "tool": "b", "args": {"q": 1}, "effects": "once"}}}),
                Some(tool("b", 1)),
            ),
            (
                json!({"what": {"returned": {"turn": 1, "call": 0, "value": 3, "ms": 5}}}),
                Some(Live::ToolEnded {
                    tool: "a".to_owned(),
                    ok: true,
                    ms: 5,
                    note: None,
                }),
            ),
            (
                json!({"agent": "1.1", "what": {"returned": {"turn": 1, "call": 0, "error": {"class": "network", "message": "no route"}, "ms": 9}}}),
                Some(Live::ToolEnded {
                    tool: "b".to_owned(),
                    ok: false,
                    ms: 9,
                    note: Some("no route".to_owned()),
                }),
            ),
            (
                json!({"agent": "1.1", "what": {"finished": {"text": "found"}}}),
                Some(Live::AgentEnded {
                    agent: scout(),
                    depth: 0,
                    note: None,
                }),
            ),
            (
                json!({"what": {"dispatched": {"turn": 1, "call": 2, "dispatch": {"agent_id": "scout", "mission": "again"}}}}),
                Some(Live::Dispatched {
                    agent: scout(),
                    mission: "again".to_owned(),
                    depth: 0,
                }),
            ),
            (
                json!({"agent": "1.2", "what": {"unable": {"failure": {"class": "invalid", "message": "not yours"}}}}),
                Some(Live::AgentEnded {
                    agent: scout(),
                    depth: 0,
                    note: Some("not yours".to_owned()),
                }),
            ),
            (
                json!({"what": {"returned": {"turn": 1, "call": 1, "value": "found", "ms": 20}}}),
                None,
            ),
            (
                json!({"what": {"told": {"turn": 2, "call": 0, "name": "rm", "how": "refused", "text": "not yours\nreally"}}}),
                Some(Live::Refused {
                    tool: "rm".to_owned(),
                    reason: "not yours".to_owned(),
                }),
            ),
            (
                json!({"what": {"told": {"turn": 2, "call": 1, "name": "skill", "how": "text", "text": "page"}}}),
                None,
            ),
            (json!({"what": {"finished": {"text": "done"}}}), None),
        ] {
            let read = serde_json::from_value(event.clone()).unwrap();
            assert_eq!(news.live_event(&read), expected, "{event}");
        }
    }

    #[test]
    fn pieces_of_an_answer_are_text() {
        let text = || "x".to_owned();
        assert_eq!(piece(Delta::Text(text())), Some(Live::Text(text())));
        assert_eq!(piece(Delta::Again), Some(Live::Again));
        assert_eq!(piece(Delta::Call { name: text() }), None);
    }

    /// Events of other runs are not passed on, all events published by the end are, and pieces of an answer
    /// are in the right order.
    #[tokio::test]
    async fn a_run_is_followed_to_its_end() {
        let (sender, events) = tokio::sync::broadcast::channel(8);
        let publish = |run: &str, reason: &str| {
            let told = json!({"agent": {"path": "agent", "event": {"what": {"told": {
                "turn": 1, "call": 0, "name": "rm", "how": "refused", "text": reason,
            }}}}});
            let published = PublishedEvent {
                seq: 1,
                at: jiff::Timestamp::UNIX_EPOCH,
                run: RunId::new(run),
                skill: "chat".to_owned(),
                event: serde_json::from_value(told).unwrap(),
            };
            sender.send(Arc::new(published)).unwrap();
        };
        let received = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let recorder = Arc::clone(&received);
        let listener: Listener = Arc::new(move |live| {
            if let Live::Refused { reason: told, .. } | Live::Text(told) = live {
                recorder.lock().push(told);
            }
        });
        let run = Arc::new(OnceLock::new());
        let forwarder = EventForwarder::new(events.resubscribe(), Arc::clone(&run), listener);
        let work = async {
            run.set(RunId::new("run_1")).unwrap();
            publish("run_1", "first");
            forwarder.handle_delta(Delta::Text("words".to_owned()));
            publish("run_1", "second");
            tokio::task::yield_now().await;
            publish("run_2", "not ours");
            publish("run_1", "last");
            7
        };
        assert_eq!(forwarder.follow(events, work).await, 7);
        assert_eq!(*received.lock(), ["first", "words", "second", "last"]);
    }

    #[test]
    fn a_run_becomes_an_answer() {
        let run = json!({
            "id": "run_1", "skill": "chat", "revision": "r", "tier": "agent", "agent_id": "main",
            "cause": "chat", "slot": null, "slot_until": null, "slot_count": 0, "key": null,
            "parent": null, "status": "done", "outcome": "error", "waiting_for": null,
            "inputs": {}, "outputs": null,
            "error": {"class": "limit", "message": "enough", "step": "agent"},
            "usage": {"input_tokens": 9, "output_tokens": 2, "cost_usd": 0.5, "llm_calls": 1},
            "admitted_at": "1970-01-01T00:00:00Z", "started_at": null, "finished_at": null,
            "duration_ms": null,
        });
        let run = serde_json::from_value(run).unwrap();
        let answer = answer("conv_1".to_owned(), "so far".to_owned(), run);
        let expected = ChatAnswer {
            conversation: "conv_1".to_owned(),
            run: RunId::new("run_1"),
            status: RunStatus::Done,
            outcome: Some(Outcome::Error),
            text: "so far".to_owned(),
            usage: ChatUsage {
                input_tokens: 9,
                output_tokens: 2,
                cost_usd: Some(Usd::from_dollars(0.5)),
                llm_calls: 1,
            },
            calls: Vec::new(),
            error: Some(ChatError {
                class: FailureClass::Limit,
                message: "enough".to_owned(),
                hint: None,
            }),
        };
        assert_eq!(answer, expected);
        assert_eq!(
            crate::talk::describe_usage(&answer.usage),
            "1 call of a model, 9 tokens in, 2 out, 0.50 USD"
        );
    }
}

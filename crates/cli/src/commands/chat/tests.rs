//! Chats with scripted answers: display, approvals, interruption.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use super::answer_screen::{ChatOutput, Sink, Verbosity, View};
use super::editor::{Input, Lines};
use super::once;
use super::session::Session;
use super::turn::{StopRequests, TurnParticipants};
use crate::failure::Done;
use crate::progress::MessageSink;
use crate::prompt::Pausable;
use crate::talk_fake::fake::{Fake, FakeAction, answer, call, failed};
use crate::terminal::StyledText;
use deft_service::ask::{Answer, Asker, PendingResponse, Question};
use deft_service::talk::{AnswerState, Live, UnansweredMessage};
use deft_wire::chat::ChatUsage;
use deft_wire::model::{FailureClass, Outcome, RunId, RunStatus};

/// A sink that records its output.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<String>>);

impl Sink for Screen {
    fn put(&mut self, text: StyledText) {
        self.0.lock().push_str(text.as_str());
    }
}

impl Screen {
    fn text(&self) -> String {
        self.0.lock().clone()
    }

    /// Returns the output as a terminal shows it, without trailing spaces.
    fn visible_output(&self) -> String {
        let mut parser = vt100::Parser::new(60, 60, 0);
        parser.process(self.text().replace('\n', "\r\n").as_bytes());
        parser.screen().contents().trim_end().to_owned()
    }
}

struct Script(VecDeque<Input>);

impl Lines for Script {
    fn next(&mut self, _: &str) -> Done<Input> {
        Ok(self.0.pop_front().unwrap_or(Input::End))
    }
}

/// An asker that always answers yes, with the questions it was asked.
#[derive(Default)]
struct Yes(Mutex<Vec<String>>);

impl Asker for Yes {
    fn ask(&self, question: Question) -> PendingResponse {
        self.0.lock().push(question.message);
        Box::pin(async { Some(Answer::Yes.into()) })
    }
}

struct World {
    fake: Arc<Fake>,
    screen: Screen,
    session: Session,
    stop: tokio::sync::mpsc::UnboundedSender<()>,
}

fn world(live: bool) -> World {
    let (fake, screen) = (Arc::new(Fake::default()), Screen::default());
    let look = ChatOutput {
        answers: Box::new(screen.clone()),
        beside: Box::new(screen.clone()),
        styled: live,
        color: live,
        width: || Some(60),
        much: if live {
            Verbosity::Live
        } else {
            Verbosity::Lines
        },
    };
    let (stop, stops) = unbounded_channel();
    let participants = TurnParticipants {
        talk: fake.clone(),
        view: Arc::new(View::new(look)),
        asker: None,
        yes: false,
        stops: StopRequests::from_receiver(stops),
        is_up: |_| true,
        home: PathBuf::new(),
    };
    let session = Session {
        participants,
        conversation: None,
        agent: None,
        usage: ChatUsage::default(),
        last: None,
        zone: jiff::tz::TimeZone::UTC,
        model: None,
        attaches: false,
        status: String::new(),
    };
    World {
        fake,
        screen,
        session,
        stop,
    }
}

async fn chat(world: &mut World, lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| Input::Line((*line).to_owned()));
    world
        .session
        .run(Box::new(Script(lines.collect())))
        .await
        .unwrap();
    world.screen.visible_output()
}

fn text(text: &str) -> FakeAction {
    FakeAction::Live(Live::Text(text.to_owned()))
}

#[tokio::test]
async fn a_streamed_answer_is_written_once() {
    for live in [false, true] {
        let mut world = world(live);
        let mut events = vec![text("Let me look.")];
        events.extend(call("mail_list", json!({"max": 3}), true));
        events.extend([text("You have "), text("3 mails.")]);
        world.fake.then(events, "You have 3 mails.");
        let shown = chat(&mut world, &["any mail?"]).await;
        assert_eq!(
            shown,
            "Let me look.\n⚙ mail_list {\"max\":3} ✓ 120 ms\nYou have 3 mails."
        );
    }
}

/// Messages of other code are printed after an answer in progress, and do not break a question.
#[test]
fn log_lines_do_not_break_answers_or_questions() {
    let world = world(false);
    let view = &world.session.participants.view;
    view.begin();
    view.insert_line("one");
    view.show_live(Live::Text("That ".to_owned()));
    view.insert_line("two");
    view.show_live(Live::Text("is that.".to_owned()));
    view.pause(true);
    view.insert_line("three");
    assert_eq!(world.screen.visible_output(), "one\nThat is that.");
    view.pause(false);
    view.leave();
    view.insert_line("four");
    assert_eq!(
        world.screen.visible_output(),
        "one\nThat is that.\ntwo\nthree\nfour"
    );
}

#[tokio::test]
async fn agents_and_refusals_are_lines() {
    let mut world = world(true);
    let below = |tool: &str| {
        FakeAction::Live(Live::ToolBegun {
            tool: tool.to_owned(),
            args: deft_wire::model::Object::new(),
            depth: 1,
        })
    };
    let mut events = vec![
        FakeAction::Live(Live::Dispatched {
            agent: "scout".to_owned(),
            mission: "find\nit".to_owned(),
            depth: 0,
        }),
        FakeAction::Live(Live::Dispatched {
            agent: "other".to_owned(),
            mission: "too".to_owned(),
            depth: 0,
        }),
        FakeAction::Live(Live::AgentEnded {
            agent: "other".to_owned(),
            depth: 0,
            note: Some("unknown agent `other`".to_owned()),
        }),
        below("web_search"),
        FakeAction::Live(Live::Refused {
            tool: "shell_run".to_owned(),
            reason: "it is not one of its tools".to_owned(),
        }),
        FakeAction::Live(Live::ToolEnded {
            tool: "web_search".to_owned(),
            ok: false,
            ms: 5,
            note: Some("no route".to_owned()),
        }),
        FakeAction::Live(Live::AgentEnded {
            agent: "scout".to_owned(),
            depth: 0,
            note: None,
        }),
        text("wrong"),
        FakeAction::Live(Live::Again),
    ];
    events.push(text("found"));
    world.fake.then(events, "found");
    let shown = chat(&mut world, &["go"]).await;
    assert_eq!(
        shown,
        "⇢ scout: find it\n⇢ other: too\n⇠ other failed: unknown agent `other`\n⚙ shell_run ⊘ \
         refused  it is not one of its tools\n  ⚙ web_search ✗ 5 ms  no route\n⇠ scout is done\n\
         wrong\n↻ the model starts again; the text above is discarded\nfound"
    );
}

/// An answer that was not streamed is shown at the end, as are failures.
#[tokio::test]
async fn unstreamed_answers_and_failures_are_shown() {
    let mut world = world(true);
    world.fake.then([], "**quiet**");
    world.fake.ends(
        [text("half an ans")],
        failed(FailureClass::Limit, "10 steps were not enough"),
    );
    let shown = chat(&mut world, &["one", "two"]).await;
    assert_eq!(shown, "quiet\nhalf an ans\n✗ 10 steps were not enough");
    assert_eq!(world.session.usage.llm_calls, 2);
    let sent = world.fake.said.lock().unwrap();
    let conversations: Vec<_> = sent.iter().map(|say| say.conversation.clone()).collect();
    assert_eq!(conversations, [None, Some("conv_1".to_owned())]);
}

#[tokio::test]
async fn questions_are_asked_and_wait_without_a_person() {
    let mut world = world(false);
    let reason = "approval: delete it?".to_owned();
    let told = FakeAction::Live(Live::Waiting { reason });
    world.fake.then([told, FakeAction::Ask("delete it?")], "");
    let shown = chat(&mut world, &["delete it"]).await;
    assert!(
        shown.starts_with("… waits for approval: delete it?\n… run run_1 waits"),
        "{shown}"
    );
    let shown = chat(&mut world, &["/stop"]).await;
    assert!(shown.ends_with("run run_1 is stopped"), "{shown}");
    assert_eq!(*world.fake.stopped.lock().unwrap(), ["run_1 by /stop"]);

    let yes = Arc::new(Yes::default());
    world.session.participants.asker = Some(yes.clone());
    world.fake.then([FakeAction::Ask("delete it?")], "done: ");
    let shown = chat(&mut world, &["delete it"]).await;
    assert!(shown.ends_with("done: yes"), "{shown}");
    assert_eq!(*yes.0.lock(), ["delete it?"]);
}

#[tokio::test]
async fn an_interrupt_stops_the_answer_and_not_the_chat() {
    let mut world = world(true);
    world.fake.then([text("well "), FakeAction::Hang], "");
    let (fake, stop) = (world.fake.clone(), world.stop.clone());
    let stopper = tokio::spawn(async move {
        fake.heard.notified().await;
        stop.send(()).unwrap();
    });
    let shown = chat(&mut world, &["think", "again"]).await;
    stopper.await.unwrap();
    assert_eq!(shown, "well\n✗ stopped\nyou said: again");
    assert_eq!(*world.fake.stopped.lock().unwrap(), ["run_1 by ctrl-c"]);
}

#[tokio::test]
async fn commands_have_their_effect() {
    for (lines, expected) in [
        (vec!["/skills"], "mail.send  Sends a mail"),
        (
            vec!["hi", "/cost"],
            "you said: hi\nthis chat: 1 call of a model, 100 tokens in, 10 out, 0.001000 USD\ntoday: 3050 tokens, 2.50 USD; `deft budget show` shows details",
        ),
        (vec!["/agent nobody"], "unknown agent `nobody`"),
        (
            vec!["/agent scout"],
            "switched to scout, in a new conversation",
        ),
        (
            vec!["/search day"],
            "conv_old  1 Jan 1970  assistant  good day",
        ),
        (
            vec!["/model big", "/model"],
            "switched to big (big-1) for this chat\nlocal  openai  local-1\nbig    openai  big-1    answers\n`/model NAME` switches the model",
        ),
        (
            vec!["hi", "/undo"],
            "you said: hi\nremoved \"hi\" and its answer\neffects of tool calls are not undone; `deft runs show run_1` lists their calls",
        ),
        (vec!["/undo"], "nothing to undo"),
        (vec!["/search night"], "no matches"),
        (vec!["/history"], "no messages yet"),
        (
            vec!["/stop"],
            "no answer is waiting; ctrl-c stops an answer in progress",
        ),
        (
            vec!["/hlep"],
            "unknown command `/hlep`; did you mean `/help`?",
        ),
        (vec!["/quit", "unheard"], ""),
        (
            vec!["/resume conv_o"],
            "user  1 Jan 1970\nhello **you**\nassistant  1 Jan 1970\ngood **day**\nresuming conv_old: hello you",
        ),
        (
            vec!["/resume conv_x"],
            "unknown conversation `conv_x`\nhint: `deft chat list` shows all conversations",
        ),
    ] {
        let mut world = world(false);
        let text = chat(&mut world, &lines).await;
        // Long lines are folded, so compare only the words.
        let raw = world.screen.text();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text == expected || words(&raw) == words(expected),
            "{lines:?}\n{raw}"
        );
    }
}

#[tokio::test]
async fn messages_go_to_the_selected_conversation_and_agent() {
    let mut world = world(false);
    chat(
        &mut world,
        &[
            "a",
            "/new",
            "b",
            "/resume conv_old",
            "c",
            "/agent scout",
            "d",
        ],
    )
    .await;
    let sent = world.fake.said.lock().unwrap();
    let whither: Vec<_> = sent
        .iter()
        .map(|say| {
            (
                say.text.as_str(),
                say.conversation.as_deref(),
                say.agent.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        whither,
        [
            ("a", None, None),
            ("b", None, None),
            ("c", Some("conv_old"), Some("thinker")),
            ("d", None, Some("scout")),
        ]
    );
}

#[test]
fn exit_codes_follow_the_outcome() {
    let done = |outcome| answer(RunStatus::Done, Some(outcome));
    let failed = |class| failed(class, "x");
    for (said, code) in [
        (done(Outcome::Success), 0),
        (answer(RunStatus::Waiting, None), 5),
        (failed(FailureClass::Limit), 6),
        (failed(FailureClass::Budget), 6),
        (failed(FailureClass::Network), 1),
        (done(Outcome::Blocked), 1),
        (done(Outcome::Cancelled), 130),
    ] {
        assert_eq!(once::exit_code(&said) as u8, code, "{said:?}");
    }
}

#[tokio::test]
async fn unanswered_messages_are_answered_first() {
    let mut world = world(false);
    let open = |run: &str, text: &str, state| UnansweredMessage {
        run: RunId::new(run),
        text: text.to_owned(),
        state,
        waits_for: Some("approval: Sure?".to_owned()),
    };
    world.fake.unanswered.lock().unwrap().extend([
        open("run_a", "First", AnswerState::Abandoned),
        open("run_b", "Second", AnswerState::Waiting),
        open("run_c", "Third", AnswerState::Elsewhere),
    ]);
    let shown = chat(&mut world, &["/resume conv_old", "Fourth"]).await;
    assert_eq!(
        world.fake.texts(),
        ["(again)", "(again)", "Fourth"],
        "{shown}"
    );
    let order = [
        "\"First\" was",
        "\"Second\" waits",
        "\"Third\"; waiting",
        "you said: Fourth",
    ];
    let places: Vec<_> = order.iter().map(|part| shown.find(part)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{shown}"
    );
}

/// If a call plans later work and no daemon is running, a note is printed.
#[tokio::test]
async fn planned_work_without_a_daemon_prints_a_note() {
    for (tool, up, told) in [
        ("memory_store_skill", false, true),
        ("queue_task", false, true),
        ("memory_store_skill", true, false),
        ("log", false, false),
    ] {
        let mut world = world(false);
        world.session.participants.is_up = if up { |_| true } else { |_| false };
        world.fake.then(call(tool, json!({}), true), "Done.");
        let shown = chat(&mut world, &["Remind me"]).await;
        let line = "no daemon is running";
        assert_eq!(shown.contains(line), told, "{tool} {up}: {shown}");
    }
    let mut world = world(false);
    world.session.participants.is_up = |_| false;
    world
        .fake
        .then(call("memory_store_skill", json!({}), false), "No.");
    let shown = chat(&mut world, &["Remind me"]).await;
    assert!(!shown.contains("no daemon is running"), "{shown}");
}

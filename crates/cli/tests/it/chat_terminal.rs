//! `deft chat` in a real terminal, with a scripted model.

use deft_testkit::{Gate, ModelAnswer};
use serde_json::json;

use crate::chat_support::{home, messages, model};
use crate::daemon::{runs, wait_for};
use crate::support::World;
use crate::terminal::Terminal;

/// Starts a chat and waits for its prompt.
fn chat(world: &World) -> Terminal {
    let mut terminal = Terminal::start(world, &["chat"]);
    terminal.until("`/help` lists commands").until("> ");
    terminal
}

/// Waits for an empty prompt.
fn idle(terminal: &mut Terminal) {
    terminal.until_line(">");
}

#[test]
fn an_answer_is_streamed() {
    let gate = Gate::default();
    let model = model([
        ModelAnswer::call("time_now", json!({})),
        // The first event has no text.
        ModelAnswer::text("It is\n\nalready **noon** today, and `lunch` is near").gate(4, &gate),
    ]);
    let world = home(&model, "");
    let mut terminal = chat(&world);
    terminal.keys("What time is it?\r");
    terminal.until("⚙ time.now ✓ ").until("It is");
    assert!(!terminal.screen().contains("near"), "it was held back");
    // Text typed meanwhile appears in the next line, not in the answer.
    terminal.keys("thanks");
    gate.open();
    terminal.until("already noon today, and lunch is near");
    terminal.until_line("> thanks").keys(&"\x7f".repeat(6));
    idle(&mut terminal);
    assert_eq!(
        terminal.raw.matches("thanks").count(),
        1,
        "{:?}",
        terminal.raw
    );
    // The call is shown above the answer, and the answer only once.
    let screen = terminal.screen();
    let lines: Vec<&str> = screen.lines().skip(2).collect();
    assert!(lines[1].starts_with("⚙ time.now"), "{screen}");
    assert_eq!(
        [&lines[..1], &lines[2..]].concat(),
        [
            "> What time is it?",
            "It is",
            "",
            "already noon today, and lunch is near",
            "main (double) · 30 tokens · 0.04 USD",
            "> "
        ],
        "{screen}"
    );
    assert!(
        terminal.raw.contains("\x1b[0;1mnoon\x1b[0m"),
        "{:?}",
        terminal.raw
    );
    terminal.keys("/quit\r");
    let raw = terminal.raw.clone();
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(!raw.contains("**noon**"), "{raw:?}");
    assert!(screen.contains("`deft chat --resume conv_"), "{screen}");
    assert_eq!(runs(&world, "chat").len(), 1);
}

#[test]
fn a_question_is_asked_at_the_terminal() {
    for (typed, sent) in [("y\r", 1), ("n\r", 0)] {
        let model = model([
            ModelAnswer::call("notify", json!({"message": "hello"})),
            ModelAnswer::text("That is that."),
        ]);
        let world = home(
            &model,
            "[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n",
        );
        let mut terminal = chat(&world);
        terminal.keys("Say hello\r");
        terminal.until("[y/N").keys(typed);
        terminal.until("That is that.");
        idle(&mut terminal);
        terminal.keys("/quit\r");
        let (code, screen) = terminal.end();
        assert_eq!(code, 0, "{screen}");
        let notices = world.json(&["notices", "list", "--json"]);
        assert_eq!(
            notices["notices"].as_array().unwrap().len(),
            sent,
            "{notices:#}\n{screen}"
        );
    }
}

/// The model hangs in the middle of a word; the chat continues.
#[test]
fn ctrl_c_stops_an_answer_and_not_the_chat() {
    let gate = Gate::default();
    let model = model([
        ModelAnswer::text("Once upon a\n\ntime there was").gate(5, &gate),
        ModelAnswer::text("Still here."),
    ]);
    let world = home(&model, "");
    let mut terminal = chat(&world);
    terminal.keys("Tell me a story\r").until("Once upon");
    terminal.keys("\x03");
    terminal.until("ctrl-c");
    idle(&mut terminal);
    terminal.keys("Are you there?\r").until("Still here.");
    idle(&mut terminal);
    gate.open();
    terminal.keys("\x04");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let outcomes: Vec<_> = runs(&world, "chat")
        .iter()
        .map(|run| run["outcome"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(outcomes, ["success", "cancelled"], "{screen}");
    // The message is kept although its answer was cancelled.
    let prompt = messages(&model.requests()[1]);
    assert!(
        prompt.iter().any(|(_, text)| text == "Tell me a story"),
        "{prompt:?}"
    );
}

/// The question is cancelled immediately, and text typed afterwards is the next message, not an answer.
#[test]
fn ctrl_c_at_a_question_stops_the_answer() {
    let model = model([
        ModelAnswer::call("notify", json!({"message": "hello"})),
        ModelAnswer::text("Still here."),
    ]);
    let world = home(
        &model,
        "[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n",
    );
    let mut terminal = chat(&world);
    terminal.keys("Say hello\r").until("[y/N");
    terminal.keys("\x03").until("stopped by ctrl-c");
    idle(&mut terminal);
    terminal.keys("Are you there?\r").until("Still here.");
    idle(&mut terminal);
    terminal.keys("/quit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(screen.matches("[y/N").count(), 1, "{screen}");
    let outcomes: Vec<_> = runs(&world, "chat")
        .iter()
        .map(|run| run["outcome"].clone())
        .collect();
    assert_eq!(outcomes, [json!("success"), json!("cancelled")], "{screen}");
    let notices = world.json(&["notices", "list", "--json"]);
    assert_eq!(notices["notices"], json!([]), "{screen}");
}

#[test]
fn commands_are_answered_without_a_model() {
    let model = model([ModelAnswer::text("Hello.")]);
    let world = home(&model, "");
    world.write(
        "home/skills/greet/SKILL.md",
        "---\nname: greet\ndescription: Greets whoever is there.\n---\nSay hello.\n",
    );
    let mut terminal = chat(&world);
    terminal.keys("Hi\r").until("Hello.");
    idle(&mut terminal);
    terminal.keys("/cost\r");
    terminal.until("this chat: 1 call of a model, 10 tokens in, 5 out, 0.02 USD");
    terminal.until("today: 15 tokens, 0.02 USD");
    idle(&mut terminal);
    terminal.keys("/skills\r").until("Greets whoever is there.");
    idle(&mut terminal);
    terminal.keys("/history\r").until("assistant  ");
    idle(&mut terminal);
    terminal.keys("/nope\r").until("unknown command `/nope`");
    idle(&mut terminal);
    terminal.keys("/new\r").until("a new conversation");
    idle(&mut terminal);
    terminal.keys("/resume\r").until("resuming conv_");
    terminal.until_line("thinker>");
    terminal.keys("/quit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(model.requests().len(), 1);
}

/// Control sequences in text and in the arguments of a call: window title, colours, clearing the screen.
#[test]
fn escape_sequences_of_a_model_are_made_visible() {
    let evil = "\x1b]0;owned\x07 \x1b[31;5mred\x1b[0m \x1b[2J\u{9b}32m \x1bPq\x1b\\ over";
    let model = model([
        ModelAnswer::call("notify", json!({"message": evil})).with_text(evil),
        ModelAnswer::text(evil),
    ]);
    let world = home(
        &model,
        "[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n",
    );
    let mut terminal = chat(&world);
    terminal.keys("Go\r").until("[y/N").keys("y\r");
    terminal.until("⚙ notify");
    idle(&mut terminal);
    terminal.keys("/history\r").until("assistant  ");
    idle(&mut terminal);
    for sequence in [
        "\x1b]0;owned",
        "\x1b[31;5m",
        "\x1b[2J",
        "\u{9b}32m",
        "\x1bPq",
    ] {
        assert!(
            !terminal.raw.contains(sequence),
            "{sequence:?} in {:?}",
            terminal.raw
        );
    }
    terminal.keys("/quit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("over"), "{screen}");
}

/// The chat process itself delivers the message, without ending the chat.
#[test]
fn notices_are_sent_while_a_chat_is_open() {
    let model = model([
        ModelAnswer::call("notify", json!({"message": "hello from here"})),
        ModelAnswer::text("It is on its way."),
    ]);
    let world = home(&model, "[agent]\ntools = [\"needed\", \"notify\"]\n");
    let mut terminal = chat(&world);
    terminal.keys("Say hello\r").until("It is on its way.");
    terminal.until("notice: ").until("hello from here");
    idle(&mut terminal);
    wait_for("the notice", || {
        let notices = world.json(&["notices", "list", "--json"]);
        (notices["notices"][0]["status"] == "sent").then_some(())
    });
    terminal.keys("/quit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(screen.matches("notice: ").count(), 1, "{screen}");
}

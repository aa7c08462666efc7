//! A chat that was killed in the middle of an answer is resumed.

use deft_testkit::{Gate, ModelAnswer, ModelServer};

use crate::chat_support::{deft, home, messages, model};
use crate::daemon::runs;
use crate::support::World;
use crate::terminal::Terminal;

/// Creates a home whose chat was killed while its first answer was being written.
fn killed() -> (ModelServer, World, Gate) {
    let gate = Gate::default();
    let model = model([
        ModelAnswer::text("Once upon a\n\ntime there was").gate(5, &gate),
        ModelAnswer::text("Once upon a time. The end."),
        ModelAnswer::text("Still here."),
    ]);
    let world = home(&model, "");
    let mut terminal = Terminal::start(&world, &["chat"]);
    terminal.until("`/help` lists commands").until("> ");
    terminal.keys("Tell me a story\r").until("Once upon");
    terminal.signal("-KILL");
    assert_eq!(terminal.end().0, 128 + 9);
    (model, world, gate)
}

/// Returns the stored messages as pairs of role and text.
fn stored_messages(world: &World) -> Vec<(String, String)> {
    let all = world.json(&["chat", "show", "conv_", "--json"]);
    let lines = all["conversation"]["messages"].as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    lines
        .iter()
        .map(|line| (text(&line["role"]), text(&line["text"])))
        .collect()
}

fn in_order() -> Vec<(String, String)> {
    [
        ("user", "Tell me a story"),
        ("assistant", "Once upon a time. The end."),
        ("user", "Are you there?"),
        ("assistant", "Still here."),
    ]
    .map(|(who, text)| (who.to_owned(), text.to_owned()))
    .to_vec()
}

#[test]
fn a_killed_chat_first_answers_the_interrupted_message() {
    let (model, world, gate) = killed();
    let mut terminal = Terminal::start(&world, &["chat", "--resume"]);
    terminal.until("the answer to \"Tell me a story\" was interrupted; resuming it first");
    terminal.until("Once upon a time. The end.");
    terminal.until_line("thinker>");
    terminal.keys("Are you there?\r").until("Still here.");
    terminal.until_line("thinker>");
    terminal.keys("/quit\r");
    let (code, screen) = terminal.end();
    gate.open();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(stored_messages(&world), in_order(), "{screen}");
    assert_eq!(messages(&model.requests()[2])[1..], in_order()[..3]);
    let outcomes: Vec<_> = runs(&world, "chat")
        .iter()
        .map(|run| run["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["success", "success"]);
}

#[test]
fn a_continued_script_keeps_the_order() {
    let (_model, world, gate) = killed();
    let output = deft(
        &world,
        &["chat", "--resume", "last", "-p", "Are you there?"],
    );
    gate.open();
    assert_eq!((output.code, output.stdout.as_str()), (0, "Still here.\n"));
    assert!(output.stderr.contains("was interrupted"), "{output:?}");
    assert_eq!(stored_messages(&world), in_order());
}

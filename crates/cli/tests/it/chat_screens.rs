//! Screens of a chat, at 80 and at 120 columns.

use deft_testkit::{Gate, ModelAnswer, Script};
use serde_json::{Value, json};

use crate::chat_support::{home, messages, model, section};
use crate::daemon::runs;
use crate::screens::assert_fits;
use crate::support::{World, server};
use crate::terminal::Terminal;

/// The terminal widths to test.
const WIDTHS: [u16; 2] = [80, 120];

/// Starts a chat and waits for its prompt.
fn chat(world: &World, columns: u16) -> Terminal {
    let mut terminal = Terminal::sized(world, &["chat"], columns);
    terminal.until("main (double)").until("> ");
    terminal
}

/// Waits for an empty prompt.
fn idle(terminal: &mut Terminal) {
    terminal.until_line(">");
}

/// Returns the screen without the parts that differ between runs.
fn screen(terminal: &Terminal) -> String {
    let mut out = String::new();
    for line in terminal.screen().lines() {
        let words = line.split(' ').map(|word| {
            let bare = word.trim_matches('`');
            let id = ["run_", "conv_", "grant_"]
                .into_iter()
                .find(|id| bare.starts_with(id) && bare.len() > 20);
            match id {
                Some(id) => word.replace(bare, &format!("{id}ID")),
                None => word.to_owned(),
            }
        });
        let line = words.collect::<Vec<_>>().join(" ");
        // The duration of a call is at the end of its line.
        let line = match (line.split_once(" ✓ "), line.split_once(" ✗ ")) {
            (Some((call, _)), _) => format!("{call} ✓ TIME"),
            (None, Some((call, rest))) => {
                let reason = rest.split_once("  ").map_or("", |(_, reason)| reason);
                format!("{call} ✗ TIME  {reason}")
            }
            (None, None) => line,
        };
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn end(mut terminal: Terminal) {
    terminal.keys("/quit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
}

const TABLE: &str = "Here:\n\n| file | size | what it is for |\n|:-----|-----:|---|\n\
    | `a.txt` | 12 | a list of everything that has to be done before the first of May, with names |\n\
    | b.md | 3 | **notes** |\n\nThat is all.";

#[test]
fn tables_are_aligned() {
    for columns in WIDTHS {
        let model = model([ModelAnswer::text(TABLE)]);
        let world = home(&model, "");
        let mut terminal = chat(&world, columns);
        terminal.keys("List my files\r").until("That is all.");
        idle(&mut terminal);
        insta::assert_snapshot!(format!("table_{columns}"), screen(&terminal));
        end(terminal);
    }
}

/// For more than a second no text of the answer arrives, and an earlier reply used tokens.
#[test]
fn a_line_shows_time_and_tokens() {
    for columns in WIDTHS {
        let gate = Gate::default();
        let model = model([
            ModelAnswer::call("time_now", json!({})),
            ModelAnswer::text("Noon.").gate(1, &gate),
        ]);
        let world = home(&model, "");
        let mut terminal = chat(&world, columns);
        terminal.keys("What time is it?\r");
        terminal.until("thinking  1 s  15 tokens");
        gate.open();
        terminal.until("Noon.");
        idle(&mut terminal);
        assert!(!terminal.screen().contains("thinking"));
        insta::assert_snapshot!(format!("status_{columns}"), screen(&terminal));
        end(terminal);
    }
}

/// A call of an unknown tool is refused; a tool on the shelf is described first.
#[test]
fn declined_calls_are_shown() {
    for columns in WIDTHS {
        let model = model([
            ModelAnswer::call("rm_rf", json!({})),
            ModelAnswer::call("notify", json!({"message": "hi"})),
            ModelAnswer::text("Done."),
        ]);
        let world = home(&model, "");
        let mut terminal = chat(&world, columns);
        terminal.keys("What is the weather?\r").until("Done.");
        idle(&mut terminal);
        insta::assert_snapshot!(format!("not_made_{columns}"), screen(&terminal));
        assert!(
            terminal.raw.contains("\x1b[2m⚙ rm_rf"),
            "{:?}",
            terminal.raw
        );
        end(terminal);
    }
}

const ASKS: &str = "[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n";

/// The arguments are shown as lines, `v` shows them in full, and `always` covers the next call.
#[test]
fn a_question_shows_the_call() {
    let text = format!(
        "First line\n{}\nlast line",
        "a long line of words ".repeat(8)
    );
    for columns in WIDTHS {
        let call = || ModelAnswer::call("notify", json!({"message": text, "title": "news"}));
        let model = model([
            call(),
            ModelAnswer::text("Sent."),
            call(),
            ModelAnswer::text("Sent again."),
        ]);
        let world = home(&model, ASKS);
        let mut terminal = chat(&world, columns);
        terminal.keys("Tell them\r").until("v shows all");
        terminal.keys("v\r").until("last line");
        terminal.until_line("[y/N/always/skip]");
        insta::assert_snapshot!(format!("question_{columns}"), screen(&terminal));
        terminal.keys("always\r").until("Sent.");
        idle(&mut terminal);
        terminal.keys("Once more\r").until("Sent again.");
        idle(&mut terminal);
        let shown = terminal.screen();
        assert!(!shown.contains("Once more\nCall"), "{shown}");
        end(terminal);
        let grants = world.json(&["approvals", "grants", "--json"]);
        let grants = grants["grants"].as_array().unwrap().clone();
        assert_eq!(grants.len(), 1, "{grants:?}");
        assert_eq!(grants[0]["skill"], "chat", "{grants:?}");
        let sent = world.json(&["notices", "list", "--json"]);
        assert_eq!(sent["notices"].as_array().unwrap().len(), 2, "{sent:#}");
    }
}

/// Each model has its own server, so the test can see which one was asked.
#[test]
fn the_model_can_be_switched() {
    for columns in WIDTHS {
        let first = model([ModelAnswer::text("From main.")]);
        let second = model([
            ModelAnswer::text("From other."),
            ModelAnswer::text("Still other."),
        ]);
        let other = section(&second.url).replace("llm.main", "llm.other");
        let world = home(&first, &format!("{other}[agent]\nllm = \"main\"\n"));
        let mut terminal = chat(&world, columns);
        terminal.keys("Hi\r").until("From main.");
        idle(&mut terminal);
        terminal.keys("/model\r").until("switches the model");
        idle(&mut terminal);
        terminal.keys("/model othr\r").until("unknown model `othr`");
        idle(&mut terminal);
        terminal.keys("/model other\r").until("for this chat");
        idle(&mut terminal);
        terminal.keys("And now?\r").until("From other.");
        idle(&mut terminal);
        insta::assert_snapshot!(format!("model_{columns}"), screen(&terminal));
        end(terminal);
        // The conversation continues: the other model gets the earlier messages.
        let prompt = messages(&second.requests()[0]);
        assert!(
            prompt.iter().any(|(_, text)| text == "From main."),
            "{prompt:?}"
        );
    }
}

#[test]
fn the_last_exchange_can_be_undone() {
    for columns in WIDTHS {
        let model = model([
            ModelAnswer::text("Hello Ada."),
            ModelAnswer::call("time_now", json!({})),
            ModelAnswer::text("It is noon, Bob."),
            ModelAnswer::text("I know Ada."),
        ]);
        let world = home(&model, "");
        let mut terminal = chat(&world, columns);
        terminal.keys("/undo\r").until("nothing to undo");
        idle(&mut terminal);
        terminal.keys("I am Ada\r").until("Hello Ada.");
        idle(&mut terminal);
        terminal
            .keys("I am Bob; what time is it?\r")
            .until("It is noon, Bob.");
        idle(&mut terminal);
        terminal
            .keys("/undo\r")
            .until("removed \"I am Bob; what time is it?\"");
        terminal.until("effects of tool calls are not undone");
        idle(&mut terminal);
        insta::assert_snapshot!(format!("undo_{columns}"), screen(&terminal));
        end(terminal);
        // A later chat continues without the removed exchange.
        let mut terminal = Terminal::sized(&world, &["chat", "--resume"], columns);
        terminal.until("resuming").until_line("thinker>");
        assert!(!terminal.screen().contains("Bob"), "{}", terminal.screen());
        terminal.keys("Who am I?\r").until("I know Ada.");
        terminal.until_line("thinker>");
        end(terminal);
        let requests = model.requests();
        let prompt = messages(requests.last().unwrap());
        assert!(
            prompt.iter().all(|(_, text)| !text.contains("Bob")),
            "{prompt:?}"
        );
        assert!(
            prompt.iter().any(|(_, text)| text == "I am Ada"),
            "{prompt:?}"
        );
        assert_eq!(runs(&world, "chat").len(), 3, "the record of the run stays");
    }
}

#[test]
fn files_are_attached() {
    for columns in WIDTHS {
        let model = model([ModelAnswer::text("Two lines.")]);
        let world = home(&model, "");
        world
            .write("report.txt", "one\ntwo\n")
            .write("big.log", "x".repeat(300_000))
            .write("cat.png", "\u{89}PNG\r\n");
        let mut terminal = chat(&world, columns);
        terminal.keys("Sum up @big.log\r").until("at most 200 kB");
        idle(&mut terminal);
        // Tab completes the path.
        terminal.keys("Sum up @rep\t").until("@report.txt");
        terminal.keys(" for @ada\r").until("Two lines.");
        idle(&mut terminal);
        insta::assert_snapshot!(format!("attached_{columns}"), screen(&terminal));
        end(terminal);
        let prompt = messages(&model.requests()[0]);
        let (_, text) = prompt.last().unwrap();
        assert_eq!(
            text,
            "Sum up @report.txt for @ada\n\nFile `report.txt`:\n```\none\ntwo\n```"
        );
    }
}

/// A message that attaches a missing file is not sent, and the reason is shown.
#[test]
fn a_missing_attachment_is_reported_and_nothing_is_sent() {
    let model = model([ModelAnswer::text("Fine.")]);
    let world = home(&model, "");
    world.write("cat.png", b"\x89PNG\r\n");
    let mut terminal = chat(&world, 80);
    terminal.keys("Sum up @/missing/file\r");
    terminal.until("the file `/missing/file` does not exist");
    idle(&mut terminal);
    terminal.keys("What is on @cat.png\r");
    terminal
        .until("`cat.png` is an image; images cannot be attached")
        .until("hint: only UTF-8 text can be attached");
    idle(&mut terminal);
    assert_fits(&terminal.screen(), 80);
    terminal.keys("Nothing\r").until("Fine.");
    idle(&mut terminal);
    end(terminal);
    assert_eq!(model.requests().len(), 1);
}

/// The reason is shown in the line of the call, without broken words.
#[test]
fn a_failed_call_shows_its_reason() {
    for columns in WIDTHS {
        let model = model([
            ModelAnswer::call("compare", json!({"folder": "photos"})),
            ModelAnswer::text("It failed."),
        ]);
        let world = home(&model, "");
        let error = "3 of 1200 copies differ from their originals: mail/2019.mbox, photos/a.jpg";
        let tool = json!({"error": error, "annotations": {"readOnlyHint": true}});
        let script = Script::new().tool("compare", tool);
        let config = world.read("home/config.toml") + &server(&world, &script);
        world.write("home/config.toml", config);
        assert_eq!(world.code(&["mcp", "probe", "demo"]), 0);
        let mut terminal = chat(&world, columns);
        terminal.keys("Compare\r").until("It failed.");
        idle(&mut terminal);
        let shown = screen(&terminal);
        assert_fits(&shown, columns);
        insta::assert_snapshot!(format!("failed_call_{columns}"), shown);
        end(terminal);
    }
}

/// A chosen model still answers after the conversation is closed and resumed.
#[test]
fn a_resumed_chat_keeps_its_model() {
    let first = model([ModelAnswer::text("From main.")]);
    let second = model([
        ModelAnswer::text("From other."),
        ModelAnswer::text("Still other."),
    ]);
    let other = section(&second.url).replace("llm.main", "llm.other");
    let world = home(&first, &format!("{other}[agent]\nllm = \"main\"\n"));
    let mut terminal = chat(&world, 80);
    terminal.keys("/model other\r").until("for this chat");
    idle(&mut terminal);
    terminal.keys("Hi\r").until("From other.");
    idle(&mut terminal);
    end(terminal);
    let mut terminal = Terminal::sized(&world, &["chat", "--resume"], 80);
    terminal.until("resuming").until_line("thinker>");
    terminal.keys("And now?\r").until("Still other.");
    terminal.until_line("thinker>");
    end(terminal);
    assert_eq!(second.requests().len(), 2);
}

#[test]
fn help_lists_all_commands() {
    for columns in WIDTHS {
        let model = model([]);
        let world = home(&model, "");
        let mut terminal = chat(&world, columns);
        terminal.keys("/help\r").until("alt-enter");
        idle(&mut terminal);
        insta::assert_snapshot!(format!("help_{columns}"), screen(&terminal));
        end(terminal);
    }
}

/// Chat answers are runs, but lists of runs omit them by default.
#[test]
fn chats_are_listed_on_request() {
    let model = model([ModelAnswer::text("Hello.")]);
    let world = home(&model, "");
    world.write(
        "home/skills/now.yaml",
        "name: now\ndescription: Tells the time\nsteps:\n  - {id: look, tool: time.now}\n",
    );
    assert_eq!(world.code(&["chat", "-p", "Hi"]), 0);
    assert_eq!(world.code(&["run", "now"]), 0);
    let names = |args: &[&str]| -> Vec<Value> {
        let listed = world.json(args);
        let runs = listed["runs"].as_array().unwrap();
        runs.iter().map(|run| run["skill"].clone()).collect()
    };
    assert_eq!(names(&["runs", "list", "--json"]), ["now"]);
    assert_eq!(
        names(&["runs", "list", "--chats", "--json"]),
        ["now", "chat"]
    );
    assert_eq!(
        names(&["runs", "list", "--skill", "chat", "--json"]),
        ["chat"]
    );
    let table = world.run(&["runs", "list"]);
    assert!(!table.contains("chat"), "{table}");
}

//! Hostile text from outside, end to end: as the result of a call and as a message of a person, to a model
//! that calls tools and to one that writes commands. Whatever the text contains, only the calls of the model
//! are made, and the frame around the text stays intact in the prompt.

use std::fs;
use std::path::{Path, PathBuf};

use deft_model::Outcome;
use serde_json::{Value, json};

use crate::agent_case::{Case, Scene};

/// Returns the files of `deft-agent`, which writes hidden characters as `\u{…}`.
fn corpus() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/injection");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, unescape(&fs::read_to_string(path).unwrap()))
    };
    files.iter().map(read).collect()
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u{") {
        let (code, behind) = after.split_once('}').unwrap();
        out.push_str(before);
        out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        rest = behind;
    }
    out + rest
}

/// Returns two answers: the model reads once, then sums up.
fn reads(cmd: bool) -> Value {
    let read = if cmd {
        json!({ "text": "```cmd\nmail_read --id 1\n```" })
    } else {
        json!({ "calls": [{ "name": "mail_read", "args": { "id": "1" } }] })
    };
    json!([read, { "text": "Somebody wrote something." }])
}

fn tools(text: &str) -> Value {
    json!([{ "name": "mail_read", "effects": "none", "returns": [text] },
        { "name": "mail_send", "returns": ["sent"] }])
}

/// Returns a case in which a call returns the text.
fn as_result(text: &str, cmd: bool) -> Case {
    Case(json!({
        "about": "", "cmd": cmd, "script": reads(cmd), "tools": tools(text),
        "options": { "tools": ["mail_*"] },
        "do": [{ "say": "What did they write?" }],
    }))
}

/// Returns a case in which a person sends the text to a model that only answers.
fn as_message(text: &str, cmd: bool) -> Case {
    Case(json!({
        "about": "", "cmd": cmd, "script": [{ "text": "I see." }], "tools": tools(text),
        "options": { "tools": ["mail_*"] },
        "do": [{ "say": text }],
    }))
}

async fn ended_well(scene: &Scene, name: &str) {
    let runs = scene.runs().await;
    let outcomes: Vec<Option<Outcome>> = runs.iter().map(|run| run.outcome).collect();
    assert_eq!(outcomes, [Some(Outcome::Success)], "{name}");
}

/// Returns the result of the call as the model received it.
fn shown_result(scene: &Scene) -> String {
    let requests = scene.servers["double"].requests();
    assert_eq!(requests.len(), 2, "asked once more for the result");
    let messages = requests[1]["messages"].as_array().unwrap();
    let last = messages.last().unwrap()["content"].as_str().unwrap();
    last.to_owned()
}

#[tokio::test]
async fn a_tool_result_is_always_data() {
    for (name, text) in corpus() {
        for cmd in [false, true] {
            let scene = as_result(&text, cmd).play().await;
            ended_well(&scene, &name).await;
            assert_eq!(scene.world.called(), ["mail_read"], "{name}");
            let told = shown_result(&scene);
            let framed = if cmd {
                told.strip_prefix("command: mail_read --id 1\n").unwrap()
            } else {
                &told
            };
            let inside = framed
                .strip_prefix("<result tool=\"mail_read\">\n")
                .and_then(|rest| rest.split_once("\n</result>"));
            let (inside, behind) = inside.unwrap_or_else(|| panic!("{name}: {framed}"));
            assert!(!inside.contains("<result"), "{name}: {framed}");
            assert!(
                behind.is_empty() || behind.starts_with("\n[cut: "),
                "{name}: {behind}"
            );
        }
    }
}

/// The text of an `agent` step is a template: the result of a tool is framed there too.
#[tokio::test]
async fn a_result_in_the_text_of_a_step_is_data() {
    for (name, text) in corpus() {
        for cmd in [false, true] {
            let case = Case(json!({
                "about": "", "cmd": cmd, "tools": tools(&text), "script": [{ "text": "I see." }],
                "skills": { "sums.yaml": "name: sums\ndescription: x\nsteps:\n  - {id: mail, tool: mail_read, args: {id: '1'}}\n  - {id: sum, agent: 'Sum up: {{ mail }}', tools: [mail_send]}\n" },
                "do": [{ "run": "sums" }],
            }));
            let scene = case.play().await;
            ended_well(&scene, &name).await;
            assert_eq!(scene.world.called(), ["mail_read"], "{name}");
            let requests = scene.servers["double"].requests();
            let messages = requests[0]["messages"].as_array().unwrap();
            let task = messages.last().unwrap()["content"].as_str().unwrap();
            let inside = task
                .strip_prefix("Sum up: <untrusted kind=\"result\" from=\"mail\"")
                .and_then(|rest| rest.strip_suffix("</untrusted>"));
            let inside = inside.unwrap_or_else(|| panic!("{name}: {task}"));
            assert!(!inside.contains("<untrusted"), "{name}: {task}");
            assert!(!inside.contains("</untrusted"), "{name}: {task}");
        }
    }
}

#[tokio::test]
async fn quoted_commands_in_a_message_are_not_run() {
    for (name, text) in corpus() {
        for cmd in [false, true] {
            let scene = as_message(&text, cmd).play().await;
            ended_well(&scene, &name).await;
            assert_eq!(scene.world.called(), Vec::<String>::new(), "{name}");
            assert_eq!(scene.servers["double"].requests().len(), 1, "{name}");
        }
    }
}

/// If a model repeats what it read, its commands run as far as it may use them, because they are its own
/// words; others are still refused.
#[tokio::test]
async fn a_model_that_obeys_a_result_stays_in_its_sandbox() {
    for (name, text) in corpus() {
        let case = Case(json!({
            "about": "", "cmd": true, "tools": tools(&text),
            "script": [{ "text": "```cmd\nmail_read --id 1\n```" }, { "text": text },
                { "text": "Done." }, { "text": "Done." }],
            "skills": { "reads/SKILL.md": "---\nname: reads\ndescription: Reads\nmetadata:\n  required_tools: [mail_read]\n---\nRead it.\n" },
            "do": [{ "run": "reads" }],
        }));
        let scene = case.play().await;
        let called = scene.world.called();
        let other = called.iter().find(|tool| *tool != "mail_read");
        assert_eq!(other, None, "{name}");
    }
}

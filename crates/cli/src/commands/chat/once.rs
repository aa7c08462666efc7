//! `deft chat -p`: one answer for a script, and `--show-prompt`.

use std::io::{self, IsTerminal, Read};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::turn::{Company, Ended, Wish};
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::terminal::{Stream, Styled};
use deft_channels::markdown::Renderer;
use deft_model::visible;
use deft_service::talk::{Live, Said, Say, Talk};

/// What is to be said: the text, and what is piped in behind it.
pub(super) fn text(given: &str) -> Done<String> {
    let mut piped = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().read_to_string(&mut piped).map_err(|problem| {
            Failure::input("stdin", format!("cannot read from stdin: {problem}"))
        })?;
    }
    join(given, &piped)
}

fn join(given: &str, piped: &str) -> Done<String> {
    let parts = [given.trim(), piped.trim()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(Failure::input("no_text", "there is nothing to say")
            .hint("write it behind `-p`, or pipe it in"));
    }
    Ok(parts.join("\n\n"))
}

/// Says something once. The answer is all that goes to stdout.
pub(super) async fn say(company: &mut Company, say: Say, output: &Output) -> Done {
    let calls = Arc::new(Mutex::new(Calls::default()));
    let (heard, view) = (Arc::clone(&calls), Arc::clone(&company.view));
    let show = !output.json;
    let listener = Arc::new(move |live: Live| {
        heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .hear(&live);
        // A text may be taken back, and stdout takes nothing back.
        let later = matches!(live, Live::Text(_) | Live::Again);
        if show && !later {
            view.hear(live);
        }
    });
    let said = match company.hear(Wish::Say(say), listener).await? {
        Ended::Said(said) => said,
        Ended::Left => return Ok(ExitCode::from(crate::commands::INTERRUPTED)),
    };
    company.view.leave();
    let code = if said.outcome.as_deref() == Some("cancelled") {
        crate::commands::INTERRUPTED
    } else {
        said.exit_code()
    };
    let calls = std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner));
    print(&said, &calls.0, output)?;
    Ok(ExitCode::from(code))
}

fn print(said: &Said, calls: &[Value], output: &Output) -> Done<()> {
    if output.json {
        return output.document(&document(said, calls));
    }
    if !said.text.trim().is_empty() {
        let (styled, width) = (output.styles_stdout(), output.width());
        if Stream::Out.is_terminal() {
            let text = Renderer::whole(&said.text, styled, width);
            output.data(Styled::from_renderer(&text))?;
        } else {
            output.data(said.text.trim_end())?;
        }
    }
    if let Some(error) = &said.error {
        output.complain(&format!("error: {}", error.message));
        if let Some(hint) = &error.hint {
            output.complain(&format!("hint: {hint}"));
        }
    }
    if said.status == "waiting" {
        let run = &said.run;
        output.complain(&format!("run {run} waits for an answer"));
        output.complain(&format!(
            "hint: `deft approvals list` shows the question, `deft runs resume {run}` asks here"
        ));
    }
    Ok(())
}

fn document(said: &Said, calls: &[Value]) -> Value {
    let error = said
        .error
        .as_ref()
        .map(|error| json!({"class": error.class, "message": error.message, "hint": error.hint}));
    json!({
        "conversation": said.conversation,
        "run": said.run,
        "status": said.status,
        "outcome": said.outcome,
        "text": said.text,
        "usage": said.usage.document(),
        "calls": calls,
        "error": error,
    })
}

/// The calls of an answer, as parts of a document.
#[derive(Default)]
struct Calls(Vec<Value>);

impl Calls {
    fn hear(&mut self, live: &Live) {
        match live {
            Live::ToolBegun { tool, args, depth } => {
                let mut args = Value::Object(args.clone());
                mask(&mut args);
                self.0
                    .push(json!({"tool": tool, "args": args, "depth": depth, "status": "running"}));
            }
            Live::ToolEnded { tool, ok, ms, note } => {
                let call = self.open(tool);
                call["status"] = json!(if *ok { "success" } else { "error" });
                call["duration_ms"] = json!(ms);
                call["note"] = json!(note);
            }
            Live::Refused { tool, reason } => {
                let call = self.open(tool);
                call["status"] = json!("refused");
                call["note"] = json!(reason);
            }
            Live::Text(_)
            | Live::Again
            | Live::Dispatched { .. }
            | Live::AgentEnded { .. }
            | Live::Waiting { .. } => {}
        }
    }

    /// The oldest call of a tool that is under way; one that never began begins now.
    fn open(&mut self, tool: &str) -> &mut Value {
        let open = |call: &Value| call["tool"] == tool && call["status"] == "running";
        let place = self.0.iter().position(open).unwrap_or_else(|| {
            self.0.push(json!({"tool": tool, "args": {}, "depth": 0}));
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

/// Secrets by name, in all texts.
fn mask(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(masked) = deft_workflow::mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => fields.values_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Shows what a model would be told.
pub(super) async fn show_prompt(talk: &dyn Talk, say: Say, output: &Output) -> Done {
    let prompt = talk.prompt(say).await?;
    if output.json {
        output.document(&prompt)?;
    } else {
        output.data(prompt_text(&prompt))?;
        for note in prompt["notes"].as_array().into_iter().flatten() {
            output.note(&format!(
                "note: {}",
                visible(note.as_str().unwrap_or_default())
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn prompt_text(prompt: &Value) -> String {
    let list = |name: &str| prompt[name].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let mut out = format!(
        "agent {}, model {}\n",
        text(prompt, "agent"),
        text(prompt, "model")
    );
    for part in list("system") {
        let kept = if part["stable"] == true {
            "stable"
        } else {
            "changing"
        };
        out.push_str(&format!(
            "\n--- system, {kept} ---\n{}\n",
            text(&part, "text").trim_end()
        ));
    }
    for message in list("messages") {
        let (role, said) = (text(&message, "role"), text(&message, "text"));
        out.push_str(&format!("\n--- {role} ---\n{}\n", said.trim_end()));
    }
    let tools = list("tools");
    out.push_str(&format!(
        "\n--- {} ---\n",
        crate::output::counted(tools.len(), "tool")
    ));
    for tool in tools {
        let description = text(&tool, "description");
        let first = description.lines().next().unwrap_or_default();
        out.push_str(&format!("{}  {first}\n", text(&tool, "name")));
    }
    let shelf = list("shelf");
    if !shelf.is_empty() {
        let names: Vec<&str> = shelf.iter().filter_map(Value::as_str).collect();
        out.push_str(&format!(
            "\n--- {} when looked up ---\n{}\n",
            crate::output::counted(shelf.len(), "more tool"),
            names.join(", ")
        ));
    }
    out.push_str(&sizes(prompt));
    out
}

/// What each section and each tool takes, the largest tools first.
fn sizes(prompt: &Value) -> String {
    let list = |name: &str| prompt[name].as_array().cloned().unwrap_or_default();
    let tokens = prompt["tokens"].as_u64().unwrap_or_default();
    let mut out = format!("\n--- size: about {tokens} tokens ---\n");
    for section in list("sections") {
        let name = section["section"].as_str().unwrap_or_default();
        let chars = section["chars"].as_u64().unwrap_or_default();
        out.push_str(&format!("{name:24} {chars:>6} characters\n"));
    }
    let mut tools = list("tools");
    let size = |tool: &Value| tool["tokens"].as_u64().unwrap_or_default();
    tools.sort_by_key(|tool| std::cmp::Reverse(size(tool)));
    for tool in &tools {
        let name = format!("tool {}", tool["name"].as_str().unwrap_or_default());
        out.push_str(&format!("{name:24} {:>6} tokens\n", size(tool)));
    }
    out
}

#[cfg(test)]
mod tests {
    use deft_model::{FailureClass, Object};

    use super::*;
    use crate::talk_fake::fake::{Fake, failed};

    #[test]
    fn what_is_piped_in_comes_behind() {
        for (given, piped, expected) in [
            ("sum up", "", Some("sum up")),
            ("sum up\n", "a\nb\n", Some("sum up\n\na\nb")),
            ("", "a", Some("a")),
            (" ", "\n", None),
        ] {
            let joined = join(given, piped);
            assert_eq!(
                joined.as_ref().ok().map(String::as_str),
                expected,
                "{given}|{piped}"
            );
        }
    }

    #[test]
    fn calls_are_in_the_document() {
        let tool = || "ls".to_owned();
        let args = |path: &str| Object::from_iter([("path".to_owned(), json!(path))]);
        let begun = |path: &str| Live::ToolBegun {
            tool: tool(),
            args: args(path),
            depth: 0,
        };
        let ended = |ok, note: Option<&str>| Live::ToolEnded {
            tool: tool(),
            ok,
            ms: 7,
            note: note.map(str::to_owned),
        };
        let mut calls = Calls::default();
        for live in [
            begun("a"),
            begun("b"),
            Live::Text("x".to_owned()),
            ended(true, None),
            ended(false, Some("gone")),
            Live::Refused {
                tool: "rm".to_owned(),
                reason: "not one of its tools".to_owned(),
            },
        ] {
            calls.hear(&live);
        }
        let mut said = failed(FailureClass::Limit, "10 steps were not enough");
        (said.conversation, said.run) = ("conv_1".to_owned(), "run_1".to_owned());
        assert_eq!(
            document(&said, &calls.0),
            json!({
                "conversation": "conv_1", "run": "run_1", "status": "done", "outcome": "error", "text": "",
                "usage": {"input_tokens": 0, "output_tokens": 0, "cost_usd": null, "llm_calls": 0},
                "calls": [
                    {"tool": "ls", "args": {"path": "a"}, "depth": 0, "status": "success", "duration_ms": 7, "note": null},
                    {"tool": "ls", "args": {"path": "b"}, "depth": 0, "status": "error", "duration_ms": 7, "note": "gone"},
                    {"tool": "rm", "args": {}, "depth": 0, "status": "refused", "note": "not one of its tools"},
                ],
                "error": {"class": "limit", "message": "10 steps were not enough", "hint": null},
            })
        );
    }

    #[tokio::test]
    async fn a_prompt_is_shown_part_by_part() {
        let say = Say {
            text: "hi".to_owned(),
            ..Say::default()
        };
        let prompt = Fake::default().prompt(say).await.unwrap();
        assert_eq!(
            prompt_text(&prompt),
            "agent thinker, model local\n\n--- system, stable ---\nYou help.\n\n--- system, changing ---\nIt is noon.\n\n\
             --- user ---\nhi\n\n--- 2 tools ---\nlog  Writes a line.\nhttp_request  Asks a web server. More.\n\n\
             --- 1 more tool when looked up ---\nnotify\n\n--- size: about 140 tokens ---\n\
             agent                         9 characters\nnow                          11 characters\n\
             tool http_request           120 tokens\ntool log                      7 tokens\n"
        );
    }
}

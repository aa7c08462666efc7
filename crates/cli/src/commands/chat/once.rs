//! `deft chat -p`: one answer for a script, and `--show-prompt`.

use std::io::{self, IsTerminal, Read};
use std::process::ExitCode;
use std::sync::Arc;

use super::turn::{TurnEnd, TurnParticipants, TurnRequest};
use crate::exit::Exit;
use crate::failure::{Done, Failure};
use crate::output::{Output, format_count};
use crate::terminal::{Stream, StyledText};
use deft_service::markdown::Renderer;
use deft_service::talk::{CallLog, Live, NewChatMessage, Talk};
use deft_wire::chat::{ChatAnswer, PromptSection, PromptTool, PromptView};
use deft_wire::model::{FailureClass, Message, Outcome, RunStatus, visible};
use parking_lot::Mutex;

/// Returns the message: the text of `-p`, followed by piped input.
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
        return Err(Failure::input("no_text", "the message is empty")
            .hint("give the text after `-p`, or pipe it in"));
    }
    Ok(parts.join("\n\n"))
}

/// Sends one message and prints the answer. Only the answer goes to stdout.
pub(super) async fn say(
    participants: &mut TurnParticipants,
    say: NewChatMessage,
    output: &Output,
) -> Done {
    let calls = Arc::new(Mutex::new(CallLog::default()));
    let (call_log, view) = (Arc::clone(&calls), Arc::clone(&participants.view));
    let show = !output.json;
    let listener = Arc::new(move |live: Live| {
        call_log.lock().record(&live);
        // Streamed text may be discarded, but stdout cannot be undone: print the text at the end.
        let later = matches!(live, Live::Text(_) | Live::Again);
        if show && !later {
            view.show_live(live);
        }
    });
    let mut answer = match participants
        .run_turn(TurnRequest::Say(say), listener)
        .await?
    {
        TurnEnd::Answered(answer) => answer,
        TurnEnd::Left => return Ok(ExitCode::from(Exit::Interrupted)),
    };
    participants.view.leave();
    let calls = std::mem::take(&mut *calls.lock());
    answer.calls = calls.into_calls();
    print(&answer, output)?;
    Ok(ExitCode::from(exit_code(&answer)))
}

fn print(answer: &ChatAnswer, output: &Output) -> Done<()> {
    if output.json {
        return output.document(answer);
    }
    if !answer.text.trim().is_empty() {
        let (styled, width) = (output.styles_stdout(), output.width());
        if Stream::Out.is_terminal() {
            let text = Renderer::whole(&answer.text, styled, width);
            output.data(StyledText::from_renderer(&text))?;
        } else {
            output.data(answer.text.trim_end())?;
        }
    }
    if let Some(error) = &answer.error {
        output.complain(&format!("error: {}", error.message));
        if let Some(hint) = &error.hint {
            output.complain(&format!("hint: {hint}"));
        }
    }
    if answer.status == RunStatus::Waiting {
        let run = &answer.run;
        output.complain(&format!("run {run} waits for approval"));
        output.complain(&format!(
            "hint: `deft approvals list` shows the approval, `deft runs resume {run}` asks here"
        ));
    }
    Ok(())
}

/// Returns the exit code for an answer.
pub(super) fn exit_code(answer: &ChatAnswer) -> Exit {
    let class = answer.error.as_ref().map(|error| error.class);
    match (answer.status, answer.outcome, class) {
        (_, Some(Outcome::Cancelled), _) => Exit::Interrupted,
        (RunStatus::Waiting, _, _) => Exit::Waiting,
        (_, _, Some(FailureClass::Limit | FailureClass::Budget)) => Exit::Limit,
        (_, None | Some(Outcome::Success | Outcome::Skipped), _) => Exit::Success,
        (
            _,
            Some(Outcome::Error | Outcome::Missed | Outcome::Blocked | Outcome::Interrupted),
            _,
        ) => Exit::Unsuccessful,
    }
}

/// Prints the prompt without calling a model.
pub(super) async fn show_prompt(talk: &dyn Talk, say: NewChatMessage, output: &Output) -> Done {
    let prompt = talk.prompt(say).await?;
    if output.json {
        output.document(&prompt)?;
    } else {
        output.data(prompt_text(&prompt))?;
        for note in &prompt.notes {
            output.note(&format!("note: {}", visible(note)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn prompt_text(prompt: &PromptView) -> String {
    let mut out = format!("agent {}, model {}\n", prompt.agent, prompt.model);
    for part in &prompt.system {
        let kept = if part.stable { "stable" } else { "changing" };
        let text = part.text.trim_end();
        out.push_str(&format!("\n--- system, {kept} ---\n{text}\n"));
    }
    for message in &prompt.messages {
        let (role, text) = match message {
            Message::User { text } => ("user", text),
            Message::Assistant { text, .. } => ("assistant", text),
            Message::Tool { text, .. } => ("tool", text),
        };
        out.push_str(&format!("\n--- {role} ---\n{}\n", text.trim_end()));
    }
    let count = format_count(prompt.tools.len(), "tool");
    out.push_str(&format!("\n--- {count} ---\n"));
    for tool in &prompt.tools {
        let first = tool.description.lines().next().unwrap_or_default();
        out.push_str(&format!("{}  {first}\n", tool.name));
    }
    if !prompt.shelf.is_empty() {
        out.push_str(&format!(
            "\n--- {} when looked up ---\n{}\n",
            format_count(prompt.shelf.len(), "more tool"),
            prompt.shelf.join(", ")
        ));
    }
    out.push_str(&sizes(prompt));
    out
}

/// Formats the size of each section and each tool of a prompt, largest tools first.
fn sizes(prompt: &PromptView) -> String {
    let mut out = format!("\n--- size: about {} tokens ---\n", prompt.tokens);
    for PromptSection { section, chars } in &prompt.sections {
        out.push_str(&format!("{section:24} {chars:>6} characters\n"));
    }
    let mut tools: Vec<&PromptTool> = prompt.tools.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
    for tool in tools {
        let name = format!("tool {}", tool.name);
        out.push_str(&format!("{name:24} {:>6} tokens\n", tool.tokens));
    }
    out
}

#[cfg(test)]
mod tests {
    use deft_wire::model::RunId;
    use serde_json::json;

    use super::*;
    use crate::talk_fake::fake::{Fake, failed};

    #[test]
    fn piped_input_follows_the_message() {
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
    fn an_answer_is_a_document() {
        let mut answer = failed(FailureClass::Limit, "10 steps were not enough");
        (answer.conversation, answer.run) = ("conv_1".to_owned(), RunId::new("run_1"));
        let expected = json!({
            "conversation": "conv_1", "run": "run_1", "status": "done", "outcome": "error", "text": "",
            "usage": {"input_tokens": 0, "output_tokens": 0, "cost_usd": null, "llm_calls": 0},
            "calls": [],
            "error": {"class": "limit", "message": "10 steps were not enough", "hint": null},
        });
        let document = serde_json::to_value(&answer).unwrap();
        assert_eq!(
            document.to_string(),
            expected.to_string(),
            "also in this order"
        );
    }

    #[tokio::test]
    async fn a_prompt_is_shown_part_by_part() {
        let say = NewChatMessage {
            text: "hi".to_owned(),
            ..NewChatMessage::default()
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

//! Conversations that were kept: lists, texts, words in them.

use std::process::ExitCode;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::lines::words;
use crate::args::Conversations;
use crate::failure::{Done, Failure};
use crate::output::{Fit, Output, counted, local, local_minute, table_of};
use crate::terminal::Styled;
use deft_channels::markdown::Renderer;
use deft_model::visible;
use deft_service::talk::{Conversation, Line, Talk};

pub(super) async fn run(
    command: &Conversations,
    talk: &dyn Talk,
    zone: &TimeZone,
    output: &Output,
) -> Done {
    match command {
        Conversations::List { channel, limit } => {
            let found = talk.conversations(channel.as_deref(), *limit).await?;
            list(&found, zone, output)?;
        }
        Conversations::Show { id } => {
            let found = find(talk, id).await?;
            let lines = talk.messages(&found.id).await?;
            show(&found, &lines, zone, output)?;
        }
        Conversations::Search { words, limit } => {
            let found = talk.search(&words.join(" "), *limit).await?;
            if output.json {
                let hits: Vec<Value> = found.iter().map(line_document).collect();
                output.document(&json!({"messages": hits}))?;
            } else if found.is_empty() {
                output.note("nothing was found");
            } else {
                output.data(hits(&found, zone).trim_end())?;
            }
        }
        Conversations::Delete { id } => {
            let found = find(talk, id).await?;
            let deleted = talk.delete(&found.id).await?;
            if output.json {
                output.document(&json!({"ok": deleted, "conversation": found.id}))?;
            } else {
                output.note(&format!(
                    "{} with {} is gone",
                    found.id,
                    counted(
                        usize::try_from(found.message_count).unwrap_or(usize::MAX),
                        "message"
                    )
                ));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A conversation by its id, the beginning of it, or `last`: the latest at a terminal.
pub(super) async fn find(talk: &dyn Talk, id: &str) -> Done<Conversation> {
    let found = match id {
        "last" => {
            let latest = talk.conversations(Some(super::session::CHANNEL), Some(1));
            latest.await?.into_iter().next()
        }
        id => talk.conversation(id).await?,
    };
    found.ok_or_else(|| {
        let message = match id {
            "last" => "there is no conversation to go on with".to_owned(),
            id => format!("there is no conversation `{id}`"),
        };
        Failure::input("unknown_conversation", message).hint("`deft chat list` shows them")
    })
}

fn list(found: &[Conversation], zone: &TimeZone, output: &Output) -> Done<()> {
    if output.json {
        let all: Vec<Value> = found.iter().map(document).collect();
        return output.document(&json!({"conversations": all}));
    }
    if found.is_empty() {
        output.note("there are no conversations; `deft chat` begins one");
        return Ok(());
    }
    let heads = ["id", "last", "channel", "agent", "said", "about"];
    let row = |one: &Conversation| {
        vec![
            one.id.clone(),
            local_minute(one.updated_at, zone),
            one.channel.clone(),
            one.agent.clone(),
            one.message_count.to_string(),
            words(&one.title),
        ]
    };
    let heads = heads.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(heads)
        .chain(found.iter().map(row))
        .collect();
    output.data(table_of(&rows, &[Fit::Id, Fit::Keep], output.width()))
}

fn show(found: &Conversation, lines: &[Line], zone: &TimeZone, output: &Output) -> Done<()> {
    if output.json {
        let mut document = document(found);
        document["messages"] = lines.iter().map(line_document).collect();
        document["open_run"] = found
            .open
            .as_ref()
            .map_or(Value::Null, |(run, _)| json!(run));
        return output.document(&json!({"conversation": document}));
    }
    output.note(&format!(
        "{}  {}  {}",
        found.id,
        found.channel,
        visible(&found.title)
    ));
    for line in lines {
        let who = format!("{}  {}", line.role, local(line.at, zone));
        let who = Styled::paint("2", &who, output.styles_stdout());
        output.data(who)?;
        let (styled, width) = (output.styles_stdout(), output.width());
        let text = match line.role.as_str() {
            // Results may be long; `--json` has them as they were.
            "tool" => Styled::from(words(&line.text)).with("\n"),
            _ => Styled::from_renderer(&Renderer::whole(&line.text, styled, width)),
        };
        output.data(text.with("\n"))?;
    }
    if let Some((run, stands)) = &found.open {
        output.note(&format!(
            "… run {run} {}\nhint: `deft runs show {run}` says more",
            visible(stands)
        ));
    }
    Ok(())
}

/// Messages in which something was found.
pub(super) fn hits(found: &[Line], zone: &TimeZone) -> String {
    if found.is_empty() {
        return "nothing was found".to_owned();
    }
    let width = crate::output::terminal_width();
    let row = |line: &Line| {
        vec![
            line.conversation.clone(),
            local_minute(line.at, zone),
            line.role.clone(),
            words(&line.text),
        ]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    table_of(&rows, &[Fit::Id, Fit::Keep], width)
}

fn document(one: &Conversation) -> Value {
    json!({
        "id": one.id, "agent": one.agent, "channel": one.channel, "title": one.title,
        "created_at": one.created_at.to_string(), "updated_at": one.updated_at.to_string(),
        "message_count": one.message_count,
    })
}

fn line_document(line: &Line) -> Value {
    json!({
        "conversation": line.conversation, "seq": line.seq, "role": line.role, "text": line.text,
        "at": line.at.to_string(),
    })
}

//! Conversations that were kept: lists, texts, words in them.

use std::process::ExitCode;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::lines::words;
use crate::args::Conversations;
use crate::failure::{Done, Failure};
use crate::markdown::Renderer;
use crate::output::{Output, counted, harmless, local, local_minute, table};
use crate::talk::{Conversation, Line, Talk};

/// How much of an id is shown at least.
const SHORT_ID: usize = "conv_0123456789ab".len();

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
    let ids: Vec<&str> = found.iter().map(|one| one.id.as_str()).collect();
    let row = |one: &Conversation| {
        vec![
            shown_id(&one.id, &ids, output.width()),
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
    output.data(&table(&rows, output.width()))
}

/// An id in a list: whole for programs, and for people as much as tells it from the others there.
fn shown_id(id: &str, all: &[&str], width: Option<usize>) -> String {
    if width.is_none() {
        return id.to_owned();
    }
    let tells = |length: &usize| {
        let Some(start) = id.get(..*length) else {
            return false;
        };
        !all.iter()
            .any(|other| *other != id && other.starts_with(start))
    };
    let length = (SHORT_ID..id.len()).find(tells).unwrap_or(id.len());
    id.get(..length).unwrap_or(id).to_owned()
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
        harmless(&found.title)
    ));
    for line in lines {
        let who = format!("{}  {}", line.role, local(line.at, zone));
        let who = super::lines::paint("2", &harmless(&who), output.styles_stdout());
        output.raw(&who)?;
        let (styled, width) = (output.styles_stdout(), output.width());
        let text = match line.role.as_str() {
            // Results may be long; `--json` has them as they were.
            "tool" => words(&line.text) + "\n",
            _ => Renderer::whole(&line.text, styled, width),
        };
        output.raw(&format!("{text}\n"))?;
    }
    if let Some((run, stands)) = &found.open {
        output.note(&format!(
            "… run {run} {}\nhint: `deft runs show {run}` says more",
            harmless(stands)
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
    let ids: Vec<&str> = found
        .iter()
        .map(|line| line.conversation.as_str())
        .collect();
    let row = |line: &Line| {
        vec![
            shown_id(&line.conversation, &ids, width),
            local_minute(line.at, zone),
            line.role.clone(),
            words(&line.text),
        ]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    table(&rows, width)
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

#[cfg(test)]
mod tests {
    use super::shown_id;

    #[test]
    fn an_id_is_shown_as_far_as_it_is_told_apart() {
        let all = ["conv_01a1e0160d6c74e0", "conv_01a1e0160d6c75ff", "conv_02"];
        let shown = |width| all.map(|id| shown_id(id, &all, width));
        assert_eq!(
            shown(Some(80)),
            ["conv_01a1e0160d6c74", "conv_01a1e0160d6c75", "conv_02"]
        );
        assert_eq!(shown(None), all);
        let one = ["conv_01a1e0160d6c74e0"; 2];
        assert_eq!(shown_id(one[0], &one, Some(80)), "conv_01a1e0160d6c");
    }
}

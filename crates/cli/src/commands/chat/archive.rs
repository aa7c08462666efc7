//! `deft chat list`, `show`, `search` and `delete`: conversations that are stored.

use std::process::ExitCode;

use jiff::tz::TimeZone;

use super::lines::words;
use crate::args::Conversations;
use crate::failure::{Done, Failure};
use crate::output::{Fit, Output, counted, table_of};
use crate::terminal::StyledText;
use crate::when::short;
use deft_service::markdown::Renderer;
use deft_service::talk::{Conversation, Talk};
use deft_wire::chat::{
    ChatMessage, ConversationDeleted, ConversationDetail, ConversationDocument, ConversationList,
    ConversationView, MessageList, MessageRole,
};
use deft_wire::model::visible;

pub(super) async fn run(
    command: &Conversations,
    talk: &dyn Talk,
    zone: &TimeZone,
    output: &Output,
) -> Done {
    match command {
        Conversations::List { channel, limit } => {
            let found = talk.conversations(channel.as_deref(), *limit).await?;
            list(found, zone, output)?;
        }
        Conversations::Show { id } => {
            let found = find(talk, id).await?;
            let messages = talk.messages(&found.view.id).await?;
            show(found, messages, zone, output)?;
        }
        Conversations::Search { words, limit } => {
            let found = talk.search(&words.join(" "), *limit).await?;
            if output.json {
                output.document(&MessageList { messages: found })?;
            } else if found.is_empty() {
                output.note("nothing was found");
            } else {
                output.data(hits(&found, zone).trim_end())?;
            }
        }
        Conversations::Delete { id } => {
            let found = find(talk, id).await?.view;
            let deleted = talk.delete(&found.id).await?;
            if output.json {
                output.document(&ConversationDeleted {
                    ok: deleted,
                    conversation: found.id,
                })?;
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
            let view = latest.await?.into_iter().next();
            view.map(|view| Conversation { view, open: None })
        }
        id => talk.conversation(id).await?,
    };
    found.ok_or_else(|| {
        let message = match id {
            "last" => "no conversation to continue".to_owned(),
            id => format!("unknown conversation `{id}`"),
        };
        Failure::input("unknown_conversation", message).hint("`deft chat list` shows them")
    })
}

fn list(found: Vec<ConversationView>, zone: &TimeZone, output: &Output) -> Done<()> {
    if output.json {
        return output.document(&ConversationList {
            conversations: found,
        });
    }
    if found.is_empty() {
        output.note("no conversations yet; `deft chat` starts one");
        return Ok(());
    }
    let heads = ["id", "last", "channel", "agent", "said", "about"];
    let row = |one: &ConversationView| {
        vec![
            one.id.clone(),
            short(one.updated_at, jiff::Timestamp::now(), zone),
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

fn show(
    Conversation { view, open }: Conversation,
    messages: Vec<ChatMessage>,
    zone: &TimeZone,
    output: &Output,
) -> Done<()> {
    if output.json {
        return output.document(&ConversationDocument {
            conversation: ConversationDetail {
                view,
                messages,
                open_run: open.map(|open| open.run),
            },
        });
    }
    let title = visible(&view.title);
    output.note(&format!("{}  {}  {title}", view.id, view.channel));
    for line in &messages {
        let at = short(line.at, jiff::Timestamp::now(), zone);
        let who = format!("{}  {at}", line.role.word());
        let who = StyledText::paint("2", &who, output.styles_stdout());
        output.data(who)?;
        let (styled, width) = (output.styles_stdout(), output.width());
        let text = match line.role {
            // Results may be long; `--json` has them as they were.
            MessageRole::Tool => StyledText::from(words(&line.text)).with("\n"),
            MessageRole::User | MessageRole::Assistant => {
                StyledText::from_renderer(&Renderer::whole(&line.text, styled, width))
            }
        };
        output.data(text.with("\n"))?;
    }
    if let Some(open) = &open {
        let (run, state) = (&open.run, visible(&open.state));
        output.note(&format!(
            "… run {run} {state}\nhint: `deft runs show {run}` says more"
        ));
    }
    Ok(())
}

/// Messages in which something was found.
pub(super) fn hits(found: &[ChatMessage], zone: &TimeZone) -> String {
    if found.is_empty() {
        return "nothing was found".to_owned();
    }
    let width = crate::output::terminal_width();
    let row = |line: &ChatMessage| {
        vec![
            line.conversation.clone(),
            short(line.at, jiff::Timestamp::now(), zone),
            line.role.word().to_owned(),
            words(&line.text),
        ]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    table_of(&rows, &[Fit::Id, Fit::Keep], width)
}

//! `deft chat list`, `show`, `search` and `delete`: stored conversations.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::lines::words;
use crate::args::{Conversations, Global};
use crate::confirm;
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::table::{Column, Row, Table, TableStyle};
use crate::terminal::StyledText;
use crate::when;
use deft_service::markdown::Renderer;
use deft_service::talk::{Conversation, ConversationQuery, Talk, find_conversation};
use deft_wire::chat::{
    ChatMessage, ConversationDeleted, ConversationDetail, ConversationDocument, ConversationList,
    ConversationView, MessageList, MessageRole,
};
use deft_wire::model::visible;

pub(super) async fn run(
    command: &Conversations,
    talk: &dyn Talk,
    zone: &TimeZone,
    global: &Global,
    output: &Output,
) -> Done {
    match command {
        Conversations::List { channel, limit } => {
            let found = talk.conversations(ConversationQuery {
                channel: channel.clone(),
                limit: *limit,
                ..ConversationQuery::default()
            });
            list(found.await?, zone, output)?;
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
                output.note("no matches");
            } else {
                output.data(hits(&found, zone).trim_end())?;
            }
        }
        Conversations::Delete { id, yes } => {
            let found = find(talk, id).await?.view;
            let title = visible(&found.title);
            let messages = usize::try_from(found.message_count).unwrap_or(usize::MAX);
            let messages = format_count(messages, "message");
            let question = format!("delete {} ({title}) with {messages}", found.id);
            if confirm::is_needed(*yes, global) && !confirm::ask(&question) {
                return Ok(confirm::report_refusal(output));
            }
            let deleted = talk.delete(&found.id).await?;
            if output.json {
                output.document(&ConversationDeleted {
                    ok: deleted,
                    conversation: found.id,
                })?;
            } else {
                output.note(&format!("deleted {} with {messages}", found.id));
                output.note(confirm::UNDO);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds a conversation by its id, a prefix of it, or `last` (the latest one at a terminal).
pub(super) async fn find(talk: &dyn Talk, id: &str) -> Done<Conversation> {
    find_conversation(talk, id, Some(super::session::CHANNEL)).await
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
    output.page();
    let columns = [
        Column::id("id"),
        Column::keep("last"),
        Column::keep("messages"),
        Column::text("about"),
        Column::extra("channel"),
        Column::extra("agent"),
    ];
    let row = |one: &ConversationView| {
        Row::new([
            one.id.as_str().into(),
            when::short(one.updated_at, Timestamp::now(), zone).into(),
            one.message_count.to_string().into(),
            words(&one.title).into(),
            one.channel.as_str().into(),
            one.agent.as_str().into(),
        ])
    };
    output.table(&Table::new(columns, found.iter().map(row)))
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
        let at = when::short(line.at, Timestamp::now(), zone);
        let who = format!("{}  {at}", line.role.word());
        let who = StyledText::paint("2", &who, output.styles_stdout());
        output.data(who)?;
        let (styled, width) = (output.styles_stdout(), output.width());
        let text = match line.role {
            // Results may be long; `--json` prints them in full.
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
            "… run {run} {state}\nhint: `deft runs show {run}` shows details"
        ));
    }
    Ok(())
}

/// Formats the messages that match a search.
pub(super) fn hits(found: &[ChatMessage], zone: &TimeZone) -> String {
    if found.is_empty() {
        return "no matches".to_owned();
    }
    let width = crate::output::terminal_width();
    let columns = [
        Column::id("id"),
        Column::keep("at"),
        Column::keep("who"),
        Column::text("text"),
    ];
    let row = |line: &ChatMessage| {
        Row::new([
            line.conversation.as_str().into(),
            when::short(line.at, Timestamp::now(), zone).into(),
            line.role.word().into(),
            words(&line.text).into(),
        ])
    };
    let table = Table::new(columns, found.iter().map(row)).headless();
    let color = false;
    table.print(TableStyle { width, color }).as_str().to_owned()
}

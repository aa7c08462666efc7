//! The memory tools: an agent reads conversations, and saves, lists and deletes facts (S0.83). They are in
//! the router like any other tool.
//!
//! Not here: what is worth a fact, which facts are equal, and which of two contradicting facts holds. Skills
//! describe that in words (`conversation-backfill`, `memory-synthesis`), and a model decides.

use std::sync::{Arc, Weak};

use deft_base::Error;
use deft_model::{Failure, FailureClass, Message, Object, clip};
use deft_store::{ConversationFilter, ConversationRow, FactFilter, FactRow, MessageRow, NewFact};
use deft_tools::{Context, Definition, Router};
use deft_wire::chat::MessageRole;
use deft_wire::own_tools::{
    ConversationResult, ConversationSummary, ConversationsResult, FactDeletedResult,
    FactSavedResult, FactSummary, FactsResult, TranscriptMessage,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::history::message_of;
use crate::tool_names::MemoryTool;
use crate::{Agents, prepare};

/// Channels of the skills that maintain the memory itself; their conversations contain nothing to remember.
const OWN_CHANNELS: [&str; 2] = ["skill:conversation-backfill", "skill:memory-synthesis"];

/// The category of notes about failed jobs.
const ERROR: &str = "error";
/// The category of notes about the progress of a backfill.
const BACKFILL: &str = "backfill";
/// The category of facts saved without one.
const GENERAL: &str = "general";

/// Maximum number of characters of a fact. Facts are in the prompt of every chat, and should be one sentence.
const MAX_FACT_LEN: usize = 500;
/// Maximum number of characters shown of a message, and of a tool's result.
const MAX_MESSAGE_LEN: usize = 4_000;
const MAX_RESULT_LEN: usize = 200;
/// Maximum number of characters of a list. A model is shown 20,000 characters of a result, and could not ask
/// for entries that were cut off.
const MAX_LIST_LEN: usize = 16_000;

/// Whether a fact is for prompts: about people and their things, not a note about the work of deft.
pub(super) fn is_for_prompts(row: &FactRow) -> bool {
    ![ERROR, BACKFILL].contains(&row.fact.category.as_str())
}

fn definition(tool: MemoryTool) -> Definition {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let limit = |usual: u64, most: u64| {
        let about = format!("Maximum number of results (default {usual})");
        json!({ "type": "integer", "minimum": 1, "maximum": most, "description": about })
    };
    let (about, properties, required): (_, _, &[&str]) = match tool {
        MemoryTool::ConversationList => (
            "List conversations, newest first; with `after`, oldest first.",
            json!({ "after": text("Only those with messages after this, such as 2026-01-26T13:00:00Z"),
                "limit": limit(20, 200) }),
            &[],
        ),
        MemoryTool::ConversationRead => (
            "Return the messages of a conversation; results of tools are truncated.",
            json!({ "id": text("The conversation's id"),
                "after_seq": { "type": "integer", "minimum": 0,
                    "description": "Only messages after this number" },
                "limit": limit(50, 200) }),
            &["id"],
        ),
        MemoryTool::FactSave => (
            "Remember a fact: one sentence that makes sense by itself. The same fact is kept once.",
            json!({ "text": text("The fact"),
                "category": text("Its kind, such as preference, person or decision"),
                "agent_id": text("The agent that keeps it") }),
            &["text"],
        ),
        MemoryTool::FactList => (
            "List remembered facts, newest first.",
            json!({ "category": text("Only of this kind"),
                "text": text("Only those that contain this"),
                "before_id": { "type": "integer", "minimum": 1,
                    "description": "Only those that are older than this one" },
                "limit": limit(50, 500) }),
            &[],
        ),
        MemoryTool::FactDelete => (
            "Forget a fact by the id that fact_list shows.",
            json!({ "id": { "type": "integer", "description": "The fact's id" } }),
            &["id"],
        ),
    };
    let schema = json!({ "type": "object", "properties": properties, "required": required,
        "additionalProperties": false });
    Definition::new(tool.name(), about, tool.effects(), schema)
}

impl Agents {
    /// Registers the memory tools in the router.
    pub fn register_memory_tools(self: &Arc<Self>) {
        for &tool in MemoryTool::ALL {
            // The router belongs to the engine, so its tools must not keep the engine alive.
            let agents = Arc::downgrade(self);
            self.router
                .register_fn(definition(tool), move |args: Object, _: Context| {
                    call(agents.clone(), tool, args)
                });
        }
    }
}

/// Registers the memory tools in a router used only for lookups.
pub fn show_memory_tools(router: &Router) {
    for &tool in MemoryTool::ALL {
        router.register_fn(definition(tool), |_: Object, _: Context| async {
            Err(Failure::new(
                FailureClass::Other,
                "the engine is not available",
            ))
        });
    }
}

async fn call(agents: Weak<Agents>, tool: MemoryTool, args: Object) -> Result<Value, Failure> {
    let agents = agents
        .upgrade()
        .ok_or_else(|| Failure::new(FailureClass::Cancelled, "deft is shutting down"))?;
    let args = Args(args);
    match tool {
        MemoryTool::ConversationList => agents.list_conversations(&args).await,
        MemoryTool::ConversationRead => agents.read_conversation(&args).await,
        MemoryTool::FactSave => agents.save_fact(&args).await,
        MemoryTool::FactList => agents.list_facts(&args).await,
        MemoryTool::FactDelete => agents.delete_fact(&args).await,
    }
}

/// The arguments of a call. Empty texts count as absent, because models tend to fill in everything.
struct Args(Object);

impl Args {
    fn text(&self, name: &str) -> Option<String> {
        let text = self.0.get(name)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn number(&self, name: &str, usual: u64) -> u64 {
        let number = self.0.get(name).and_then(Value::as_u64);
        number.unwrap_or(usual)
    }

    fn limit(&self, usual: u64) -> usize {
        usize::try_from(self.number("limit", usual)).unwrap_or(usize::MAX)
    }

    fn instant(&self, name: &str) -> Result<Option<Timestamp>, Failure> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let instant = text.parse().map_err(|_| {
            invalid(format!("`{name}` is `{text}`, which is not an instant"))
                .hint("write it with its zone, such as 2026-01-26T13:00:00Z")
        });
        instant.map(Some)
    }
}

impl Agents {
    async fn list_conversations(&self, args: &Args) -> Result<Value, Failure> {
        let after = args.instant("after")?;
        let filter = ConversationFilter {
            archived: true,
            ..ConversationFilter::default()
        };
        let rows = self.store().conversations(filter).await;
        let mut rows = rows.map_err(|error| store_failure(&error))?;
        rows.retain(|row| {
            let own = OWN_CHANNELS.iter().any(|it| row.channel.starts_with(it));
            !own && after.is_none_or(|after| row.updated_at > after)
        });
        if after.is_some() {
            // A caller that continues from an instant must not miss messages between it and the limit.
            rows.reverse();
        }
        let shown = page(rows.iter().take(args.limit(20)).map(conversation_summary));
        Ok(json!(ConversationsResult {
            more: rows.len() > shown.len(),
            conversations: shown,
        }))
    }

    async fn read_conversation(&self, args: &Args) -> Result<Value, Failure> {
        let id = args.text("id").unwrap_or_default();
        let row = self.store().conversation(&id).await;
        let row = row.map_err(|error| store_failure(&error))?.ok_or_else(|| {
            let message = format!("unknown conversation `{id}`");
            Failure::new(FailureClass::NotFound, message)
                .hint("`conversation_list` lists all conversations")
        })?;
        let (after, limit) = (args.number("after_seq", 0), args.number("limit", 50));
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let messages = self.store().messages(&id, after, limit).await;
        let messages = messages.map_err(|error| store_failure(&error))?;
        let (shown, last) =
            transcript(&id, &messages).map_err(|error| prepare::failure_of_error(&error))?;
        let last = last.unwrap_or(after);
        Ok(json!(ConversationResult {
            id,
            title: row.title,
            channel: row.channel,
            last_seq: last,
            more: last < row.message_count,
            messages: shown,
        }))
    }

    async fn save_fact(&self, args: &Args) -> Result<Value, Failure> {
        let text = args.text("text").unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let category = args.text("category").map(|word| word.to_lowercase());
        let category = category.unwrap_or_else(|| GENERAL.to_owned());
        check_fact(&text, &category)?;
        let usual = &self.options.default;
        let fact = NewFact {
            agent_id: args.text("agent_id").unwrap_or_else(|| usual.clone()),
            category,
            text,
            source: None,
            at: self.base.now(),
        };
        let saved = self.store().save_fact(fact).await;
        let (row, new) = saved.map_err(|error| store_failure(&error))?;
        Ok(json!(FactSavedResult {
            id: row.id,
            saved: new,
            known_since: (!new).then_some(row.fact.at),
        }))
    }

    async fn delete_fact(&self, args: &Args) -> Result<Value, Failure> {
        let id = args.0.get("id").and_then(Value::as_i64);
        let id = id.ok_or_else(|| invalid("`id` must be the number of a fact"))?;
        let deleted = self.store().delete_fact(id).await;
        Ok(json!(FactDeletedResult {
            id,
            deleted: deleted.map_err(|error| store_failure(&error))?,
        }))
    }

    async fn list_facts(&self, args: &Args) -> Result<Value, Failure> {
        let category = args.text("category").map(|word| word.to_lowercase());
        let any = category.is_none();
        let filter = FactFilter {
            category,
            text: args.text("text"),
            ..FactFilter::default()
        };
        let rows = self.store().facts(filter).await;
        let mut rows = rows.map_err(|error| store_failure(&error))?;
        // Notes about the work of deft are listed only if their category is requested.
        let before = args.0.get("before_id").and_then(Value::as_i64);
        rows.retain(|row| {
            (!any || is_for_prompts(row)) && before.is_none_or(|before| row.id < before)
        });
        let shown = page(rows.iter().take(args.limit(50)).map(fact_summary));
        Ok(json!(FactsResult {
            more: rows.len() > shown.len(),
            facts: shown,
        }))
    }
}

fn check_fact(text: &str, category: &str) -> Result<(), Failure> {
    if text.is_empty() {
        return Err(invalid("`text` is empty").hint("say the fact in one sentence"));
    }
    let length = text.chars().count();
    if length > MAX_FACT_LEN {
        let message = format!("`text` has {length} characters; a fact has at most {MAX_FACT_LEN}");
        return Err(invalid(message).hint("keep one fact per call, one sentence each"));
    }
    if category == ERROR {
        return Err(invalid(
            "the category `error` is for failed jobs, which deft keeps itself",
        ));
    }
    Ok(())
}

fn conversation_summary(row: &ConversationRow) -> ConversationSummary {
    ConversationSummary {
        id: row.id.clone(),
        agent: row.agent.clone(),
        channel: row.channel.clone(),
        title: row.title.clone(),
        updated_at: row.updated_at,
        message_count: row.message_count,
    }
}

fn fact_summary(row: &FactRow) -> FactSummary {
    let fact = row.fact.clone();
    FactSummary {
        id: row.id,
        category: fact.category,
        text: fact.text,
        agent_id: fact.agent_id,
        at: fact.at,
    }
}

/// Returns the first entries that fit into a result, at least one.
fn page<T: Serialize>(entries: impl Iterator<Item = T>) -> Vec<T> {
    let mut length = 0;
    let mut shown = Vec::new();
    for entry in entries {
        length += json!(entry).to_string().chars().count();
        if length > MAX_LIST_LEN && !shown.is_empty() {
            break;
        }
        shown.push(entry);
    }
    shown
}

/// Returns the messages that fit, and the number of the last message that was read. A turn that only calls
/// tools has no text and is skipped.
fn transcript(
    conversation: &str,
    rows: &[MessageRow],
) -> Result<(Vec<TranscriptMessage>, Option<u64>), Error> {
    let mut lines = Vec::new();
    for row in rows {
        lines.extend(transcript_message(row.seq, message_of(conversation, row)?));
    }
    let shown = page(lines.iter().cloned());
    let last = match lines.get(shown.len()) {
        Some(next) => Some(next.seq.saturating_sub(1)),
        None => rows.last().map(|row| row.seq),
    };
    Ok((shown, last))
}

/// Returns a message as its role and text, or `None` for a turn that only calls tools.
fn transcript_message(seq: u64, message: Message) -> Option<TranscriptMessage> {
    let (role, text, most) = match message {
        Message::User { text } => (MessageRole::User, text, MAX_MESSAGE_LEN),
        Message::Assistant { text, .. } => (MessageRole::Assistant, text, MAX_MESSAGE_LEN),
        Message::Tool { text, .. } => (MessageRole::Tool, text, MAX_RESULT_LEN),
    };
    let text = clip(&text, most);
    (!text.is_empty()).then_some(TranscriptMessage { seq, role, text })
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Invalid, message)
}

fn store_failure(error: &deft_store::Error) -> Failure {
    Failure::new(FailureClass::Other, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, message: &Message) -> MessageRow {
        MessageRow {
            conversation: "conv_1".to_owned(),
            seq,
            role: deft_model::MessageRole::User,
            body: serde_json::to_string(message).unwrap(),
            text: String::new(),
            run: None,
            at: Timestamp::UNIX_EPOCH,
        }
    }

    /// Every message is read once, however long the messages are.
    #[test]
    fn a_long_conversation_is_read_in_pages() {
        let silent = Message::Assistant {
            text: String::new(),
            calls: Vec::new(),
            opaque: None,
        };
        let long = Message::User {
            text: "a".repeat(5_000),
        };
        let rows: Vec<MessageRow> = (1..=10)
            .map(|seq| row(seq, if seq % 4 == 0 { &silent } else { &long }))
            .collect();
        let mut pages = Vec::new();
        let mut after = 0;
        while after < 10 {
            let left: Vec<MessageRow> = rows[usize::try_from(after).unwrap()..].to_vec();
            let (shown, last) = transcript("conv_1", &left).unwrap();
            let seqs = shown.iter().map(|message| message.seq);
            pages.push(seqs.collect::<Vec<_>>());
            after = last.unwrap();
        }
        assert_eq!(pages, [vec![1, 2, 3], vec![5, 6, 7], vec![9, 10]]);
        assert_eq!(transcript("conv_1", &[]).unwrap(), (Vec::new(), None));
    }

    #[test]
    fn a_damaged_message_is_an_error_that_names_it() {
        let damaged = MessageRow {
            body: "{".to_owned(),
            ..row(
                7,
                &Message::User {
                    text: String::new(),
                },
            )
        };
        let error = transcript("conv_1", &[damaged]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "message 7 of conversation `conv_1` cannot be read: \
             EOF while parsing an object at line 1 column 1"
        );
    }
}

//! Agents and conversations, read from the store.

use std::collections::HashMap;
use std::sync::Arc;

use deft_agent::{Address, ConversationRef, Event as AgentEvent, EventKind, Machine as Agent};
use deft_base::{Error, read_stored};
use deft_model::{Failure, Message, MessageRole, RunId, estimate_tokens};
use deft_store::{MessageRow, NewMessage, RunRow, Write};
use deft_workflow::{Event, Path};
use jiff::Timestamp;
use serde_json::Value;

use crate::Agents;
use crate::chat_run::conversation_of;

/// Maximum number of messages of a conversation that are read.
const MAX_MESSAGES: u32 = 400;

impl Agents {
    /// Rebuilds the agents of a run from its journal.
    pub async fn replay(
        &self,
        run: &RunRow,
        events: &[(Timestamp, Event)],
    ) -> Result<Vec<(Path, Agent)>, Error> {
        let mut journals: Vec<(Path, Vec<AgentEvent>)> = Vec::new();
        let mut places: HashMap<Path, usize> = HashMap::new();
        for (_, event) in events {
            if let Event::Agent { path, event } = event {
                let place = *places.entry(path.clone()).or_insert_with(|| {
                    journals.push((path.clone(), Vec::new()));
                    journals.len() - 1
                });
                let mut event = (**event).clone();
                self.put_history_back(&mut event, &run.id).await?;
                journals[place].1.push(event);
            }
        }
        let replayed = journals.into_iter().map(|(path, events)| {
            let machine = Agent::replay(&events).map_err(|diverged| Error::Replay {
                run: run.id.to_string(),
                why: diverged.to_string(),
            })?;
            Ok((path, machine))
        });
        replayed.collect()
    }
}

/// First number of the messages that report a failed run. It is higher than that of any message of the agent,
/// so the two cannot be confused.
const NOTES: u32 = 1 << 31;

/// Returns the messages of an agent for its conversation. Messages that may still change are left out: a
/// resumed run adds them later, and messages in the conversation never change.
pub fn end_messages(
    machine: &Agent,
    run: &RunRow,
    failure: Option<&Failure>,
    at: Timestamp,
) -> Result<Vec<Write>, Error> {
    let root = Address::root();
    let begun = machine.setup(&root);
    let reference = begun.and_then(|setup| setup.conversation.as_ref());
    let conversation = reference.map(|reference| reference.id.clone());
    // An agent that could not begin has no messages; the conversation gets the note about the failure.
    let conversation = match conversation {
        Some(conversation) => conversation,
        None => match conversation_of(run)? {
            Some(conversation) => conversation,
            None => return Ok(Vec::new()),
        },
    };
    let say = |first: u32, messages: &[Message]| say(&conversation, first, messages, at);
    Ok(match failure {
        None => vec![say(0, &machine.messages(&root))],
        Some(failure) => {
            let lasting = begun.map(|_| say(0, &machine.final_messages(&root)));
            let note = unfinished_note(failure, &machine.done_since(&root));
            let place = NOTES.saturating_add(run.finish_ordinal);
            lasting.into_iter().chain([say(place, &[note])]).collect()
        }
    })
}

/// Returns the first message of a run in its conversation: the request. It is stored when the run is admitted
/// or its agent begins, and the messages at its end follow it.
pub fn first_message(conversation: &str, text: &str, at: Timestamp) -> Write {
    let text = text.to_owned();
    say(conversation, 0, &[Message::User { text }], at)
}

/// Returns the first message of an agent that begins.
pub fn begin_message(machine: &Agent, at: Timestamp) -> Option<Write> {
    let setup = machine.setup(&Address::root())?;
    let conversation = setup.conversation.as_ref()?;
    Some(first_message(&conversation.id, &setup.task, at))
}

fn say(conversation: &str, first: u32, messages: &[Message], at: Timestamp) -> Write {
    Write::Say {
        conversation: conversation.to_owned(),
        first,
        messages: messages.iter().map(|it| new_message(it, at)).collect(),
    }
}

/// Returns the note that shows the next request of the conversation how this run ended, and which calls
/// succeeded.
fn unfinished_note(failure: &Failure, done: &[String]) -> Message {
    let done = match done {
        [] => String::new(),
        done => format!("; completed before that: {}", done.join(", ")),
    };
    Message::Assistant {
        text: format!("(not finished: {failure}{done})"),
        calls: Vec::new(),
        opaque: None,
    }
}

fn new_message(message: &Message, at: Timestamp) -> NewMessage {
    let text = match message {
        Message::User { text } | Message::Assistant { text, .. } => text.clone(),
        // Results are long, and no person or model wrote them; they are stored but not searchable.
        Message::Tool { .. } => String::new(),
    };
    NewMessage {
        role: message.role(),
        body: serde_json::to_string(message).unwrap_or_default(),
        text,
        at,
    }
}

/// Returns the messages as a model gets them. The request of a run comes directly before its answer, even if
/// other messages came in between. An unanswered request is left out, because its own run answers it.
fn to_prompt(conversation: &str, rows: &[MessageRow]) -> Result<Arc<[Message]>, Error> {
    let mut open: HashMap<&RunId, Vec<&MessageRow>> = HashMap::new();
    let mut ordered = Vec::with_capacity(rows.len());
    for row in rows {
        match &row.run {
            Some(run) if row.role == MessageRole::User => open.entry(run).or_default().push(row),
            Some(run) => {
                ordered.extend(open.remove(run).unwrap_or_default());
                ordered.push(row);
            }
            None => ordered.push(row),
        }
    }
    let read = |row: &MessageRow| message_of(conversation, row);
    ordered.into_iter().map(read).collect()
}

/// Parses a stored message.
pub(super) fn message_of(conversation: &str, row: &MessageRow) -> Result<Message, Error> {
    let seq = row.seq;
    read_stored(&row.body, || {
        format!("message {seq} of conversation `{conversation}`")
    })
}

impl Agents {
    /// Returns the end of a conversation, as far as it fits into `tokens`. Messages of the run itself are not
    /// part of its history.
    pub(crate) async fn history(
        &self,
        conversation: &str,
        run: Option<&RunId>,
        tokens: u64,
    ) -> Result<(ConversationRef, Arc<[Message]>), Error> {
        let row = self.store().conversation(conversation).await?;
        let upto = row.map_or(0, |row| row.message_count);
        let after = upto.saturating_sub(u64::from(MAX_MESSAGES));
        let mut rows = self.messages(conversation, after, upto).await?;
        rows.retain(|row| run.is_none() || row.run.as_ref() != run);
        let mut from = upto + 1;
        let mut taken = 0;
        for row in rows.iter().rev() {
            taken += estimate_tokens(&row.body);
            if taken > tokens {
                break;
            }
            // Results of calls make no sense without the calls.
            if row.role == MessageRole::User {
                from = row.seq;
            }
        }
        rows.retain(|row| row.seq >= from);
        let reference = ConversationRef {
            id: conversation.to_owned(),
            from,
            upto,
        };
        let messages = to_prompt(conversation, &rows)?;
        Ok((reference, messages))
    }

    async fn messages(
        &self,
        conversation: &str,
        after: u64,
        upto: u64,
    ) -> Result<Vec<MessageRow>, Error> {
        let limit = u32::try_from(upto.saturating_sub(after)).unwrap_or(u32::MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let store = self.store();
        Ok(store.messages(conversation, after, limit).await?)
    }

    /// Restores the history of an agent, which is in the store and not in the journal.
    async fn put_history_back(&self, event: &mut AgentEvent, run: &RunId) -> Result<(), Error> {
        let EventKind::Began(setup) = &mut event.what else {
            return Ok(());
        };
        if let Some(reference) = setup.conversation.clone() {
            let after = reference.from.saturating_sub(1);
            let mut rows = self.messages(&reference.id, after, reference.upto).await?;
            rows.retain(|row| row.run.as_ref() != Some(run));
            setup.history = to_prompt(&reference.id, &rows)?;
        }
        Ok(())
    }
}

/// Returns the text of the answer in the outputs of a run.
pub fn text_of(outputs: &Value) -> String {
    match outputs {
        Value::String(text) => text.clone(),
        Value::Object(map) => match map.get("text").or_else(|| map.get("agent")) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => outputs.to_string(),
        },
        Value::Null => String::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_)) => other.to_string(),
    }
}

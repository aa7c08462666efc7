//! Agents and conversations as the store tells them.

use std::collections::HashMap;
use std::sync::Arc;

use deft_agent::{Address, ConversationRef, Event as AgentEvent, Machine as Agent, What};
use deft_model::{Failure, Message, estimate_tokens};
use deft_store::{MessageRow, NewMessage, RunRow, Write};
use deft_workflow::{Event, Path};
use jiff::Timestamp;
use serde_json::Value;

use crate::Error;
use crate::engine::Inner;

/// How many messages of a conversation are looked at.
const MOST_MESSAGES: u32 = 400;

/// The agents of a run, as its journal tells them.
pub(crate) async fn agents_of(
    engine: &Inner,
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
            engine.put_history_back(&mut event).await?;
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

/// Where the places begin at which a run says how it ended without success: behind everything that
/// its agent can say, so that neither is taken for the other.
const NOTES: u32 = 1 << 31;

/// What an agent said and heard, for its conversation. What may still change is not said: a run
/// that is resumed says it then, and what is said stays.
pub(crate) fn said(
    machine: &Agent,
    run: &RunRow,
    failure: Option<&Failure>,
    at: Timestamp,
) -> Vec<Write> {
    let root = Address::root();
    let Some(conversation) = machine.setup(&root).and_then(|it| it.conversation.as_ref()) else {
        return Vec::new();
    };
    let say = |first: u32, messages: &[Message]| Write::Say {
        conversation: conversation.id.clone(),
        first,
        messages: messages.iter().map(|it| new_message(it, at)).collect(),
    };
    match failure {
        None => vec![say(0, &machine.messages(&root))],
        Some(failure) => {
            let note = unfinished(failure, &machine.done_since(&root));
            let place = NOTES.saturating_add(run.finish_ordinal);
            vec![say(0, &machine.lasting(&root)), say(place, &[note])]
        }
    }
}

/// Whoever goes on with the conversation should know how this ended, and what was done all the same.
fn unfinished(failure: &Failure, done: &[String]) -> Message {
    let done = match done {
        [] => String::new(),
        done => format!("; before that these were done: {}", done.join(", ")),
    };
    Message::Assistant {
        text: format!("(this was not finished: {failure}{done})"),
        calls: Vec::new(),
        opaque: None,
    }
}

fn new_message(message: &Message, at: Timestamp) -> NewMessage {
    let (role, text) = match message {
        Message::User { text } => ("user", text.clone()),
        Message::Assistant { text, .. } => ("assistant", text.clone()),
        // Results are long and nobody's words; they are kept and not searched.
        Message::Tool { .. } => ("tool", String::new()),
    };
    NewMessage {
        role: role.to_owned(),
        body: serde_json::to_string(message).unwrap_or_default(),
        text,
        at,
    }
}

/// A message as it was stored.
pub(super) fn message_of(row: &MessageRow) -> Option<Message> {
    serde_json::from_str(&row.body).ok()
}

impl Inner {
    /// The end of a conversation that a model is told, as far as it fits.
    pub(crate) async fn history(
        &self,
        conversation: &str,
        tokens: u64,
    ) -> Result<(ConversationRef, Arc<[Message]>), Error> {
        let row = self.parts.store.conversation(conversation).await?;
        let upto = row.map_or(0, |row| row.message_count);
        let after = upto.saturating_sub(u64::from(MOST_MESSAGES));
        let rows = self.messages(conversation, after, upto).await?;
        let mut from = upto + 1;
        let mut taken = 0;
        for row in rows.iter().rev() {
            taken += estimate_tokens(&row.body);
            if taken > tokens {
                break;
            }
            // Results of calls make no sense without the calls.
            if row.role == "user" {
                from = row.seq;
            }
        }
        let messages = rows.iter().filter(|row| row.seq >= from);
        let reference = ConversationRef {
            id: conversation.to_owned(),
            from,
            upto,
        };
        Ok((reference, messages.filter_map(message_of).collect()))
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
        let store = &self.parts.store;
        Ok(store.messages(conversation, after, limit).await?)
    }

    /// What was said before is in the store, not in the journal.
    async fn put_history_back(&self, event: &mut AgentEvent) -> Result<(), Error> {
        let What::Began(setup) = &mut event.what else {
            return Ok(());
        };
        if let Some(reference) = setup.conversation.clone() {
            let after = reference.from.saturating_sub(1);
            let rows = self.messages(&reference.id, after, reference.upto).await?;
            setup.history = rows.iter().filter_map(message_of).collect();
        }
        Ok(())
    }
}

/// The text of an answer in the outputs of a run.
pub(crate) fn text_of(outputs: &Value) -> String {
    match outputs {
        Value::String(text) => text.clone(),
        Value::Object(map) => match map.get("text").or_else(|| map.get("agent")) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => outputs.to_string(),
        },
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

//! Undo of the last exchange of a conversation: the question and the answer are removed from it, so that no
//! later message includes them in its prompt.
//!
//! Not here: the effects of calls. A run cannot undo what its tools did, and its record stays.

use deft_base::read_stored;
use deft_model::{Message, MessageRole, RunId};
use deft_store::MessageRow;

use crate::{Engine, Error};

/// Maximum number of messages at the end of a conversation that are searched.
const MAX_MESSAGES: u64 = 400;

/// An exchange that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneExchange {
    /// The run that answered.
    pub run: Option<RunId>,
    /// The text of the person.
    pub text: String,
    /// The tools that were called, in order.
    pub called: Vec<String>,
}

impl Engine {
    /// Removes the last exchange of a conversation; `None` if it is empty or unknown.
    pub async fn undo_exchange(&self, conversation: &str) -> Result<Option<UndoneExchange>, Error> {
        let store = self.store();
        let Some(row) = store.conversation(conversation).await? else {
            return Ok(None);
        };
        let after = row.message_count.saturating_sub(MAX_MESSAGES);
        let rows = store.messages(conversation, after, u32::MAX).await?;
        let exchange = last_exchange(&rows);
        let Some(first) = exchange.first() else {
            return Ok(None);
        };
        let undone = UndoneExchange {
            run: first.run.clone(),
            text: first.text.clone(),
            called: called_tools(exchange)?,
        };
        store.cut_conversation(conversation, first.seq - 1).await?;
        Ok(Some(undone))
    }
}

/// Returns the messages of the last exchange: those of one run, or those since the last message of a person.
fn last_exchange(rows: &[MessageRow]) -> &[MessageRow] {
    let Some(last) = rows.last() else {
        return rows;
    };
    let before = match &last.run {
        Some(run) => rows.iter().rposition(|row| row.run.as_ref() != Some(run)),
        None => {
            let asked = rows.iter().rposition(|row| row.role == MessageRole::User);
            asked.and_then(|asked| asked.checked_sub(1))
        }
    };
    &rows[before.map_or(0, |before| before + 1)..]
}

fn called_tools(rows: &[MessageRow]) -> Result<Vec<String>, Error> {
    let mut called = Vec::new();
    for row in rows {
        let what = || format!("message {} of conversation `{}`", row.seq, row.conversation);
        if let Message::Tool { name, .. } = read_stored(&row.body, what)? {
            called.push(name);
        }
    }
    Ok(called)
}

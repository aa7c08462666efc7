//! Takes back the last exchange of a conversation: what was asked and what was answered leave the store's
//! conversation, so that no later message tells a model of them.
//!
//! Not here: the effects of calls. A run cannot undo what its tools did, and its record stays.

use deft_base::read_stored;
use deft_model::{Message, RunId};
use deft_store::MessageRow;

use crate::{Engine, Error};

/// How many messages at the end of a conversation are looked at.
const MOST: u64 = 400;

/// An exchange that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneExchange {
    /// The run that answered.
    pub run: Option<RunId>,
    /// What was asked.
    pub text: String,
    /// The tools that were called, in order.
    pub called: Vec<String>,
}

impl Engine {
    /// Takes back the last exchange of a conversation; none if it has none.
    pub async fn undo_exchange(&self, conversation: &str) -> Result<Option<UndoneExchange>, Error> {
        let store = self.store();
        let Some(row) = store.conversation(conversation).await? else {
            return Ok(None);
        };
        let after = row.message_count.saturating_sub(MOST);
        let rows = store.messages(conversation, after, u32::MAX).await?;
        let exchange = last_exchange(&rows);
        let Some(first) = exchange.first() else {
            return Ok(None);
        };
        let undone = UndoneExchange {
            run: first.run.clone(),
            text: first.text.clone(),
            called: called(exchange)?,
        };
        store.cut_conversation(conversation, first.seq - 1).await?;
        Ok(Some(undone))
    }
}

/// The messages at the end that belong together: those of one run, or those from the last words of a
/// person on.
fn last_exchange(rows: &[MessageRow]) -> &[MessageRow] {
    let Some(last) = rows.last() else {
        return rows;
    };
    let before = match &last.run {
        Some(run) => rows.iter().rposition(|row| row.run.as_ref() != Some(run)),
        None => {
            let asked = rows.iter().rposition(|row| row.role == "user");
            asked.and_then(|asked| asked.checked_sub(1))
        }
    };
    &rows[before.map_or(0, |before| before + 1)..]
}

fn called(rows: &[MessageRow]) -> Result<Vec<String>, Error> {
    let mut called = Vec::new();
    for row in rows {
        let what = || format!("message {} of conversation `{}`", row.seq, row.conversation);
        if let Message::Tool { name, .. } = read_stored(&row.body, what)? {
            called.push(name);
        }
    }
    Ok(called)
}

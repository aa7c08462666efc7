//! The model that a person chose for the last message of a conversation.

use deft_agents::chosen_model;

use crate::{Engine, Error};

impl Engine {
    /// Returns the model that a person chose for the last answer; `None` if the agent's own model answered.
    pub async fn model_of_conversation(&self, conversation: &str) -> Result<Option<String>, Error> {
        let store = self.store();
        let Some(row) = store.conversation(conversation).await? else {
            return Ok(None);
        };
        let last = row.message_count.saturating_sub(1);
        let rows = store.messages(conversation, last, 1).await?;
        let Some(run) = rows.into_iter().find_map(|row| row.run) else {
            return Ok(None);
        };
        match store.run(&run).await? {
            Some(run) => Ok(chosen_model(&run)?),
            None => Ok(None),
        }
    }
}

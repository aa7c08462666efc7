//! Answers to approvals: presses of buttons, and words that answer a question.

use deft_store::Error;
use deft_wire::Done;

use super::Chats;
use crate::store;
use crate::telegram::inbox::{InboxItem, Press};
use crate::telegram::{ask, words};

impl Chats {
    /// Stores a person's answer to a question, and acts on it.
    pub(in crate::telegram) async fn press(&self, press: Press) -> Result<(), Error> {
        let taken = InboxItem::Press(press.clone());
        self.0.inbox.take(press.id, taken).await?;
        self.act(press);
        Ok(())
    }

    /// Acts on a stored answer.
    pub(in crate::telegram) fn act(&self, press: Press) {
        let chats = self.clone();
        tokio::spawn(async move { chats.decide_or_retry(&press).await });
    }

    /// Stores the decision. If the store fails, the answer stays in the inbox and is tried again.
    async fn decide_or_retry(&self, press: &Press) {
        let mut has_failed = false;
        let text = loop {
            match self.decide(press).await {
                // The changed question shows it, unless the person was told that it failed.
                Ok(words::TAKEN) if press.query.is_none() && !has_failed => break None,
                Ok(text) => break Some(text.to_owned()),
                Err(failure) if store::is_failure(&failure) => {
                    let why = &failure.message;
                    tracing::warn!(%why, chat = press.chat, "an answer could not be stored; retrying");
                    if !has_failed {
                        has_failed = true;
                        self.reply(&press.chat, words::answer_kept(&failure));
                    }
                }
                Err(failure) => {
                    break Some(words::failure(&failure.message, failure.hint.as_deref()));
                }
            }
            let delay = tokio::time::sleep(self.0.bot.pace.most);
            if self.0.stop.run_until_cancelled(delay).await.is_none() {
                // The next start finds the answer in the inbox.
                return;
            }
        };
        self.0.inbox.forget_press(press.id).await;
        let Some(text) = text else {
            return;
        };
        match &press.query {
            // Telegram only needs this reply to stop the spinner of the button.
            Some(query) => drop(self.0.client().answer_press(query, &text).await),
            None => self.reply(&press.chat, text),
        }
    }

    /// Stores the decision, then passes it to the task that waits for it.
    async fn decide(&self, press: &Press) -> Done<&'static str> {
        let Some((response, approval)) = deft_channels::read_button(&press.data) else {
            return Ok(words::OLD_BUTTON);
        };
        let (chat, by) = (&press.chat, press.sender());
        let Some(decided) = self.0.bot.talk.decide(approval, response, &by).await? else {
            return Ok(words::OLD_BUTTON);
        };
        let asked = self.0.open.pass_answer(approval, decided.answer);
        let question = asked.as_ref().unwrap_or(&decided.question);
        let text = ask::format_decision(question, decided.answer, &decided.by);
        let message = match press.message {
            Some(message) => Some(message),
            None => ask::message_of(&*self.0.bot.store, approval).await,
        };
        self.show_answered(chat, message, text);
        if asked.is_some() {
            return Ok(words::TAKEN);
        }
        // The run continues in another task, but this chat needs its answer. A message that is being checked
        // at this moment may still be reported as waiting.
        for entry in self.0.inbox.entries() {
            if entry.chat == *chat {
                self.take(entry);
            }
        }
        Ok(words::TAKEN)
    }

    fn show_answered(&self, chat: &str, message: Option<i64>, text: String) {
        let (Some(message), client) = (message, self.0.client()) else {
            return;
        };
        let chat = chat.to_owned();
        tokio::spawn(async move {
            if let Err(refused) = client.edit(&chat, message, &text).await {
                let why = refused.failure.message;
                tracing::warn!(%why, "cannot remove the buttons of an answered approval");
            }
        });
    }
}

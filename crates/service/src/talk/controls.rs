//! Controls of a home's chats: the choice of a model, and undo.

use deft_wire::Failure;

use super::host::Host;
use super::{ChatControls, ChatModel, Talk, TalkFuture, UndoneExchange};
use crate::app::failure;

impl ChatControls for Host {
    fn models<'a>(&'a self, agent: Option<&'a str>) -> TalkFuture<'a, Vec<ChatModel>> {
        Box::pin(async move {
            let agents = self.engine.agents();
            let usual = agents.model_for(agent).ok();
            let models = agents.models();
            let all = models.list().iter().map(|options| ChatModel {
                name: options.name.clone(),
                model: options.model.clone(),
                provider: options.provider.word().to_owned(),
                usual: usual.as_deref() == Some(&options.name),
            });
            Ok(all.collect())
        })
    }

    fn chosen_model<'a>(&'a self, conversation: &'a str) -> TalkFuture<'a, Option<String>> {
        Box::pin(async move {
            let chosen = self.engine.model_of_conversation(conversation).await;
            let chosen = chosen.map_err(|error| failure(&error))?;
            let models = self.engine.agents().models();
            let is_configured = |name: &String| models.list().iter().any(|one| one.name == *name);
            Ok(chosen.filter(is_configured))
        })
    }

    fn undo<'a>(&'a self, conversation: &'a str) -> TalkFuture<'a, Option<UndoneExchange>> {
        Box::pin(async move {
            if !self.unanswered_messages(conversation).await?.is_empty() {
                let message = "an answer in this conversation is unfinished";
                return Err(Failure::input("unanswered", message).hint("`/stop` stops it"));
            }
            let undone = self.engine.undo_exchange(conversation).await;
            let undone = undone.map_err(|error| failure(&error))?;
            Ok(undone.map(|undone| UndoneExchange {
                run: undone.run,
                text: undone.text,
                called: undone.called,
            }))
        })
    }
}

//! What a model would be told of a message, with what each part of it costs. No model is asked.

use deft_agent::{Mode, Setup};
use deft_agents::{ChatMessage, Preview};
use deft_model::{Message, ModelRequest};
use serde_json::{Value, json};

use crate::{Engine, Error, Say};

impl Engine {
    /// What a model would be told, without asking one.
    pub async fn show_prompt(&self, say: &Say) -> Result<Value, Error> {
        let known = match &say.conversation {
            Some(id) => self.store().conversation(id).await?,
            None => None,
        };
        let agent = say
            .agent
            .clone()
            .or_else(|| known.as_ref().map(|row| row.agent.clone()));
        let agent = agent.unwrap_or_else(|| self.inner.options.agent.default.clone());
        let conversation = say.conversation.clone().unwrap_or_default();
        let told = ChatMessage {
            message: &say.text,
            attended: !say.alone,
        };
        let preview = self
            .agents()
            .chat_preview(&agent, told, &conversation, None)
            .await;
        Ok(shown(&preview.map_err(Error::Agent)?))
    }
}

fn shown(preview: &Preview) -> Value {
    let setup = &preview.setup;
    let system = setup
        .system
        .iter()
        .map(|part| json!({ "text": part.text, "stable": part.stable }));
    let sections = preview
        .sections
        .iter()
        .map(|(section, chars)| json!({ "section": section.to_string(), "chars": chars }));
    let tools = setup.tools.iter().map(|offer| {
        json!({ "name": offer.spec.name, "description": offer.spec.description,
            "tool": offer.tool, "approve": offer.approve, "tokens": offer.spec.tokens() })
    });
    let shelf = setup.shelf.iter().map(|shelved| shelved.name.as_str());
    let messages = messages(setup);
    json!({
        "agent": setup.agent, "model": setup.model, "mode": setup.mode,
        "system": system.collect::<Vec<_>>(), "sections": sections.collect::<Vec<_>>(),
        "messages": messages, "tools": tools.collect::<Vec<_>>(),
        "shelf": shelf.collect::<Vec<_>>(), "tokens": request(setup, messages.clone()).tokens(),
        "notes": preview.notes,
    })
}

fn messages(setup: &Setup) -> Vec<Message> {
    let mut messages = setup.history.to_vec();
    messages.push(Message::User {
        text: setup.task.clone(),
    });
    messages
}

/// The first question of the agent.
fn request(setup: &Setup, messages: Vec<Message>) -> ModelRequest {
    let specs = setup.tools.iter().map(|offer| offer.spec.clone());
    ModelRequest {
        system: setup.system.clone(),
        messages,
        tools: match setup.mode {
            Mode::Tools => specs.collect(),
            Mode::Cmd => [].into(),
        },
        ..ModelRequest::default()
    }
}

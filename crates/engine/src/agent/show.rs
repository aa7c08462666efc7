//! Preview of the prompt for a message, with the size of each part. No model is called.

use deft_agent::{Mode, Offer, Setup};
use deft_agents::{ChatMessage, Preview};
use deft_model::{Message, ModelRequest};
use deft_wire::chat::{PromptMode, PromptSection, PromptTool, PromptView, SystemPart};

use crate::{Engine, Error, NewChatMessage};

impl Engine {
    /// Returns the prompt that a model would get, without calling one.
    pub async fn show_prompt(&self, say: &NewChatMessage) -> Result<PromptView, Error> {
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
        let message = ChatMessage {
            message: &say.text,
            attended: !say.alone,
            model: say.model.as_deref(),
        };
        let preview = self
            .agents()
            .chat_preview(&agent, message, &conversation, None)
            .await;
        Ok(show_preview(preview.map_err(Error::Agent)?))
    }
}

fn show_preview(preview: Preview) -> PromptView {
    let Preview {
        setup,
        sections,
        notes,
    } = preview;
    let messages = messages(&setup);
    let tokens = request(&setup, messages.clone()).tokens();
    let system = setup.system.iter().map(|part| SystemPart {
        text: part.text.clone(),
        stable: part.stable,
    });
    let system = system.collect();
    let sections = sections.iter().map(|(section, chars)| PromptSection {
        section: section.to_string(),
        chars: *chars as u64,
    });
    let shelf = setup.shelf.into_iter().map(|shelved| shelved.name);
    PromptView {
        agent: setup.agent,
        model: setup.model,
        mode: match setup.mode {
            Mode::Tools => PromptMode::Tools,
            Mode::Cmd => PromptMode::Cmd,
        },
        system,
        sections: sections.collect(),
        messages,
        tools: setup.tools.into_iter().map(prompt_tool).collect(),
        shelf: shelf.collect(),
        tokens,
        notes,
    }
}

fn prompt_tool(offer: Offer) -> PromptTool {
    PromptTool {
        tokens: offer.spec.tokens(),
        name: offer.spec.name,
        description: offer.spec.description,
        tool: offer.tool,
        approve: offer.approve,
    }
}

fn messages(setup: &Setup) -> Vec<Message> {
    let mut messages = setup.history.to_vec();
    messages.push(Message::User {
        text: setup.task.clone(),
    });
    messages
}

/// Returns the first request of the agent.
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
